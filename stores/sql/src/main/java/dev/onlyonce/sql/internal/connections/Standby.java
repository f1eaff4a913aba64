package dev.onlyonce.sql.internal.connections;

import java.lang.reflect.InvocationTargetException;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLWarning;
import java.sql.Statement;
import org.jspecify.annotations.Nullable;

/**
 * What PostgreSQL's commits have to wait for: the disk, and a synchronous standby where there is one. A commit that waits for the
 * standby becomes visible without it when its wait is cancelled, its session is ended or the server restarts, and a failover undoes it
 * then. So a read proves nothing there.
 *
 * <ol>
 *   <li>{@link #SYNCHRONOUS} goes with the statements of every transaction that must last, whatever the session has.
 *   <li>{@link #commit} and {@link #check} read the warning of a commit whose wait was cancelled: it is in doubt.
 *   <li>{@link #await} goes between a read and an answer that says that what was read is done. Both on one connection: another may lead to
 *       another server.
 * </ol>
 */
public final class Standby {
    /** An expression: the commit of this transaction waits, for no less than the session wanted. */
    public static final String SYNCHRONOUS = "CASE WHEN current_setting('synchronous_commit') IN ('off', 'local')"
            + " THEN set_config('synchronous_commit', 'on', true) ELSE current_setting('synchronous_commit') END";

    /** The commit of this waits for all that is visible to it. */
    private static final String AWAIT = "SELECT " + SYNCHRONOUS + """
            , CASE WHEN current_setting('synchronous_standby_names') <> ''
                 THEN pg_logical_emit_message(true, 'onlyonce', '') END""";

    private static final String WARNING = "01000";
    private static final String COMPLETION_UNKNOWN = "40003";

    /** The server's function that waits. The warning has no code of its own. */
    private static final String WAIT = "SyncRep";

    private Standby() {}

    /** Commits; throws what leaves the outcome open if the standby may not have it. */
    public static void commit(SqlDatabase kind, Connection connection) throws SQLException {
        if (kind != SqlDatabase.POSTGRESQL) {
            connection.commit();
            return;
        }
        connection.clearWarnings();
        connection.commit();
        check(connection.getWarnings());
    }

    /** Looks at the warnings of something that has committed; throws what leaves the outcome open if the standby may not have it. */
    public static void check(@Nullable SQLWarning first) throws SQLException {
        for (SQLWarning warning = first; warning != null; warning = warning.getNextWarning()) {
            if (WARNING.equals(warning.getSQLState()) && isOfWait(warning)) {
                throw new SQLException("the standby may not have what was committed", COMPLETION_UNKNOWN, warning);
            }
        }
    }

    /**
     * PostgreSQL: in auto-commit mode, returns when the standby has all that can be seen now; in a transaction, makes its commit wait for that,
     * even if nothing was written.
     */
    public static void await(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute(AWAIT);
            check(statement.getWarnings());
        }
    }

    /** The driver is the application's: it is not on our class path. A driver that does not tell leaves it open. */
    private static boolean isOfWait(SQLWarning warning) {
        try {
            Object message = call(warning, "getServerErrorMessage");
            Object routine = message == null ? null : call(message, "getRoutine");
            return routine == null || routine.toString().startsWith(WAIT);
        } catch (ReflectiveOperationException | RuntimeException e) {
            return true;
        }
    }

    private static @Nullable Object call(Object target, String method)
            throws NoSuchMethodException, IllegalAccessException, InvocationTargetException {
        return target.getClass().getMethod(method).invoke(target);
    }
}
