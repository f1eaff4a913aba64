package dev.onlyonce.sql.connections;

import dev.onlyonce.store.StoreRejected;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import org.jspecify.annotations.Nullable;

/** Settings of MySQL and MariaDB with which the store would promise what it cannot keep. */
public final class MySqlCheck {
    private MySqlCheck() {}

    /** Throws {@link StoreRejected} if it must not be used. */
    public static boolean run(Connection connection) throws SQLException {
        SourceCheck.checkIsolation(connection);
        if ("ON".equals(setting(connection, "log_bin")) && "STATEMENT".equals(setting(connection, "binlog_format"))) {
            throw new StoreRejected(
                    "with binlog_format=STATEMENT the database refuses to end lapsed leases and to purge entries: set it to ROW or"
                            + " MIXED",
                    null);
        }
        return true;
    }

    /** The size of the largest packet that the server takes. */
    public static int packetBytes(Connection connection) throws SQLException {
        String bytes = setting(connection, "max_allowed_packet");
        return bytes == null ? Integer.MAX_VALUE : Integer.parseInt(bytes);
    }

    /** Null if the server does not know it. */
    private static @Nullable String setting(Connection connection, String name) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery("SHOW VARIABLES LIKE '" + name + "'")) {
            return row.next() ? row.getString(2) : null;
        }
    }
}
