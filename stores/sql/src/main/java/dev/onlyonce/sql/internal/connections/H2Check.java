package dev.onlyonce.sql.internal.connections;

import dev.onlyonce.store.StoreRejected;
import java.sql.Connection;
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

/** Looks at how an application uses H2 before its entries go there, and refuses what would go wrong silently. */
public final class H2Check {
    private static final Logger log = LoggerFactory.getLogger(H2Check.class);

    /** In others, names, empty values or the clock mean something else. */
    private static final Set<String> MODES = Set.of("REGULAR", "POSTGRESQL");

    /** In a URL. With it, H2 returns one row of those that a listing has. */
    private static final Pattern LAZY =
            Pattern.compile(";\\s*LAZY_QUERY_EXECUTION\\s*=\\s*1", Pattern.CASE_INSENSITIVE);

    private static final int COLUMN_NOT_FOUND = 42122;
    private static final int FILE_IN_USE = 90020;

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
            log.warn(
                    "{} is H2 in a file: if its process is killed, the last half second of what it acknowledged can be lost, and a"
                            + " retry runs again. It is for tests and development; use SQLite or a database server otherwise",
                    place);
        }
        return true;
    }

    /** What others may have changed since {@link #run}. Throws {@link StoreRejected} if it must not be used. */
    static Optional<String> rerun(Connection connection) throws SQLException {
        checkMode(settings(connection).getOrDefault("MODE", "REGULAR"));
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

    /** Throws {@link StoreRejected} if the settings in the URL are harmful. Some pools tell their URL. */
    public static void checkUrl(DataSource dataSource) {
        List<String> urls = SourceCheck.urls(dataSource);
        if (urls.stream().anyMatch(url -> LAZY.matcher(url).find())) {
            throw new StoreRejected(
                    "H2 would leave out rows of what the store reads: remove LAZY_QUERY_EXECUTION=1 from the URL",
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

    /** What to do about a connection that could not be had, if it is about a file that another process has. */
    public static String explain(Throwable noConnection) {
        for (Throwable cause = noConnection; cause != null; cause = cause.getCause()) {
            if (cause instanceof SQLException e && e.getErrorCode() == FILE_IN_USE) {
                return "no connection to the database: H2 gives a file to one process at a time, and another process has it. Stop that"
                        + " one, or use a database server";
            }
        }
        return "no connection to the database";
    }
}
