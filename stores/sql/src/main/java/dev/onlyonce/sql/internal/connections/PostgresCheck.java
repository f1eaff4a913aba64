package dev.onlyonce.sql.internal.connections;

import dev.onlyonce.store.StoreRejected;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Settings of PostgreSQL with which it forgets commits that it acknowledged, or takes none. */
public final class PostgresCheck {
    /** A database that only speaks PostgreSQL's protocol may not know a setting: null then. */
    private static final String SETTINGS = """
            SELECT current_setting('synchronous_commit', true),
                   current_setting('fsync', true),
                   current_setting('full_page_writes', true),
                   current_setting('synchronous_standby_names', true) <> '',
                   pg_is_in_recovery(),
                   current_setting('transaction_read_only', true)
            """;

    /** With these the driver prefers a server that takes no writes. */
    private static final Pattern SECONDARY =
            Pattern.compile("[?&](targetServerType=(?:preferS|s)(?:econdary|lave))\\b", Pattern.CASE_INSENSITIVE);

    private PostgresCheck() {}

    /** Throws {@link StoreRejected} if it must not be used; returns what to warn of. */
    static Optional<String> run(Connection connection) throws SQLException {
        checkUrl(connection);
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(SETTINGS)) {
            row.next();
            String place = SourceCheck.place(connection);
            checkWritable(place, row.getBoolean(5), "on".equals(row.getString(6)));
            checkCommits(connection, row.getString(1), row.getBoolean(4));
            if ("off".equals(row.getString(2)) || "off".equals(row.getString(3))) {
                return Optional.of(
                        "with fsync=off or full_page_writes=off the database can lose what it acknowledged when its machine"
                                + " fails, and then operations run again. Set both to on, except for tests");
            }
            return Optional.empty();
        }
    }

    private static void checkUrl(Connection connection) throws SQLException {
        String url = connection.getMetaData().getURL();
        Matcher matcher = SECONDARY.matcher(url == null ? "" : url);
        if (matcher.find()) {
            throw new StoreRejected(
                    "with " + matcher.group(1)
                            + " connections lead to a standby, which takes no writes. Use targetServerType=primary",
                    null);
        }
    }

    private static void checkWritable(String place, boolean standby, boolean readOnly) {
        if (standby) {
            throw new StoreRejected(
                    place
                            + " leads to a standby, which takes no writes. Connect to the primary; with several hosts in the URL add"
                            + " targetServerType=primary",
                    null);
        }
        if (readOnly) {
            throw new StoreRejected(
                    place
                            + ": its transactions are read-only. Remove default_transaction_read_only=on from the server, the database,"
                            + " the role or the URL, and readOnly=true from the URL and the pool",
                    null);
        }
    }

    private static void checkCommits(Connection connection, @Nullable String synchronous, boolean replicated)
            throws SQLException {
        boolean local = replicated && "local".equals(synchronous);
        if (local || "off".equals(synchronous)) {
            throw new StoreRejected(
                    "with synchronous_commit=" + synchronous + " PostgreSQL forgets commits that it acknowledged "
                            + (local
                                    ? "when a standby takes over, which they do not wait for"
                                    : "shortly before its process dies")
                            + ", and a retry would run again. Set it to on: ALTER ROLE "
                            + connection.getMetaData().getUserName()
                            + " SET synchronous_commit = on, or add options=-c%20synchronous_commit=on to the URL",
                    null);
        }
    }
}
