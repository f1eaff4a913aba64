package dev.onlyonce.sql.outbox;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onlyonce.Event;
import dev.onlyonce.Key;
import dev.onlyonce.Outcome;
import dev.onlyonce.Policy;
import dev.onlyonce.fingerprint.Fingerprint;
import dev.onlyonce.sql.SqlClock;
import dev.onlyonce.sql.SqlStore;
import dev.onlyonce.store.Entry;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import javax.sql.DataSource;

/** A part of the contract: an interface with tests, so that one class can be all of them; and what the parts share. */
interface OutboxChapter {
    Fingerprint REQUEST = Fingerprint.of("request".getBytes(StandardCharsets.UTF_8));
    Key KEY = key(1);
    Duration LEASE = Duration.ofSeconds(30);

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
        return store().outbox()
                .policy(Policy.builder().lease(LEASE).build())
                .handler("charge", provider())
                .triesMax(4)
                .backoff(Duration.ofSeconds(2), Duration.ofSeconds(60))
                .parkFor(Duration.ofSeconds(60))
                .listener(events()::add);
    }

    /** Accepts in a transaction of its own, with the business write of a new one. */
    default Accepted accept(Outbox outbox, Key key) throws SQLException {
        try (Connection tx = begin()) {
            Accepted accepted = outbox.accept(tx, key, REQUEST, "charge", bytes("990"));
            if (accepted instanceof Accepted.New) {
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

    static Accepted inFlight() {
        return new Accepted.Existing(new Outcome.InFlight<>(true, Duration.ofSeconds(1)));
    }

    static String replayed(Accepted accepted) {
        Outcome<byte[]> outcome = ((Accepted.Existing) accepted).outcome();
        return new String(((Outcome.Replayed<byte[]>) outcome).value(), StandardCharsets.UTF_8);
    }

    static Key key(int number) {
        return Key.of("tenant", "POST /payments", "key-" + number);
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
}
