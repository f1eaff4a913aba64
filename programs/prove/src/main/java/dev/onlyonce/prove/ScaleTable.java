package dev.onlyonce.prove;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * Fills PostgreSQL's table with copies of an entry that the engine has made. What differs is written here; everything else is as it was.
 *
 * @param url of the database
 */
record ScaleTable(String url) {
    /** What most copies have of their own: one tenant in a thousand, a random key, and times of the last twenty hours. */
    private static final String SPREAD = "(random() * 72000e6)::bigint";

    private static final String COLUMNS =
            "SELECT column_name FROM information_schema.columns WHERE table_name = 'onlyonce_entry' ORDER BY ordinal_position";

    /** Copies that are completed and still answer. */
    void fill(long count) throws SQLException {
        List<String> indexes = strings(
                "SELECT indexdef FROM pg_indexes WHERE tablename = 'onlyonce_entry' AND indexname <> 'onlyonce_entry_pkey'");
        List<String> names = strings(
                "SELECT indexname FROM pg_indexes WHERE tablename = 'onlyonce_entry' AND indexname <> 'onlyonce_entry_pkey'");
        String key = strings(
                        "SELECT pg_get_constraintdef(oid) FROM pg_constraint WHERE conname = 'onlyonce_entry_pkey'")
                .get(0);
        for (String name : names) {
            run("DROP INDEX " + name);
        }
        run("ALTER TABLE onlyonce_entry DROP CONSTRAINT onlyonce_entry_pkey");
        copy(
                count,
                Map.of(
                        "created_at", "e.created_at - s.ago",
                        "lease_until", "e.lease_until - s.ago",
                        "settled_at", "e.settled_at - s.ago",
                        "expires_at", "e.expires_at - s.ago",
                        "purge_at", "e.purge_at - s.ago",
                        "reap_at", "e.reap_at - s.ago"));
        run("ALTER TABLE onlyonce_entry ADD CONSTRAINT onlyonce_entry_pkey " + key);
        for (String index : indexes) {
            run(index);
        }
        run("VACUUM ANALYZE onlyonce_entry");
    }

    /** Claims whose leases lapsed during an outage of two hours, which has just ended. */
    void addLapsed(long count) throws SQLException {
        copy(
                count,
                Map.of(
                        "state", "2",
                        "token", "gen_random_uuid()",
                        "result", "NULL",
                        "settled_at", "NULL",
                        "expires_at", "NULL",
                        "purge_at", "NULL",
                        "lease_until", "e.lease_until - s.ago / 10"));
    }

    /** Completed entries whose retention is over. */
    void addExpired(long count) throws SQLException {
        long day = 86_400_000_000L;
        copy(
                count,
                Map.of(
                        "created_at", "e.created_at - " + 2 * day,
                        "lease_until", "e.lease_until - " + 2 * day,
                        "settled_at", "e.settled_at - " + 2 * day,
                        "expires_at", "e.expires_at - " + 2 * day,
                        "purge_at", "e.purge_at - " + 2 * day,
                        "reap_at", "e.reap_at - " + 2 * day));
    }

    /** Records of the audit that are older than any retention. */
    void addAudit(long count) throws SQLException {
        run(
                "INSERT INTO onlyonce_audit (at, tenant, space, key_, operation, entry_created_at, attempt, from_state, to_state, who, why)"
                        + " SELECT 1000000 + i, 'tenant-' || i % 1000, '', md5(i::text), 'pay', 1000000, 1, 2, 6, 'sweeper', 'lease lapsed'"
                        + " FROM generate_series(1, " + count + ") i");
        run("VACUUM ANALYZE onlyonce_audit");
    }

    private void copy(long count, Map<String, String> own) throws SQLException {
        List<String> values = new ArrayList<>();
        List<String> columns = strings(COLUMNS);
        for (String column : columns) {
            values.add(
                    switch (column) {
                        case "tenant" -> "'tenant-' || s.i % 1000";
                        case "key_" -> "md5(s.i::text || random()::text)";
                        default -> own.getOrDefault(column, "e." + column);
                    });
        }
        run("INSERT INTO onlyonce_entry (" + String.join(", ", columns) + ") SELECT " + String.join(", ", values)
                + " FROM (SELECT * FROM onlyonce_entry WHERE tenant = 'template' LIMIT 1) e,"
                + " (SELECT i, " + SPREAD + " AS ago FROM generate_series(1, " + count + ") i) s");
    }

    void run(String sql) throws SQLException {
        try (Connection connection = DriverManager.getConnection(url);
                Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }

    /** The one number that a query gives. */
    long number(String sql) throws SQLException {
        return Long.parseLong(strings(sql).get(0));
    }

    private List<String> strings(String sql) throws SQLException {
        List<String> all = new ArrayList<>();
        try (Connection connection = DriverManager.getConnection(url);
                Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery(sql)) {
            while (rows.next()) {
                all.add(rows.getString(1));
            }
        }
        return all;
    }
}
