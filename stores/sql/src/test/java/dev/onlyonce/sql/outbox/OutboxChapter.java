package dev.onlyonce.sql.outbox;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onlyonce.Codec;
import dev.onlyonce.Event;
import dev.onlyonce.Key;
import dev.onlyonce.Onlyonce;
import dev.onlyonce.Outcome;
import dev.onlyonce.fingerprint.Fingerprint;
import dev.onlyonce.sql.SqlClock;
import dev.onlyonce.sql.SqlStore;
import dev.onlyonce.store.Entry;
import dev.onlyonce.store.StoreException;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import javax.sql.DataSource;

/** A part of the contract: an interface with tests, so that one class can be all of them; and what the parts share. */
interface OutboxChapter {
    Fingerprint REQUEST = Fingerprint.of("request".getBytes(StandardCharsets.UTF_8));
    Key KEY = key(1);
    Duration LEASE = Duration.ofSeconds(30);
    Duration NEVER = Duration.ofDays(3650);

    DataSource dataSource();

    SqlStore store();

    /** The clock of the store. */
    SqlClock clock();

    /** Whom {@link #outbox()} delivers to. */
    Provider provider();

    /** What happened in the outboxes of {@link #builder()}. */
    List<Event> events();

    default Outbox outbox() {
        return builder().build();
    }

    default Outbox.Builder builder() {
        return builder(once -> {});
    }

    /** On a node of its own, with settings of the test's. */
    default Outbox.Builder builder(Consumer<Onlyonce.Builder> settings) {
        return Outbox.builder(once(store(), settings))
                .handler("charge", provider())
                .triesMax(4)
                .backoff(Duration.ofSeconds(2), Duration.ofSeconds(60))
                .parkFor(Duration.ofSeconds(60));
    }

    /** A node that does nothing in the background and tells {@link #events()}; closed after the test. */
    Onlyonce once(SqlStore store, Consumer<Onlyonce.Builder> settings);

    /** Accepts in a transaction of its own, with the business write of a new one. */
    default Accepted<byte[]> accept(Outbox outbox, Key key) throws SQLException {
        try (Connection tx = begin()) {
            Accepted<byte[]> accepted = outbox.accept(tx, key, REQUEST, Codec.bytes(), call("990"));
            if (accepted.isNew()) {
                insertPayment(tx, key);
            }
            tx.commit();
            return accepted;
        }
    }

    static void insertPayment(Connection tx, Key key) throws SQLException {
        try (PreparedStatement insert = tx.prepareStatement("INSERT INTO payment VALUES (?, 'accepted')")) {
            insert.setString(1, key.value());
            insert.executeUpdate();
        }
    }

    default Connection begin() throws SQLException {
        Connection connection = dataSource().getConnection();
        connection.setAutoCommit(false);
        return connection;
    }

    default Entry entry(Key key) {
        return store().find(List.of(key.entryId())).get(0).orElseThrow();
    }

    /** What the business knows of the payment. */
    default String payment(Key key) throws SQLException {
        try (Connection connection = dataSource().getConnection();
                var statement = connection.prepareStatement("SELECT state FROM payment WHERE id = ?")) {
            statement.setString(1, key.value());
            try (var row = statement.executeQuery()) {
                row.next();
                return row.getString(1);
            }
        }
    }

    /** How many rows the outbox has, dead ones too. */
    default long rows() {
        return SqlClock.number(dataSource(), "SELECT count(*) FROM onlyonce_outbox");
    }

    /** A worker is gone; cancel it at the end. */
    default Future<?> die(Outbox outbox, Provider.Answer when) {
        provider().answer = when;
        if (when == Provider.Answer.DIE_RECORDING) {
            assertThatThrownBy(outbox::deliverDue).isInstanceOf(StoreException.class);
            return CompletableFuture.completedFuture(null);
        }
        FutureTask<Integer> delivering = new FutureTask<>(outbox::deliverDue);
        Thread thread = new Thread(delivering, "dead worker");
        thread.setDaemon(true);
        thread.start();
        await(provider().died);
        return delivering;
    }

    static Accepted<byte[]> inFlight() {
        return new Accepted.Existing<>(new Outcome.InFlight<>(true, Duration.ofSeconds(1)));
    }

    static String replayed(Accepted<byte[]> accepted) {
        Outcome<byte[]> outcome = accepted.outcome();
        return new String(((Outcome.Replayed<byte[]>) outcome).value(), StandardCharsets.UTF_8);
    }

    static Key key(int number) {
        return Key.of("tenant", "POST /payments", "key-" + number);
    }

    static OutboxCall call(String payload) {
        return new OutboxCall("charge", bytes(payload));
    }

    static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    static void await(CountDownLatch latch) {
        try {
            assertThat(latch.await(60, TimeUnit.SECONDS)).isTrue();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    static void until(BooleanSupplier condition) throws InterruptedException {
        CountDownLatch never = new CountDownLatch(1);
        for (int i = 0; i < 3000 && !condition.getAsBoolean(); i++) {
            assertThat(never.await(10, TimeUnit.MILLISECONDS)).isFalse();
        }
        assertThat(condition.getAsBoolean()).isTrue();
    }
}
