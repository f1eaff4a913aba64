package dev.onlyonce.prove;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;

/** Faults that an administrator of PostgreSQL can cause. */
final class SqlFaults {
    static final String CANCEL =
            "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()";
    static final String TERMINATE =
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()";
    private static final int CONNECTIONS_MAX = 100;

    private SqlFaults() {}

    /** Runs a statement; the database may be down, which is all right. */
    static boolean run(String url, String sql) {
        try (Connection connection = DriverManager.getConnection(url);
                Statement statement = connection.createStatement()) {
            statement.execute(sql);
            return true;
        } catch (SQLException e) {
            return false;
        }
    }

    /** Takes all connections that are left, for two seconds. */
    static void exhaust(String url) throws SQLException {
        List<Connection> taken = new ArrayList<>();
        try {
            while (taken.size() < CONNECTIONS_MAX) {
                taken.add(DriverManager.getConnection(url));
            }
        } catch (SQLException e) {
            // There are no more.
        }
        Pause.millis(2_000);
        for (Connection connection : taken) {
            connection.close();
        }
    }
}
