package dev.onlyonce.sql.connections;

import dev.onlyonce.store.StoreRejected;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Looks at how an application uses H2 before its entries go there: refuses what would go wrong silently, and has commits written
 * before they are acknowledged.
 */
public final class H2Check {
    private static final Logger log = LoggerFactory.getLogger(H2Check.class);

    /** In others, names, empty values or the clock mean something else. */
    private static final Set<String> MODES = Set.of("REGULAR", "POSTGRESQL");

    private static final Pattern UNINTERRUPTIBLE = Pattern.compile("jdbc:h2:(mem|async|tcp|ssl):");

    private static final int FILE_IN_USE = 90020;
    private static final int ADMIN_RIGHTS_REQUIRED = 90040;

    private H2Check() {}

    /** Throws {@link StoreRejected} if it must not be used. */
    public static boolean run(Connection connection) throws SQLException {
        Map<String, String> settings = settings(connection);
        checkMode(settings.getOrDefault("MODE", "REGULAR"));
        if (connection.getTransactionIsolation() == Connection.TRANSACTION_READ_UNCOMMITTED) {
            throw new StoreRejected(
                    "the DataSource's connections read what others have not committed: an answer could be given that is undone"
                            + " later. Use READ COMMITTED or a stricter isolation level",
                    null);
        }
        String place = SourceCheck.place(connection);
        if (place.equals("jdbc:h2:mem:")) {
            throw new StoreRejected(
                    "each connection to jdbc:h2:mem: has a database of its own. Give it a name:"
                            + " jdbc:h2:mem:shop;DB_CLOSE_DELAY=-1",
                    null);
        }
        if (isInMemory(connection)) {
            checkEnd(place, settings.getOrDefault("DB_CLOSE_DELAY", "0"));
        } else {
            writeAtOnce(connection, place, settings.getOrDefault("WRITE_DELAY", "500"));
        }
        return true;
    }

    private static Map<String, String> settings(Connection connection) throws SQLException {
        Map<String, String> settings = new HashMap<>();
        try (Statement statement = connection.createStatement();
                ResultSet row =
                        statement.executeQuery("SELECT setting_name, setting_value FROM information_schema.settings")) {
            while (row.next()) {
                settings.put(row.getString(1), row.getString(2));
            }
        }
        return settings;
    }

    private static void checkMode(String mode) {
        if (!MODES.contains(mode.toUpperCase(Locale.ROOT))) {
            throw new StoreRejected(
                    "H2 is in its " + mode
                            + " mode. Entries can be kept in its regular mode and with MODE=PostgreSQL: change"
                            + " the URL, keep the entries elsewhere, or keep those of tests in memory (onlyonce.store=memory)",
                    null);
        }
    }

    private static boolean isInMemory(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery("SELECT DATABASE_PATH()")) {
            row.next();
            return row.getString(1) == null;
        }
    }

    private static void checkEnd(String place, String closeDelay) {
        if (closeDelay.equals("-1")) {
            log.info("{} is in memory: its entries end with this process", place);
        } else {
            log.warn(
                    "{} is in memory and ends with its last connection, and its entries with it: a retry runs again then."
                            + " Add ;DB_CLOSE_DELAY=-1 to its URL",
                    place);
        }
    }

    /** H2 acknowledges commits first and writes them half a second later, unless told otherwise. */
    private static void writeAtOnce(Connection connection, String place, String writeDelay) throws SQLException {
        if (writeDelay.equals("0")) {
            return;
        }
        try (Statement statement = connection.createStatement()) {
            statement.execute("SET WRITE_DELAY 0");
        } catch (SQLException e) {
            if (e.getErrorCode() != ADMIN_RIGHTS_REQUIRED) {
                throw e;
            }
            throw new StoreRejected(
                    "H2 would forget commits that it acknowledged up to " + writeDelay
                            + " ms before its process is killed, and "
                            + connection.getMetaData().getUserName()
                            + " may not change that: run SET WRITE_DELAY 0 once"
                            + " as an administrator of " + place,
                    e);
        }
        log.info(
                "{}: WRITE_DELAY is 0 now, it was {} ms: a commit is written before it is acknowledged, and survives a"
                        + " killed process. A power failure can still lose it",
                place,
                writeDelay);
    }

    /** Whether an interrupt of a thread that uses the database closes it: if it is in a file that H2 opens in its usual way. */
    public static boolean isInterruptible(Connection connection) throws SQLException {
        return !UNINTERRUPTIBLE.matcher(SourceCheck.place(connection)).lookingAt();
    }

    /** What to do about a connection that could not be had, if it is about a file that another process has. */
    public static String explain(Throwable noConnection) {
        for (Throwable cause = noConnection; cause != null; cause = cause.getCause()) {
            if (cause instanceof SQLException e && e.getErrorCode() == FILE_IN_USE) {
                return "no connection to the database: H2 gives a file to one process at a time, and another process has it. Stop that"
                        + " one, add ;AUTO_SERVER=TRUE to the URL of both, or use a database server";
            }
        }
        return "no connection to the database";
    }
}
