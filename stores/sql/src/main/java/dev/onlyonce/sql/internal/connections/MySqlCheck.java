package dev.onlyonce.sql.internal.connections;

import dev.onlyonce.store.StoreRejected;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Optional;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Settings of MySQL and MariaDB with which the store would promise what it cannot keep. */
public final class MySqlCheck {
    /** wsrep_sync_wait: reads (1), updates and deletes (2), and inserts (4) see what other nodes have committed. */
    private static final int SYNC_WAIT = 7;

    private static final Pattern SEVERAL_HOSTS = Pattern.compile("//[^/]*,|:loadbalance:");

    private MySqlCheck() {}

    /** Throws {@link StoreRejected} if it must not be used; returns what to warn of. */
    static Optional<String> run(Connection connection) throws SQLException {
        SourceCheck.checkIsolation(connection);
        if ("ON".equals(setting(connection, "log_bin")) && "STATEMENT".equals(setting(connection, "binlog_format"))) {
            throw new StoreRejected(
                    "with binlog_format=STATEMENT the database refuses to end lapsed leases and to purge entries: set it to ROW or"
                            + " MIXED",
                    null);
        }
        Optional<String> warning = checkDurability(connection);
        String waits = setting(connection, "wsrep_sync_wait");
        if ("ON".equals(setting(connection, "wsrep_on")) && waits != null) {
            Optional<String> galera = checkGalera(SourceCheck.place(connection), Integer.parseInt(waits));
            return warning.isPresent() ? warning : galera;
        }
        return warning;
    }

    /**
     * A node of Galera has what another has committed a moment later. Throws {@link StoreRejected} if connections may lead to several;
     * returns what to warn of.
     *
     * @param url what the driver tells of its URL
     * @param waits the session's wsrep_sync_wait
     */
    static Optional<String> checkGalera(String url, int waits) {
        if ((waits & SYNC_WAIT) == SYNC_WAIT) {
            return Optional.empty();
        }
        if (SEVERAL_HOSTS.matcher(url).find()) {
            throw new StoreRejected(
                    "the URL has several hosts of a Galera cluster: a node may not have the claim yet that another has acknowledged, and"
                            + " then its settlement is lost. Give the URL one host, or add sessionVariables=wsrep_sync_wait="
                            + SYNC_WAIT,
                    null);
        }
        return Optional.of(
                "it is a node of a Galera cluster: connect all nodes of the application to the same one, or set wsrep_sync_wait="
                        + SYNC_WAIT);
    }

    private static Optional<String> checkDurability(Connection connection) throws SQLException {
        String flush = setting(connection, "innodb_flush_log_at_trx_commit");
        if ("0".equals(flush)) {
            throw new StoreRejected(
                    "with innodb_flush_log_at_trx_commit=0 the database forgets commits that it acknowledged up to a second before its"
                            + " process dies, and a retry would run again. Set it to 1",
                    null);
        }
        boolean isLogged = "ON".equals(setting(connection, "log_bin"));
        if ("2".equals(flush) || (isLogged && !"1".equals(setting(connection, "sync_binlog")))) {
            return Optional.of(
                    "the database can lose what it acknowledged when its machine fails, and then operations run again. Set"
                            + " innodb_flush_log_at_trx_commit=1 and sync_binlog=1, except for tests");
        }
        return Optional.empty();
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
