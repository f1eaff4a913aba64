package dev.onlyonce.client.journal;

import dev.onlyonce.client.CallResponse;
import dev.onlyonce.client.ClientTime;
import dev.onlyonce.client.Journal;
import dev.onlyonce.client.JournalException;
import dev.onlyonce.client.JournaledCall;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import javax.sql.DataSource;

/**
 * A journal in a table of the application's database. {@link #begin(Connection, JournaledCall)} writes a call in the
 * transaction that decides on it: they commit together or not at all. Everything else commits in a transaction of its own, so
 * give it the plain pool, not a {@code DataSource} that hands out the caller's transaction.
 */
public final class JdbcJournal implements Journal {
    static final Duration KEEP = Duration.ofDays(30);
    private static final int PURGE_EVERY = 100;

    private final Transactions transactions;
    private final CallTable table;
    private final Duration keep;
    private final ClientTime time;
    private final AtomicInteger settled = new AtomicInteger();

    JdbcJournal(Transactions transactions, CallTable table, Duration keep, ClientTime time) {
        this.transactions = transactions;
        this.table = table;
        this.keep = keep;
        this.time = time;
    }

    /** Opens the journal of a database, and makes its table if it is not there. Answers are kept for 30 days. */
    public static JdbcJournal open(DataSource source) {
        return open(source, KEEP, ClientTime.system());
    }

    /**
     * Opens the journal of a database, and makes its table if it is not there.
     *
     * @param keep how long answers are kept. A call with an id whose answer is forgotten gets a new key
     */
    public static JdbcJournal open(DataSource source, Duration keep, ClientTime time) {
        try (Connection connection = source.getConnection()) {
            JdbcDialect dialect = JdbcDialect.of(connection);
            if (!isThere(connection)) {
                make(connection, dialect);
            }
            return new JdbcJournal(
                    new PoolTransactions(source, connection.getAutoCommit()), new CallTable(dialect), keep, time);
        } catch (SQLException e) {
            throw PoolTransactions.failed(e);
        }
    }

    /** The user of an application may not be allowed to make tables, so it is asked for first. */
    private static boolean isThere(Connection connection) throws SQLException {
        try {
            CallTable.probe(connection);
            return true;
        } catch (SQLException e) {
            PoolTransactions.rollback(connection);
            return false;
        }
    }

    private static void make(Connection connection, JdbcDialect dialect) throws SQLException {
        try {
            for (String sql : dialect.table()) {
                try (PreparedStatement statement = connection.prepareStatement(sql)) {
                    statement.execute();
                }
                PoolTransactions.commit(connection);
            }
            CallTable.probe(connection);
        } catch (SQLException e) {
            PoolTransactions.rollback(connection);
            // Two processes that make it at the same time collide in some databases.
            if (!isThere(connection)) {
                throw e;
            }
        }
    }

    @Override
    public Optional<JournaledCall> begin(JournaledCall call) {
        return own(connection -> table.begin(connection, call));
    }

    /**
     * Records a call, unless there is one with its id, in the caller's transaction. It does not commit. Send the call after
     * the commit, with {@link dev.onlyonce.client.RetryingClient#resume(String)}.
     *
     * @return empty if it was recorded, or the call that is there
     */
    public Optional<JournaledCall> begin(Connection connection, JournaledCall call) {
        try {
            return table.begin(connection, call);
        } catch (SQLException e) {
            throw transactions.trouble(e);
        }
    }

    @Override
    public Optional<JournaledCall> sending(String id, Instant at) {
        return own(connection -> CallTable.sending(connection, id, at));
    }

    @Override
    public void expires(String id, Instant keyExpiresAt) {
        own(connection -> CallTable.expires(connection, id, keyExpiresAt));
    }

    @Override
    public boolean settle(String id, CallResponse answer, Verdict verdict, Instant at) {
        boolean recorded =
                own(connection -> CallTable.settle(connection, id, new CallTable.Settlement(answer, verdict, at)));
        if (settled.incrementAndGet() % PURGE_EVERY == 0) {
            own(connection -> CallTable.purge(connection, time.now().minus(keep)));
        }
        return recorded;
    }

    @Override
    public Optional<JournaledCall> find(String id) {
        return own(connection -> CallTable.find(connection, id));
    }

    @Override
    public List<String> pending() {
        return own(CallTable::pending);
    }

    @Override
    public boolean forget(String id) {
        return own(connection -> CallTable.forget(connection, id));
    }

    /** Leaves a data source open: it is the application's. */
    @Override
    public void close() {
        transactions.close();
    }

    private <T> T own(Transactions.Work<T> work) {
        try {
            return transactions.run(work);
        } catch (SQLException e) {
            throw transactions.trouble(e);
        } catch (IllegalArgumentException | IndexOutOfBoundsException e) {
            throw new JournalException(
                    "A record of the journal cannot be read, so nothing was sent: " + e.getMessage(), e);
        }
    }
}
