package dev.onlyonce.sql.internal.entries;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;

/** The database's clock, which leases and retention follow. */
public final class ServerClock {
    private ServerClock() {}

    /** What it shows now. */
    public static Instant now(Connection connection, SqlDialect database) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement("SELECT " + database.clock());
                ResultSet row = statement.executeQuery()) {
            row.next();
            return StoredEntry.instant(row.getLong(1));
        }
    }
}
