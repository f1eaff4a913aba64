package dev.onlyonce.sql.connections;

import dev.onlyonce.store.StoreRejected;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Settings of MySQL and MariaDB with which the store would promise what it cannot keep. */
public final class MySqlCheck {
    private static final Logger log = LoggerFactory.getLogger(MySqlCheck.class);

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
        checkDurability(connection);
        return true;
    }

    private static void checkDurability(Connection connection) throws SQLException {
        String flush = setting(connection, "innodb_flush_log_at_trx_commit");
        if ("0".equals(flush)) {
            throw new StoreRejected(
                    "with innodb_flush_log_at_trx_commit=0 the database forgets commits that it acknowledged up to a second before its"
                            + " process dies, and a retry would run again. Set it to 1",
                    null);
        }
        boolean isLogged = "ON".equals(setting(connection, "log_bin"));
        if ("2".equals(flush) || (isLogged && !"1".equals(setting(connection, "sync_binlog")))) {
            log.warn(
                    "{}: the database can lose what it acknowledged when its machine fails, and then operations run again. Set"
                            + " innodb_flush_log_at_trx_commit=1 and sync_binlog=1, except for tests",
                    SourceCheck.place(connection));
        }
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
