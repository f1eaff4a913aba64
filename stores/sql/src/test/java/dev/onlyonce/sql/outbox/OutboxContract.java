package dev.onlyonce.sql.outbox;

import dev.onlyonce.Event;
import dev.onlyonce.Onlyonce;
import dev.onlyonce.sql.DatabaseContract;
import dev.onlyonce.sql.SqlClock;
import dev.onlyonce.sql.SqlStore;
import dev.onlyonce.sql.TestDatabase;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

/** The queued way, the same on every database, with a clock that only moves when told. The tests are in the chapters. */
abstract class OutboxContract extends DatabaseContract
        implements OutboxAcceptChapter,
                OutboxFailureChapter,
                OutboxHangingChapter,
                OutboxLastingChapter,
                OutboxNeighboursChapter,
                OutboxOperatorChapter,
                OutboxOrderChapter,
                OutboxPatienceChapter,
                OutboxWorkerChapter {
    private SqlStore store;
    private SqlClock clock;
    private Provider provider;
    private List<Event> events;
    private final List<Onlyonce> nodes = new ArrayList<>();

    OutboxContract(TestDatabase database) {
        super(database);
    }

    @BeforeEach
    final void create() {
        SqlStore.open(dataSource()).close();
        clock = SqlClock.start(dataSource());
        store = SqlClock.store(dataSource()).build();
        SqlClock.execute(
                dataSource(),
                "DELETE FROM onlyonce_entry WHERE fingerprint_version > 0",
                "DELETE FROM onlyonce_audit",
                "DELETE FROM onlyonce_outbox",
                "DROP TABLE IF EXISTS payment",
                "CREATE TABLE payment (id VARCHAR(100) NOT NULL PRIMARY KEY, state VARCHAR(100) NOT NULL)");
        provider = new Provider();
        events = new CopyOnWriteArrayList<>();
    }

    @AfterEach
    final void close() {
        nodes.forEach(Onlyonce::close);
        nodes.clear();
        store.close();
    }

    @Override
    public final SqlStore store() {
        return store;
    }

    @Override
    public final Onlyonce once(SqlStore on, Consumer<Onlyonce.Builder> settings) {
        Onlyonce.Builder builder = Onlyonce.builder(on)
                .lease(LEASE)
                .listener(events::add)
                .sweepEvery(NEVER)
                .purgeEvery(NEVER);
        settings.accept(builder);
        Onlyonce once = builder.build();
        nodes.add(once);
        return once;
    }

    @Override
    public final SqlClock clock() {
        return clock;
    }

    @Override
    public final Provider provider() {
        return provider;
    }

    @Override
    public final List<Event> events() {
        return events;
    }
}
