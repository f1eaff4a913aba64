package dev.onlyonce.sql.outbox;

import static dev.onlyonce.sql.outbox.OutboxChapter.bytes;
import static dev.onlyonce.sql.outbox.OutboxChapter.call;
import static dev.onlyonce.sql.outbox.OutboxChapter.inFlight;
import static dev.onlyonce.sql.outbox.OutboxChapter.insertPayment;
import static dev.onlyonce.sql.outbox.OutboxChapter.key;
import static dev.onlyonce.sql.outbox.OutboxChapter.replayed;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onlyonce.Codec;
import dev.onlyonce.Event;
import dev.onlyonce.Onlyonce;
import dev.onlyonce.Outcome;
import dev.onlyonce.Way;
import dev.onlyonce.fingerprint.Fingerprint;
import dev.onlyonce.sql.SqlClock;
import dev.onlyonce.sql.internal.connections.SqlDatabase;
import dev.onlyonce.sql.transactions.TransactionConflict;
import dev.onlyonce.store.OutboxCounts;
import dev.onlyonce.store.State;
import java.sql.Connection;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** What is accepted: entry, row and business write in the caller's transaction. */
interface OutboxAcceptChapter extends OutboxChapter {

    @Test
    @DisplayName("W1 entry, row and business write commit together, and are delivered once")
    default void delivers() throws Exception {
        Outbox outbox = outbox();
        try (Connection tx = begin()) {
            assertThat(outbox.accept(tx, KEY, REQUEST, Codec.bytes(), call("990")))
                    .isInstanceOf(Accepted.New.class);
            insertPayment(tx, KEY);
            tx.commit();
        }
        assertThat(entry(KEY).state()).isEqualTo(State.PENDING);
        assertThat(accept(outbox, KEY)).isEqualTo(inFlight());

        assertThat(outbox.deliverDue()).isEqualTo(1);

        assertThat(entry(KEY).state()).isEqualTo(State.COMPLETED);
        assertThat(payment(KEY)).isEqualTo("paid");
        assertThat(rows()).isZero();
        assertThat(provider().charges).hasSize(1);
        assertThat(outbox.deliverDue()).isZero();
        assertThat(replayed(accept(outbox, KEY))).isEqualTo("charged");
        assertThat(events()).anyMatch(e -> e instanceof Event.Delivery d && d.fate() == Event.Delivery.Fate.DELIVERED);
    }

    @Test
    @DisplayName("W1 the business write that makes the payload runs for a new key only, and its exception undoes all")
    default void writesThePayload() throws Exception {
        Outbox outbox = outbox();
        try (Connection tx = begin()) {
            insertPayment(tx, key(2));
            assertThatThrownBy(() -> outbox.accept(tx, KEY, REQUEST, Codec.bytes(), in -> {
                        insertPayment(in, KEY);
                        throw new IllegalStateException("refused");
                    }))
                    .hasMessage("refused");
            tx.commit();
        }
        assertThat(payment(key(2))).isEqualTo("accepted");
        assertThat(rows()).isZero();
        assertThat(store().find(List.of(KEY.entryId())).get(0)).isEmpty();
        for (boolean first : List.of(true, false)) {
            try (Connection tx = begin()) {
                Accepted<byte[]> accepted = outbox.accept(tx, KEY, REQUEST, Codec.bytes(), in -> {
                    insertPayment(in, KEY);
                    return call("990");
                });
                assertThat(accepted).isEqualTo(first ? new Accepted.New<byte[]>() : inFlight());
                tx.commit();
            }
        }
        assertThat(outbox.backlog(10).waiting()).isEqualTo(1);
        assertThat(outbox.backlog(10).oldestAt()).hasValue(entry(KEY).createdAt());
        outbox.deliverDue();
        assertThat(payment(KEY)).isEqualTo("paid");
        assertThat(outbox.backlog(10)).isEqualTo(new Outbox.Backlog(0, 0, Optional.empty()));
    }

    @Test
    @DisplayName("W1 a rolled-back acceptance leaves neither entry nor row, and nothing is called")
    default void rolledBack() throws Exception {
        Outbox outbox = outbox();
        try (Connection tx = begin()) {
            outbox.accept(tx, KEY, REQUEST, Codec.bytes(), call("990"));
            insertPayment(tx, KEY);
            tx.rollback();
        }
        assertThat(outbox.deliverDue()).isZero();
        assertThat(rows()).isZero();
        assertThat(store().find(List.of(KEY.entryId())).get(0)).isEmpty();
        assertThat(accept(outbox, KEY)).isInstanceOf(Accepted.New.class);
    }

    @Test
    @DisplayName("C6 F1 a duplicate or a mismatch inside a transaction does not harm it")
    default void duplicateInTransaction() throws Exception {
        Outbox outbox = outbox();
        accept(outbox, KEY);
        try (Connection tx = begin()) {
            insertPayment(tx, key(2));
            assertThat(outbox.accept(tx, KEY, REQUEST, Codec.bytes(), call("990")))
                    .isEqualTo(inFlight());
            Fingerprint other = Fingerprint.of(bytes("other"));
            assertThat(outbox.accept(tx, KEY, other, Codec.bytes(), call("991")))
                    .isEqualTo(new Accepted.Existing<>(new Outcome.Mismatched<>(Outcome.Mismatched.Reason.REQUEST)));
            tx.commit();
        }
        assertThat(payment(key(2))).isEqualTo("accepted");
        assertThat(rows()).isEqualTo(1);
    }

    @Test
    @DisplayName("A row whose entry was evicted and started anew is not delivered for it")
    default void startedAnew() throws Exception {
        Outbox outbox = outbox();
        accept(outbox, KEY);
        provider().answer = Provider.Answer.UNREACHABLE;
        outbox.deliverDue();
        assertThat(store().evict(KEY.entryId(), "operator", "test")).isPresent();
        SqlClock.execute(dataSource(), "DELETE FROM payment");
        clock().advance(Duration.ofSeconds(2));
        assertThat(accept(outbox, KEY)).isInstanceOf(Accepted.New.class);
        provider().answer = Provider.Answer.CHARGE;
        outbox.deliverDue();
        assertThat(provider().keys).as("one before, one for the new entry").hasSize(2);
        assertThat(rows()).isZero();
        assertThat(payment(KEY)).isEqualTo("paid");
    }

    @Test
    @DisplayName("T4 what nobody took in time fails, and is not called after the client was told")
    default void abandoned() throws Exception {
        Outbox outbox = builder().pendingMax(Duration.ofMinutes(1)).build();
        accept(outbox, KEY);
        clock().advance(Duration.ofMinutes(1));
        store().sweep(100);
        assertThat(entry(KEY).state()).isEqualTo(State.FAILED);
        assertThat(outbox.deliverDue()).isEqualTo(1);
        assertThat(provider().keys).isEmpty();
        assertThat(payment(KEY)).isEqualTo("failed");
        assertThat(rows()).isZero();
        assertThat(events())
                .as("it is counted as given up, not as delivered")
                .filteredOn(Event.Delivery.class::isInstance)
                .extracting(event -> ((Event.Delivery) event).fate())
                .containsExactly(Event.Delivery.Fate.DEAD);
    }

    @Test
    @DisplayName(
            "W1 a transaction that the database has rolled back as a whole is a conflict, whatever the action throws")
    default void lostTransaction() throws Exception {
        Outbox outbox = outbox();
        try (Connection tx = begin();
                Statement statement = tx.createStatement()) {
            insertPayment(tx, KEY);
            assertThatThrownBy(() -> outbox.accept(tx, KEY, REQUEST, Codec.bytes(), c -> {
                        // As MySQL and MariaDB do after a deadlock.
                        statement.execute("ROLLBACK");
                        throw new IllegalStateException("deadlock");
                    }))
                    .isInstanceOf(TransactionConflict.class)
                    .hasRootCauseMessage("deadlock");
            if (store().access().database().kind() == SqlDatabase.SQLITE) {
                // Its driver cannot roll back twice.
                statement.execute("BEGIN");
            }
            tx.rollback();
        }
    }

    @Test
    @DisplayName("N5 a message waits for its first worker for as long as it takes")
    default void lasting() throws Exception {
        Outbox outbox = builder().pendingMax(Duration.ofMinutes(1)).build();
        try (Connection tx = begin()) {
            outbox.accept(tx, KEY, REQUEST, Codec.bytes(), call("990").untilTaken());
            insertPayment(tx, KEY);
            tx.commit();
        }
        clock().advance(Duration.ofDays(400));
        store().sweep(100);
        assertThat(entry(KEY).state()).isEqualTo(State.PENDING);
        assertThat(store().countOutbox(10))
                .as("the gauges, by the store's clock")
                .isEqualTo(new OutboxCounts(1, 0, Duration.ofDays(400)));
        assertThat(outbox.deliverDue()).isEqualTo(1);
        assertThat(payment(KEY)).isEqualTo("paid");
        assertThat(rows()).isZero();
        assertThat(store().countOutbox(10)).isEqualTo(OutboxCounts.NONE);
    }

    @Test
    @DisplayName("F3 a payload over the limit is refused before anything is written, and the transaction goes on")
    default void payloadTooLarge() throws Exception {
        try (Outbox outbox = builder().payloadBytesMax(3).build();
                Connection tx = begin()) {
            assertThatThrownBy(() -> outbox.accept(tx, KEY, REQUEST, Codec.bytes(), call("9900")))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("4 bytes")
                    .hasMessageContaining("payloadBytesMax");
            assertThat(outbox.accept(tx, KEY, REQUEST, Codec.bytes(), call("990")))
                    .isInstanceOf(Accepted.New.class);
            tx.commit();
        }
        assertThat(rows()).isEqualTo(1);
    }

    @Test
    @DisplayName("W4 a retention that ends before the next try is due is refused at build time")
    default void retentionTooShort() {
        Consumer<Onlyonce.Builder> shortLived = once -> once.operation(
                KEY.operation(), o -> o.retention(Duration.ofMinutes(2)).way(Way.QUEUED));
        assertThatThrownBy(() -> builder(shortLived).build())
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("PT2M")
                .hasMessageContaining("PT2M30S");
        builder(shortLived)
                .backoff(Duration.ofSeconds(1), Duration.ofSeconds(20))
                .parkFor(Duration.ofSeconds(30))
                .build()
                .close();
    }

    @Test
    @DisplayName("An outbox that is closed leaves no thread behind, and cannot be started again")
    default void closesItsTime() throws Exception {
        Set<Thread> before = Thread.getAllStackTraces().keySet();
        Onlyonce once = once(store(), any -> {});
        Outbox outbox = Outbox.builder(once).handler("charge", provider()).build();
        outbox.start();
        accept(outbox, KEY);
        outbox.await(KEY, REQUEST, Codec.bytes(), Duration.ofSeconds(60));
        outbox.close();
        once.close();
        for (Thread thread : Thread.getAllStackTraces().keySet()) {
            if (!before.contains(thread) && thread.getName().startsWith("onlyonce-")) {
                thread.join(Duration.ofSeconds(60).toMillis());
                assertThat(thread.isAlive()).as(thread.getName()).isFalse();
            }
        }
        assertThatThrownBy(outbox::start).isInstanceOf(IllegalStateException.class);
    }
}
