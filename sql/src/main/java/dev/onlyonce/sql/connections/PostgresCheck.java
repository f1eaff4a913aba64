package dev.onlyonce.sql.connections;

import dev.onlyonce.store.StoreRejected;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Settings of PostgreSQL with which it forgets commits that it acknowledged. */
public final class PostgresCheck {
    private static final Logger log = LoggerFactory.getLogger(PostgresCheck.class);

    /** A database that only speaks PostgreSQL's protocol may not know a setting: null then. */
    private static final String SETTINGS = """
            SELECT current_setting('synchronous_commit', true),
                   current_setting('fsync', true),
                   current_setting('full_page_writes', true)
            """;

    private PostgresCheck() {}

    /** Throws {@link StoreRejected} if it must not be used. */
    public static boolean run(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(SETTINGS)) {
            row.next();
            if ("off".equals(row.getString(1))) {
                throw new StoreRejected(
                        "with synchronous_commit=off PostgreSQL forgets commits that it acknowledged shortly before its process"
                                + " dies, and a retry would run again. Set it to on: ALTER ROLE "
                                + connection.getMetaData().getUserName()
                                + " SET synchronous_commit = on, or add options=-c%20synchronous_commit=on to the URL",
                        null);
            }
            if ("off".equals(row.getString(2)) || "off".equals(row.getString(3))) {
                log.warn(
                        "{}: with fsync=off or full_page_writes=off the database can lose what it acknowledged when its machine"
                                + " fails, and then operations run again. Set both to on, except for tests",
                        SourceCheck.place(connection));
            }
            return true;
        }
    }
}
