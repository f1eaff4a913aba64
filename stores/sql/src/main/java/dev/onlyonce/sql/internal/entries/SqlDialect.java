package dev.onlyonce.sql.internal.entries;

import dev.onlyonce.sql.internal.connections.Connections;
import dev.onlyonce.sql.internal.connections.SqlDatabase;
import dev.onlyonce.store.AuditLevel;
import dev.onlyonce.store.ClaimRequest;
import dev.onlyonce.store.Entry;
import dev.onlyonce.store.EntryId;
import dev.onlyonce.store.Renewal;
import dev.onlyonce.store.SettleResult;
import dev.onlyonce.store.Settlement;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * One kind of database: all its statements. Every change is one conditional statement over many rows, or several in one
 * transaction, and writes its rows of the audit in the same. The connection is in auto-commit mode; on return from a method its changes are committed, and when it
 * throws there are none, or nobody knows. The lists are sorted by id and not empty. Entries are returned as stored: {@link Sealing#shown} applies the clock to them.
 */
public interface SqlDialect {

    /**
     * The statements of a kind of database.
     *
     * @param clock for tests: an SQL expression to use instead of the database's clock
     * @param audit whether an ordinary life's record outlives its entry
     */
    static SqlDialect of(SqlDatabase kind, Optional<String> clock, AuditLevel audit) {
        return switch (kind) {
            case POSTGRESQL -> new Postgres(clock, audit, true, Optional.empty());
            case MYSQL -> new MySql(clock, audit);
            case SQLITE -> new Sqlite(clock, audit);
            case H2 -> new H2(clock, audit, Optional.empty());
        };
    }

    /** The statements of a kind of database, with an audit of everything. */
    static SqlDialect of(SqlDatabase kind, Optional<String> clock) {
        return of(kind, clock, AuditLevel.ALL);
    }

    /** Which kind, for the schema. */
    SqlDatabase kind();

    /** The largest result that it held when it was opened. */
    default int resultBytesMax() {
        return Integer.MAX_VALUE;
    }

    /** The largest result that it holds now. */
    default int resultBytesMax(Connection connection) throws SQLException {
        return Integer.MAX_VALUE;
    }

    /**
     * Prepares a statement that is short unless somebody else holds a lock, within the bound for such waits where the statement
     * has to bring it. What may read for long, and what is not part of a transaction, goes through {@link #bounded}.
     */
    default PreparedStatement prepare(Connection connection, String sql) throws SQLException {
        return connection.prepareStatement(sql);
    }

    /** Runs work that may read for long, but does not wait for a locked table for long where the session would. */
    default <T> T bounded(Connection connection, Connections.Work<T> work) throws SQLException {
        return work.run(connection);
    }

    /**
     * Goes between a read and an answer that says that what was read is done, on one connection. In auto-commit mode it returns when that
     * cannot be undone by a failover; in a transaction it makes the commit wait for it. Only where commits wait for a standby.
     */
    default void awaitStandby(Connection connection) throws SQLException {}

    /** A condition that is true, for a statement in a transaction that has no settings of ours: its commit lasts. */
    default String lasting() {
        return "";
    }

    /**
     * Settles entries that are processing with their token, and inserts absent ones, in one transaction. It may wait for locks, for
     * a short time.
     *
     * @return what was changed; an id that is not in it was not
     */
    Written write(Connection connection, List<Settlement> settlements, List<ClaimRequest> claims) throws SQLException;

    /** Settles entries that are processing with their token and not locked. Returns those settled. */
    Map<EntryId, SettleResult.Settled> settleUnlocked(Connection connection, List<Settlement> settlements)
            throws SQLException;

    /** Inserts absent entries. Waits no longer than a moment for somebody else who is just making the same entry. */
    Inserted insert(Connection connection, List<ClaimRequest> claims) throws SQLException;

    /** Reads entries that are not past everything. */
    Map<EntryId, Entry> find(Connection connection, List<EntryId> ids) throws SQLException;

    /** Renews leases. Skips locked entries. Returns those renewed. */
    Set<EntryId> renew(Connection connection, List<Renewal> renewals) throws SQLException;

    /**
     * Runs changes of entries in a transaction: its own, or the one that the connection is in.
     *
     * @param waiting how long they wait for locks
     */
    <T> T changing(Connection connection, LifeChanges.Waiting waiting, Connections.Work<T> work) throws SQLException;

    /** Reads rows by an index, within a bound. */
    <R> List<R> query(Connection connection, String sql, Binding parameters, RowReader<R> reader) throws SQLException;

    /** The changes of entries that exist. */
    LifeChanges changes();

    /**
     * A statement as it is sent: with the clock in place of {@code {now}}, on PostgreSQL with the schema of the tables, and in
     * tests with another clock. Every statement on our tables goes through here.
     *
     * @param statement one of few texts: what comes of it is kept
     */
    String sql(String statement);

    /** The database's clock: an expression for microseconds since 1970. */
    String clock();

    /** The statements for a caller's transaction. */
    InTransaction inTransaction();

    /**
     * What was written.
     *
     * @param settled the settlements that were recorded
     * @param claimed the attempts of the claims that made a new entry
     */
    record Written(Map<EntryId, SettleResult.Settled> settled, Map<EntryId, Integer> claimed) {}

    /**
     * What was inserted.
     *
     * @param claimed the attempts of the claims that made a new entry
     * @param others entries that somebody else is just making: seen but not committed. A database that cannot show them
     *     waits instead
     */
    record Inserted(Map<EntryId, Integer> claimed, Set<EntryId> others) {}
}
