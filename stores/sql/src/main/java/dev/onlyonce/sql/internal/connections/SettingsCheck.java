package dev.onlyonce.sql.internal.connections;

import dev.onlyonce.store.StoreRejected;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Whether a database keeps what it acknowledges: looked at when a store is opened, and again before each sweep. */
public final class SettingsCheck {
    private static final int SQLITE_FULL = 2;

    private static final Logger log = LoggerFactory.getLogger(SettingsCheck.class);

    private final SqlDatabase kind;
    private Optional<String> warned = Optional.empty();

    public SettingsCheck(SqlDatabase kind) {
        this.kind = kind;
    }

    /** Throws {@link StoreRejected} if it must not be used. Logs a warning when it begins. */
    public synchronized boolean run(Connection connection) throws SQLException {
        Optional<String> warning = switch (kind) {
            case POSTGRESQL -> PostgresCheck.run(connection);
            case MYSQL -> MySqlCheck.run(connection);
            case SQLITE -> synchronous(connection);
            case H2 -> H2Check.rerun(connection);
        };
        if (warning.isPresent() && !warning.equals(warned)) {
            log.warn("{}: {}", SourceCheck.place(connection), warning.get());
        }
        warned = warning;
        return true;
    }

    /** With less than that, a commit that was acknowledged can be gone after a power failure. */
    private static Optional<String> synchronous(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery("PRAGMA synchronous")) {
            row.next();
            if (row.getInt(1) < SQLITE_FULL) {
                throw new StoreRejected(
                        "SQLite would forget acknowledged commits in a power failure: open it with synchronous=FULL, for example"
                                + " jdbc:sqlite:entries.db?journal_mode=WAL&synchronous=FULL",
                        null);
            }
            return Optional.empty();
        }
    }
}
