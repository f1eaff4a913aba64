package dev.onlyonce.sql.internal.connections;

import dev.onlyonce.store.StoreBusy;
import dev.onlyonce.store.StoreException;
import dev.onlyonce.store.StoreOutcomeUnknown;
import dev.onlyonce.store.StoreRejected;
import dev.onlyonce.store.StoreUnavailable;
import java.sql.SQLException;
import java.sql.SQLTimeoutException;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The meaning of an {@link SQLException} for the work that met it, judged by SQLState and vendor code, never by its text.
 */
public enum SqlFailure {
    /** Rolled back because of concurrent work: trying again is the cure. */
    CONFLICT,
    /**
     * The session has lost what the driver had prepared (a pooler's work, DISCARD ALL, a changed table). Nothing was
     * changed, and the driver prepares it again: trying again is the cure.
     */
    STALE,
    /** Somebody else holds a lock for longer than we wait. Nothing was changed. */
    BUSY,
    /** The same, but the lock is on the whole database: perhaps it is about this entry, perhaps not. Nothing was changed. */
    LOCKED,
    /** Nothing was changed, and later it may work. */
    UNAVAILABLE,
    /** Nothing was changed, and it will not work later either. */
    REJECTED,
    /** The connection is gone, or the server is going: an answer may have been lost. */
    ANSWER_LOST;

    /**
     * The prepared statement or cursor is gone (26, 34), its name is taken (42P05), or its plan does not fit the table any
     * more (0A000).
     */
    private static final Set<String> POSTGRES_STALE = Set.of("26000", "34000", "42P05", "0A000");
    /** The session was ended for idling in a transaction, or for a transaction that took too long. */
    private static final Set<String> POSTGRES_ENDED = Set.of("25P03", "25P04");

    /**
     * Lock wait time-out; NOWAIT (3572); an exceeded run time (1317, 1969, 3024), which on short statements is a lock wait
     * too.
     */
    private static final Set<Integer> MYSQL_BUSY = Set.of(1205, 1317, 1969, 3024, 3572);
    /** Read-only, full, or too many. */
    private static final Set<Integer> MYSQL_UNAVAILABLE =
            Set.of(1021, 1040, 1041, 1114, 1203, 1206, 1226, 1290, 1461, 1792, 1836);
    /** The server runs with --read-only or --super-read-only (1290), or in read-only mode (1836). */
    private static final Set<Integer> MYSQL_READ_ONLY = Set.of(1290, 1836);
    /** An unknown prepared statement; one that must be prepared again; a table that was altered in between. */
    private static final Set<Integer> MYSQL_STALE = Set.of(1243, 1615, 1412);
    /** Server shutdown (1053), killed connection (1927, 3169), server gone (2006, 2013), session ended for idling (4031). */
    private static final Set<Integer> MYSQL_ANSWER_LOST = Set.of(1053, 1079, 1927, 2006, 2013, 3169, 4031);
    /** A packet that is too large (1153), an incorrect value (1366), data too long (1406), a violated check (3819). */
    private static final Set<Integer> MYSQL_REJECTED = Set.of(1153, 1366, 1406, 3819);

    /** A deadlock; a row that changed after the transaction's snapshot (MariaDB 11 and newer). */
    private static final Set<Integer> MYSQL_CONFLICT = Set.of(1213, 1020);

    private static final int H2_LOCK_TIMEOUT = 50200;
    /** A deadlock; a row that changed, or was deleted, while it was being changed. */
    private static final Set<Integer> H2_CONFLICT = Set.of(40001, 90112, 90131, 90143);
    /** The file is another process's (90020), read-only (90097), or in exclusive mode (90135); there is no database. */
    private static final Set<Integer> H2_UNAVAILABLE = Set.of(90013, 90020, 90097, 90117, 90135, 90146, 90149);
    /**
     * The database or the connection is closed (90007, 90067, 90098, 90121), and trouble with the file or the memory, after
     * which H2 closes it (50000, 90028, 90030, 90031, 90108).
     */
    private static final Set<Integer> H2_ANSWER_LOST =
            Set.of(50000, 90007, 90028, 90030, 90031, 90067, 90098, 90108, 90121);

    /** Another process wrote after this transaction had read. */
    public static final int SQLITE_BUSY_SNAPSHOT = 517;

    public static final int SQLITE_BUSY = 5;

    /** Judges. */
    public static SqlFailure of(SqlDatabase database, SQLException e) {
        return switch (database) {
            case POSTGRESQL -> postgres(e);
            case MYSQL -> mysql(e);
            case SQLITE -> sqlite(e.getErrorCode());
            case H2 -> h2(e);
        };
    }

    private static SqlFailure postgres(SQLException e) {
        String state = state(e);
        if (state.equals("40003")
                || state.startsWith("08")
                || state.startsWith("57P")
                || POSTGRES_ENDED.contains(state)) {
            return ANSWER_LOST;
        }
        if (POSTGRES_STALE.contains(state)) {
            return STALE;
        }
        if (state.startsWith("40")) {
            return CONFLICT;
        }
        return state.equals("55P03") ? BUSY : standard(state);
    }

    private static SqlFailure mysql(SQLException e) {
        int code = e.getErrorCode();
        if (MYSQL_CONFLICT.contains(code)) {
            return CONFLICT;
        }
        if (MYSQL_STALE.contains(code)) {
            return STALE;
        }
        if (MYSQL_BUSY.contains(code) || e instanceof SQLTimeoutException) {
            return BUSY;
        }
        if (MYSQL_UNAVAILABLE.contains(code)) {
            return UNAVAILABLE;
        }
        if (MYSQL_REJECTED.contains(code) || isTooLarge(e)) {
            return REJECTED;
        }
        String state = state(e);
        if (MYSQL_ANSWER_LOST.contains(code) || state.startsWith("08")) {
            return ANSWER_LOST;
        }
        return state.startsWith("40") ? CONFLICT : standard(state);
    }

    /** Connector/J refuses a packet that the server would not take, before it sends it, and has no code for that. */
    private static boolean isTooLarge(SQLException e) {
        return e.getClass().getSimpleName().equals("PacketTooBigException");
    }

    private static SqlFailure h2(SQLException e) {
        int code = e.getErrorCode();
        if (H2_CONFLICT.contains(code)) {
            return CONFLICT;
        }
        if (code == H2_LOCK_TIMEOUT) {
            return BUSY;
        }
        if (H2_UNAVAILABLE.contains(code)) {
            return UNAVAILABLE;
        }
        String state = state(e);
        return H2_ANSWER_LOST.contains(code) || state.startsWith("08") ? ANSWER_LOST : standard(state);
    }

    /**
     * The classes of the SQL standard. An error that the server reports has undone its statement, and is a refusal unless
     * its class says that it may pass: triggers and procedures raise states of their own. Without a state, or with one that
     * drivers make up, it is the driver that speaks.
     */
    private static SqlFailure standard(String state) {
        String type = state.length() < 2 ? "" : state.substring(0, 2);
        return switch (type) {
            case "", "00", "99", "S1" -> ANSWER_LOST;
            // Read-only, lock not available, cancelled, out of something, broken inside.
            case "25", "53", "54", "55", "57", "58", "F0", "XX", "28", "3D", "3F", "70", "HY" -> UNAVAILABLE;
            default -> REJECTED;
        };
    }

    /** The low byte (and sometimes more) of SQLite's result code. */
    private static SqlFailure sqlite(int code) {
        if (code == SQLITE_BUSY_SNAPSHOT) {
            return CONFLICT;
        }
        return switch (code & 0xff) {
            // BUSY and LOCKED: the bounded wait is over. Nothing was begun.
            case 5, 6 -> LOCKED;
            // ERROR (e.g. no such table), TOOBIG, CONSTRAINT, MISMATCH, MISUSE, RANGE.
            case 1, 18, 19, 20, 21, 25 -> REJECTED;
            // PERM, ABORT, NOMEM, READONLY, INTERRUPT, CORRUPT, FULL, CANTOPEN, NOTADB.
            case 3, 4, 7, 8, 9, 11, 13, 14, 26 -> UNAVAILABLE;
            // IOERR and the rest: it may have happened after the commit record was written.
            default -> ANSWER_LOST;
        };
    }

    /**
     * Whether the server takes no writes: after a failover, a connection may lead to a server that is only a replica now, and
     * go on doing so for as long as it is kept.
     */
    public static boolean isReadOnly(SqlDatabase database, SQLException e) {
        return switch (database) {
            case POSTGRESQL -> state(e).equals("25006");
            case MYSQL -> MYSQL_READ_ONLY.contains(e.getErrorCode());
            case SQLITE, H2 -> false;
        };
    }

    /** Whether the same work may well succeed at once. */
    public boolean isCuredByRetry() {
        return this == CONFLICT || this == STALE;
    }

    /** Whether somebody else is working on the same entry. A lock on the whole database does not say so. */
    public boolean isWait() {
        return this == BUSY;
    }

    private static String state(SQLException e) {
        String state = e.getSQLState();
        return state == null ? "" : state;
    }

    /**
     * The exception for the caller.
     *
     * @param writing whether the work could have changed something
     */
    public StoreException exception(boolean writing, @Nullable Throwable cause) {
        return switch (this) {
            case CONFLICT -> new StoreBusy("the database rolled back because of concurrent work", cause);
            case STALE -> new StoreUnavailable("the database keeps losing prepared statements", cause);
            case BUSY -> new StoreBusy("somebody else holds a lock for longer than we wait", cause);
            case LOCKED -> new StoreUnavailable("somebody else locks the database for longer than we wait", cause);
            case UNAVAILABLE -> new StoreUnavailable("the database cannot do it now", cause);
            case REJECTED -> new StoreRejected("the database does not take it", cause);
            case ANSWER_LOST ->
                writing
                        ? new StoreOutcomeUnknown("the connection was lost before the database's answer", cause)
                        : new StoreUnavailable("the connection was lost before the database's answer", cause);
        };
    }
}
