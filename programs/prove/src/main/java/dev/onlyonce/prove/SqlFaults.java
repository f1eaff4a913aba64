package dev.onlyonce.prove;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;

/**
 * Faults that an administrator of a database can cause.
 *
 * @param cancel selects statements that cancel what other sessions do
 * @param terminate the same that end other sessions
 * @param unsafe statements after which the server forgets commits when it dies
 * @param safe the opposite
 */
record SqlFaults(String cancel, String terminate, List<String> unsafe, List<String> safe) {
    private static final String POSTGRES_OTHERS =
            "(' || pid || ')' FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()";
    private static final String MYSQL_OTHERS =
            "id) FROM information_schema.processlist WHERE id <> connection_id() AND user = 'root'";

    static final SqlFaults POSTGRES = new SqlFaults(
            "SELECT 'SELECT pg_cancel_backend" + POSTGRES_OTHERS,
            "SELECT 'SELECT pg_terminate_backend" + POSTGRES_OTHERS,
            List.of("ALTER SYSTEM SET synchronous_commit = off", "SELECT pg_reload_conf()"),
            List.of("ALTER SYSTEM RESET synchronous_commit", "SELECT pg_reload_conf()"));

    /** MariaDB's too. */
    static final SqlFaults MYSQL = new SqlFaults(
            "SELECT concat('KILL QUERY ', " + MYSQL_OTHERS,
            "SELECT concat('KILL ', " + MYSQL_OTHERS,
            List.of("SET GLOBAL innodb_flush_log_at_trx_commit = 0"),
            List.of("SET GLOBAL innodb_flush_log_at_trx_commit = 1"));

    /** What the next release might do to the tables while nodes of this one work; and back. */
    private static final List<String> UPGRADE = List.of(
            "ALTER TABLE onlyonce_entry ADD COLUMN next_release INTEGER",
            "ALTER TABLE onlyonce_audit ADD COLUMN next_release INTEGER",
            "CREATE INDEX onlyonce_next_release ON onlyonce_entry (next_release)");

    private static final List<String> DOWNGRADE = List.of(
            "ALTER TABLE onlyonce_entry DROP COLUMN next_release",
            "ALTER TABLE onlyonce_audit DROP COLUMN next_release");

    private static final int CONNECTIONS_MAX = 100;

    /** Runs each statement that a query makes. The database may be down, which is all right. */
    static void runEach(String url, String query) {
        try (Connection connection = DriverManager.getConnection(url);
                Statement statement = connection.createStatement()) {
            List<String> made = new ArrayList<>();
            try (ResultSet rows = statement.executeQuery(query)) {
                while (rows.next()) {
                    made.add(rows.getString(1));
                }
            }
            for (String each : made) {
                runIn(statement, each);
            }
        } catch (SQLException e) {
            // It is down.
        }
    }

    private static void runIn(Statement statement, String sql) {
        try {
            statement.execute(sql);
        } catch (SQLException e) {
            // The session has ended meanwhile.
        }
    }

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

    /** Upgrades the schema under load, and takes it back. */
    static void upgrade(String url) {
        UPGRADE.forEach(sql -> run(url, sql));
        Pause.millis(2_000);
        DOWNGRADE.forEach(sql -> run(url, sql));
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
