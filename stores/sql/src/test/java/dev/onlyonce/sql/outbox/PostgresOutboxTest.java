package dev.onlyonce.sql.outbox;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onlyonce.Codec;
import dev.onlyonce.sql.SqlClock;
import dev.onlyonce.sql.TestDatabase;
import dev.onlyonce.store.StoreBusy;
import java.sql.Connection;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Order(1)
@DisplayName("The outbox on PostgreSQL")
final class PostgresOutboxTest extends OutboxContract implements OutboxLastingLocksChapter, OutboxLocksChapter {
    PostgresOutboxTest() {
        super(TestDatabase.POSTGRES);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "onlyonce_entry IN EXCLUSIVE MODE",
                "onlyonce_entry IN ACCESS EXCLUSIVE MODE",
                "onlyonce_outbox IN SHARE MODE",
                "onlyonce_outbox IN ACCESS EXCLUSIVE MODE"
            })
    @DisplayName(
            "N5 a message is not taken for a duplicate because the database is busy: its transaction fails instead")
    void busyIsNoDuplicate(String table) throws Exception {
        OutboxCall message = OutboxChapter.call("990").untilTaken();
        Outbox outbox = outbox();
        try (Connection busy = begin();
                Connection tx = begin()) {
            busy.createStatement().execute("LOCK TABLE " + table);
            // For the case that nothing else ends the wait.
            tx.createStatement().execute("SET LOCAL statement_timeout = '20s'");
            assertThatThrownBy(() -> outbox.accept(tx, KEY, REQUEST, Codec.bytes(), message))
                    .isInstanceOf(StoreBusy.class);
            assertThat(outbox.accept(tx, OutboxChapter.key(2), REQUEST, Codec.bytes(), OutboxChapter.call("990")))
                    .as("a charge comes back")
                    .isEqualTo(OutboxChapter.inFlight());
            busy.rollback();
            assertThat(outbox.accept(tx, KEY, REQUEST, Codec.bytes(), message).isNew())
                    .isTrue();
            tx.commit();
        }
        assertThat(rows()).isEqualTo(1);
    }

    @Test
    @DisplayName("C1 a new charge is not taken for a duplicate while a vacuum locks the outbox for a moment")
    void vacuumIsNoDuplicate() throws Exception {
        Outbox outbox = outbox();
        ExecutorService thread = Executors.newSingleThreadExecutor();
        try (Connection vacuum = begin();
                Connection tx = begin()) {
            vacuum.createStatement().execute("LOCK TABLE onlyonce_outbox IN ACCESS EXCLUSIVE MODE");
            Future<Accepted<byte[]>> charge =
                    thread.submit(() -> outbox.accept(tx, KEY, REQUEST, Codec.bytes(), OutboxChapter.call("990")));
            OutboxChapter.until(() -> charge.isDone()
                    || SqlClock.number(
                                    dataSource(),
                                    "SELECT count(*) FROM pg_locks WHERE NOT granted AND relation = 'onlyonce_outbox'::regclass")
                            > 0);
            vacuum.rollback();
            assertThat(charge.get(60, TimeUnit.SECONDS).isNew()).isTrue();
            tx.rollback();
        } finally {
            thread.shutdownNow();
        }
    }
}
