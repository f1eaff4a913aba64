package dev.onlyonce.sql.transactions;

import dev.onlyonce.Codec;
import dev.onlyonce.Key;
import dev.onlyonce.Outcome;
import dev.onlyonce.Policy;
import dev.onlyonce.fingerprint.Fingerprint;
import dev.onlyonce.sql.SqlClock;
import dev.onlyonce.sql.SqlStore;
import dev.onlyonce.sql.Ways;
import dev.onlyonce.store.ClaimRequest;
import dev.onlyonce.store.EntryId;
import dev.onlyonce.store.OnLeaseLost;
import dev.onlyonce.store.Settlement;
import dev.onlyonce.store.State;
import dev.onlyonce.store.Terms;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import javax.sql.DataSource;

/** A part of the contract: an interface with tests, so that one class can be all of them; and what the parts share. */
public interface TransactionsChapter {
    Fingerprint REQUEST = Fingerprint.of("request".getBytes(StandardCharsets.UTF_8));
    Key KEY = Key.of("tenant", "POST /payments", "key-1");
    Policy POLICY = Policy.standard();

    /** A pool on a database of the test's own. */
    DataSource dataSource();

    /** A query for how long the session waits for locks, which must stay as it was. */
    String lockWait();

    /** Whether a transaction locks rows, and not the database. */
    default boolean locksRows() {
        return true;
    }

    SqlStore store();

    /** With {@link #POLICY}. */
    Transactions transactions();

    /** Asks again while the key is in flight or the transactions conflict. */
    default Outcome<String> insist(TransactionalAction<String, SQLException> action) throws SQLException {
        Transactions patient = Ways.transactions(
                store(), POLICY.toBuilder().waitMax(Duration.ofSeconds(5)).build());
        while (true) {
            try {
                Outcome<String> outcome = patient.execute(KEY, REQUEST, Codec.text(), action);
                if (!(outcome instanceof Outcome.InFlight)) {
                    return outcome;
                }
            } catch (TransactionConflict e) {
                Thread.onSpinWait();
            }
        }
    }

    /** Leaves a retryable entry behind. */
    default void release() {
        ClaimRequest claim = claim(KEY);
        store().claim(List.of(claim));
        store().settle(List.of(new Settlement(claim.id(), claim.token(), State.RETRYABLE, null, "released")));
    }

    static ClaimRequest claim(Key key) {
        EntryId id = key.entryId();
        Terms terms = new Terms(Duration.ofSeconds(30), OnLeaseLost.UNKNOWN, Duration.ofHours(1), Duration.ZERO);
        return new ClaimRequest(id, key.operation(), REQUEST, UUID.randomUUID(), "node", terms, State.PROCESSING);
    }

    /** Writes a row, and says which one. */
    static TransactionalAction<String, SQLException> effect(int number) {
        return connection -> {
            insert(connection, number);
            return "done " + number;
        };
    }

    static void insert(Connection connection, int number) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute("INSERT INTO effect (id) VALUES (" + number + ")");
        }
    }

    default long effects() {
        return SqlClock.number(dataSource(), "SELECT count(*) FROM effect");
    }

    default Connection open() throws SQLException {
        return dataSource().getConnection();
    }

    default Connection begin() throws SQLException {
        Connection connection = open();
        connection.setAutoCommit(false);
        return connection;
    }
}
