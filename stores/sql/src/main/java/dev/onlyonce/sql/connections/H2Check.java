package dev.onlyonce.sql.connections;

import dev.onlyonce.store.StoreRejected;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;
import javax.sql.DataSource;
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

    /** In a URL, other than 0. */
    private static final Pattern WRITE_DELAY =
            Pattern.compile(";\\s*WRITE_DELAY\\s*=\\s*(?!0+\\s*(;|$))", Pattern.CASE_INSENSITIVE);

    /** In a URL. With it, H2 returns one row of those that a listing has. */
    private static final Pattern LAZY =
            Pattern.compile(";\\s*LAZY_QUERY_EXECUTION\\s*=\\s*1", Pattern.CASE_INSENSITIVE);

    private static final String DELAY =
            "SELECT SETTING_VALUE FROM INFORMATION_SCHEMA.SETTINGS WHERE SETTING_NAME = 'WRITE_DELAY'";

    private static final int COLUMN_NOT_FOUND = 42122;
    private static final int FILE_IN_USE = 90020;
    private static final int ADMIN_RIGHTS_REQUIRED = 90040;

    private H2Check() {}

    /** Throws {@link StoreRejected} if it must not be used. */
    public static boolean run(Connection connection) throws SQLException {
        Map<String, String> settings = settings(connection);
        checkMode(settings.getOrDefault("MODE", "REGULAR"));
        SourceCheck.checkIsolation(connection);
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

    /** What others may have changed since {@link #run}. Throws {@link StoreRejected} if it must not be used. */
    static Optional<String> rerun(Connection connection) throws SQLException {
        checkMode(settings(connection).getOrDefault("MODE", "REGULAR"));
        if (!isInMemory(connection)) {
            keepWritingAtOnce(connection);
        }
        return Optional.empty();
    }

    private static Map<String, String> settings(Connection connection) throws SQLException {
        Map<String, String> settings = new HashMap<>();
        try (Statement statement = connection.createStatement();
                ResultSet row =
                        // Upper case: with DATABASE_TO_UPPER=FALSE these names have no other spelling.
                        statement.executeQuery("SELECT SETTING_NAME, SETTING_VALUE FROM INFORMATION_SCHEMA.SETTINGS")) {
            while (row.next()) {
                settings.put(row.getString(1), row.getString(2));
            }
        } catch (SQLException e) {
            if (e.getErrorCode() != COLUMN_NOT_FOUND) {
                throw e;
            }
            throw new StoreRejected(
                    "H2 shows the information schema of its version 1, which has no clock that leases can follow. Remove"
                            + " OLD_INFORMATION_SCHEMA=TRUE from the URL",
                    e);
        }
        return settings;
    }

    /**
     * Throws {@link StoreRejected} if the settings in the URL are harmful, or undo {@link #writeAtOnce}: each new connection runs
     * them. Some pools tell their URL.
     */
    public static void checkUrl(DataSource dataSource) {
        List<String> urls = SourceCheck.urls(dataSource);
        if (urls.stream().anyMatch(url -> LAZY.matcher(url).find())) {
            throw new StoreRejected(
                    "H2 would leave out rows of what the store reads: remove LAZY_QUERY_EXECUTION=1 from the URL",
                    null);
        }
        if (urls.stream().anyMatch(url -> WRITE_DELAY.matcher(url).find() && !url.startsWith("jdbc:h2:mem:"))) {
            throw new StoreRejected(
                    "each new connection sets WRITE_DELAY: H2 would forget commits that it acknowledged shortly before its process is"
                            + " killed, and a retry would run again. Remove WRITE_DELAY from the URL",
                    null);
        }
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

    /** Whether commits have to be written to a file: see {@link #keepWritingAtOnce}. */
    public static boolean isFile(Connection connection) throws SQLException {
        return !isInMemory(connection);
    }

    /**
     * To be run before each change. H2 keeps WRITE_DELAY in the file but does not apply it when it opens the file: a database that
     * was closed, or whose process has died, and that the next connection has opened again, writes late again.
     */
    static void keepWritingAtOnce(Connection connection) throws SQLException {
        String delay = delay(connection);
        if (!delay.equals("0")) {
            writeAtOnce(connection, SourceCheck.place(connection), delay);
        }
    }

    /** Whether commits are written before they are acknowledged. */
    static boolean isWritingAtOnce(Connection connection) throws SQLException {
        return delay(connection).equals("0");
    }

    private static String delay(Connection connection) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(DELAY);
                ResultSet row = statement.executeQuery()) {
            String delay = "0";
            while (row.next()) {
                // The first is what the file has, the last what is in force.
                delay = row.getString(1);
            }
            return delay;
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
                            + " may not change that: add ;WRITE_DELAY=0;IGNORE_UNKNOWN_SETTINGS=TRUE to the URL, or have an"
                            + " administrator run SET WRITE_DELAY 0 whenever H2 has opened " + place,
                    e);
        }
        log.info(
                "{}: WRITE_DELAY is 0 now, it was {} ms: a commit is written before it is acknowledged, and survives a"
                        + " killed process. A power failure can still lose it",
                place,
                writeDelay);
    }

    /**
     * Whether an interrupt of a thread that uses the database may close it, or the database may be in another process that hangs:
     * everywhere but in this process's memory.
     */
    public static boolean needsOwnThreads(Connection connection) throws SQLException {
        return !SourceCheck.place(connection).startsWith("jdbc:h2:mem:");
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
