package dev.onlyonce.sql;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariDataSource;
import dev.onlyonce.Codec;
import dev.onlyonce.Event;
import dev.onlyonce.Key;
import dev.onlyonce.Onlyonce;
import dev.onlyonce.Outcome;
import dev.onlyonce.fingerprint.Fingerprint;
import dev.onlyonce.sql.inbox.Inbox;
import dev.onlyonce.sql.inbox.InboxMessage;
import dev.onlyonce.sql.outbox.Delivery;
import dev.onlyonce.sql.outbox.Outbox;
import dev.onlyonce.sql.outbox.OutboxCall;
import dev.onlyonce.sql.steps.Steps;
import dev.onlyonce.sql.transactions.Transactions;
import dev.onlyonce.store.MemoryStore;
import dev.onlyonce.testkit.ManualTime;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Function;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

@DisplayName("The ways to execute")
final class WaysTest {
    private static final Fingerprint REQUEST = Fingerprint.of(new byte[] {1});

    @TempDir
    private Path folder;

    private final List<Event> events = new CopyOnWriteArrayList<>();

    private Onlyonce open(SqlStore store) {
        return Onlyonce.builder(store)
                .time(new ManualTime())
                .node("node")
                .listener(events::add)
                .build();
    }

    private static Key key(String operation) {
        return Key.of("tenant", operation, "key-of-" + operation);
    }

    @Test
    @DisplayName("an operation that is executed in one way is refused in every other")
    void oneWay() throws SQLException {
        try (HikariDataSource dataSource = TestDatabase.SQLITE.create(folder);
                SqlStore store = SqlStore.open(dataSource);
                Onlyonce once = open(store);
                Outbox outbox = Outbox.of(once);
                Connection tx = dataSource.getConnection()) {
            once.execute(key("leased"), REQUEST, Codec.text(), claim -> "done");
            Transactions.of(once).execute(key("transactional"), REQUEST, Codec.text(), c -> "done");
            Steps.of(once).execute(key("stepped"), REQUEST, Codec.text(), steps -> "done");
            tx.setAutoCommit(false);
            outbox.accept(tx, key("queued"), REQUEST, Codec.text(), new OutboxCall("topic", new byte[0]));
            tx.rollback();
            Inbox.of(once);
            for (String operation : List.of("transactional", "stepped", "queued", Inbox.OPERATION)) {
                assertThatThrownBy(() -> once.execute(key(operation), REQUEST, Codec.text(), claim -> "again"))
                        .isInstanceOf(IllegalStateException.class)
                        .hasMessageContaining(operation)
                        .hasMessageContaining("LEASED");
            }
            assertThatThrownBy(() -> Transactions.of(once).execute(key("leased"), REQUEST, Codec.text(), c -> "again"))
                    .isInstanceOf(IllegalStateException.class);
            assertThatThrownBy(() -> Steps.of(once).execute(key("leased"), REQUEST, Codec.text(), steps -> "again"))
                    .isInstanceOf(IllegalStateException.class);
            assertThatThrownBy(() -> outbox.accept(
                            tx, key("stepped"), REQUEST, Codec.text(), new OutboxCall("topic", new byte[0])))
                    .isInstanceOf(IllegalStateException.class);
        }
    }

    @Test
    @DisplayName("that need a database say so at once on another store, and what to do")
    void anotherStore() {
        try (Onlyonce once = Onlyonce.builder(new MemoryStore(new ManualTime())).build()) {
            for (Function<Onlyonce, Object> way :
                    List.<Function<Onlyonce, Object>>of(Transactions::of, Steps::of, Outbox::of, Inbox::of)) {
                assertThatThrownBy(() -> way.apply(once))
                        .isInstanceOf(IllegalArgumentException.class)
                        .hasMessageContaining("MemoryStore")
                        .hasMessageContaining("SqlStore.open(dataSource)");
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("all publish what was decided, what changed, and how long it took")
    void published(TestDatabase database) throws Exception {
        try (HikariDataSource dataSource = database.create(folder);
                SqlStore store = SqlStore.open(dataSource);
                Onlyonce once = open(store);
                Outbox outbox = Outbox.builder(once)
                        .handler("topic", row -> new Delivery.Delivered("id", new byte[0]))
                        .build();
                Connection tx = dataSource.getConnection()) {
            Transactions.of(once).execute(key("transactional"), REQUEST, Codec.text(), c -> "done");
            assertThat(Transactions.of(once).execute(key("transactional"), REQUEST, Codec.text(), c -> "again"))
                    .isInstanceOf(Outcome.Replayed.class);
            Steps.of(once).execute(key("stepped"), REQUEST, Codec.text(), steps -> "done");
            Inbox.of(once).apply(new InboxMessage("sender", "message"), c -> {});
            tx.setAutoCommit(false);
            outbox.accept(tx, key("queued"), REQUEST, Codec.bytes(), new OutboxCall("topic", new byte[0]));
            tx.commit();
            assertThat(outbox.deliverDue()).isEqualTo(1);
            for (String operation : List.of("transactional", "stepped", "queued", Inbox.OPERATION)) {
                assertThat(decisions(operation)).as(operation).startsWith(Event.Decision.CREATED);
                assertThat(changes(operation)).as(operation).last().isEqualTo("PROCESSING>COMPLETED node");
                assertThat(parts(operation)).as(operation).containsExactly(Event.Took.Part.values());
            }
            assertThat(decisions("transactional")).containsExactly(Event.Decision.CREATED, Event.Decision.REPLAY);
            assertThat(changes("queued"))
                    .containsExactly("null>PENDING node", "PENDING>PROCESSING node", "PROCESSING>COMPLETED node");
        }
    }

    private List<Event.Decision> decisions(String operation) {
        return events.stream()
                .filter(e -> e instanceof Event.Decided d && d.key().operation().equals(operation))
                .map(e -> ((Event.Decided) e).decision())
                .toList();
    }

    private List<String> changes(String operation) {
        return events.stream()
                .filter(e -> e instanceof Event.Changed c
                        && c.transition().operation().equals(operation))
                .map(e -> ((Event.Changed) e).transition())
                .map(t -> t.from() + ">" + t.to() + " " + t.who())
                .toList();
    }

    private List<Event.Took.Part> parts(String operation) {
        return events.stream()
                .filter(e -> e instanceof Event.Took t && t.operation().equals(operation))
                .map(e -> ((Event.Took) e).part())
                .toList();
    }
}
