package dev.onlyonce.sql.steps;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onlyonce.Codec;
import dev.onlyonce.Key;
import dev.onlyonce.Onlyonce;
import dev.onlyonce.Outcome;
import dev.onlyonce.fingerprint.Fingerprint;
import dev.onlyonce.sql.DatabaseContract;
import dev.onlyonce.sql.SqlClock;
import dev.onlyonce.sql.SqlStore;
import dev.onlyonce.sql.TestDatabase;
import dev.onlyonce.store.Entry;
import dev.onlyonce.testkit.ManualTime;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

/** A stepped operation on a database, with clocks that only move when told. */
abstract class StepsBench extends DatabaseContract {
    static final Fingerprint REQUEST = Fingerprint.of("request".getBytes(StandardCharsets.UTF_8));
    static final Key KEY = Key.of("tenant", "POST /refunds", "key-1");
    static final Duration LEASE = Duration.ofSeconds(30);

    SqlStore store;
    SqlClock clock;
    ManualTime time;
    Onlyonce once;
    Steps stepped;
    List<String> ran;

    StepsBench(TestDatabase database) {
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
                "DELETE FROM onlyonce_step",
                "DROP TABLE IF EXISTS effect",
                "CREATE TABLE effect (id INTEGER NOT NULL)");
        ran = new ArrayList<>();
        time = new ManualTime();
        once = configured(Onlyonce.builder(store).node("stepper").time(time).lease(LEASE))
                .build();
        stepped = Steps.of(once);
    }

    /** What a class of tests adds. */
    Onlyonce.Builder configured(Onlyonce.Builder builder) {
        return builder;
    }

    @AfterEach
    final void close() {
        once.close();
        time.close();
        store.close();
    }

    /** Reserve at one service, write to the database, notify another. */
    final String refund(StepRunner steps, Runnable beforeNotify) throws SQLException {
        String reserved = steps.effect("reserve", Codec.text(), key -> ran("reserve", "reserved with " + key));
        String booked = steps.local("book", Codec.text(), connection -> {
            ran("book", "");
            try (Statement statement = connection.createStatement()) {
                statement.execute("INSERT INTO effect VALUES (1)");
            }
            return "booked";
        });
        String told = steps.effect("notify", Codec.text(), key -> {
            ran("notify", "");
            beforeNotify.run();
            return "notified";
        });
        return reserved + ", " + booked + ", " + told;
    }

    final String ran(String step, String result) {
        ran.add(step);
        return result;
    }

    final Outcome<String> execute(Runnable beforeNotify) throws SQLException {
        return stepped.execute(KEY, REQUEST, Codec.text(), steps -> refund(steps, beforeNotify));
    }

    /** A node that does not know what runs on the first one; to be closed. */
    final Onlyonce otherNode() {
        return configured(Onlyonce.builder(store).node("other").time(time).lease(LEASE))
                .build();
    }

    static void insert(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute("INSERT INTO effect VALUES (1)");
        }
    }

    final Entry entry() {
        return store.find(List.of(KEY.entryId())).get(0).orElseThrow();
    }

    final long number(String query) {
        return SqlClock.number(dataSource(), query);
    }

    static String value(Outcome<String> outcome) {
        return outcome instanceof Outcome.Executed<String> executed
                ? executed.value()
                : ((Outcome.Replayed<String>) outcome).value();
    }

    static void await(CountDownLatch latch) {
        try {
            assertThat(latch.await(60, TimeUnit.SECONDS)).isTrue();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }
}
