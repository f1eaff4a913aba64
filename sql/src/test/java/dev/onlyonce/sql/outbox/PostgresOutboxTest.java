package dev.onlyonce.sql.outbox;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onlyonce.Codec;
import dev.onlyonce.sql.TestDatabase;
import dev.onlyonce.store.StoreBusy;
import java.sql.Connection;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("The outbox on PostgreSQL")
final class PostgresOutboxTest extends OutboxContract implements OutboxLocksChapter {
    PostgresOutboxTest() {
        super(TestDatabase.POSTGRES);
    }

    @Test
    @DisplayName(
            "N5 a message is not taken for a duplicate because the database is busy: its transaction fails instead")
    void busyIsNoDuplicate() throws Exception {
        OutboxCall message = OutboxChapter.call("990").untilTaken();
        Outbox outbox = outbox();
        try (Connection busy = begin();
                Connection tx = begin()) {
            busy.createStatement().execute("LOCK TABLE onlyonce_entry IN EXCLUSIVE MODE");
            assertThatThrownBy(() -> outbox.accept(tx, KEY, REQUEST, Codec.bytes(), message))
                    .isInstanceOf(StoreBusy.class);
            busy.rollback();
            assertThat(outbox.accept(tx, KEY, REQUEST, Codec.bytes(), message).isNew())
                    .isTrue();
            tx.commit();
        }
        assertThat(rows()).isEqualTo(1);
    }
}
