package dev.onlyonce.prove;

import dev.onlyonce.prove.CheckRig.Ask;
import dev.onlyonce.prove.Checklist.Evidence;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Collections;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The plan of the statement that claims. The text comes from the database, which tells for each session what it ran last: it is not a copy
 * of ours.
 */
record ClaimPlan(CheckRig rig) {
    private static final String LAST = """
            SELECT query FROM pg_stat_activity
            WHERE pid <> pg_backend_pid() AND query ILIKE '%INSERT INTO%onlyonce_entry%ON CONFLICT%' LIMIT 1
            """;

    private static final int TRIES = 500;
    private static final Pattern PARAMETER = Pattern.compile("\\$(\\d+)");
    private static final Pattern ARBITER = Pattern.compile("Conflict Arbiter Indexes: (\\S+)");

    Evidence look() throws SQLException {
        try (Connection connection = DriverManager.getConnection(rig.url());
                Statement statement = connection.createStatement()) {
            String claim = "";
            for (int i = 0; i < TRIES && claim.isEmpty(); i++) {
                rig.begin(new Ask(i % 2, "plan-" + i)).join();
                claim = first(statement, LAST);
            }
            if (claim.isEmpty()) {
                return new Evidence("no session ran a claim last", false);
            }
            Matcher parameter = PARAMETER.matcher(claim);
            int count = 0;
            while (parameter.find()) {
                count = Math.max(count, Integer.parseInt(parameter.group(1)));
            }
            statement.execute("SET plan_cache_mode = force_generic_plan");
            statement.execute("PREPARE claim AS " + claim);
            String nulls = String.join(", ", Collections.nCopies(count, "NULL"));
            String plan = all(statement, "EXPLAIN EXECUTE claim(" + nulls + ")");
            Matcher arbiter = ARBITER.matcher(plan);
            boolean found = arbiter.find();
            String index = found ? arbiter.group(1) : "";
            String unique = first(
                    statement,
                    "SELECT indisunique FROM pg_index WHERE indexrelid = '" + (found ? index : "pg_class_oid_index")
                            + "'::regclass");
            return new Evidence(
                    found
                            ? "the plan says \"Conflict Arbiter Indexes: " + index + "\", which is "
                                    + (unique.equals("t") ? "unique" : "not unique")
                            : "the plan names no index: " + plan,
                    found && unique.equals("t"));
        }
    }

    private static String first(Statement statement, String sql) throws SQLException {
        try (ResultSet row = statement.executeQuery(sql)) {
            return row.next() ? row.getString(1) : "";
        }
    }

    private static String all(Statement statement, String sql) throws SQLException {
        StringBuilder text = new StringBuilder();
        try (ResultSet row = statement.executeQuery(sql)) {
            while (row.next()) {
                text.append(row.getString(1)).append('\n');
            }
        }
        return text.toString();
    }
}
