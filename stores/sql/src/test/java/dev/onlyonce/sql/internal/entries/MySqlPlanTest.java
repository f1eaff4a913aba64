package dev.onlyonce.sql.internal.entries;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import dev.onlyonce.sql.Claims;
import dev.onlyonce.sql.SqlStore;
import dev.onlyonce.sql.TestDatabase;
import dev.onlyonce.sql.internal.connections.SqlDatabase;
import dev.onlyonce.store.AuditLevel;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

@DisplayName("Plans in MySQL and MariaDB")
final class MySqlPlanTest {
    private static final List<String> BY_KEY = List.of("FIND", "SEEN", "STANDING", "LOCK_HELD", "RENEW");

    @TempDir
    private Path folder;

    @ParameterizedTest
    @EnumSource(names = {"MARIADB", "MYSQL"})
    @DisplayName("C2 D11 look entries up by their key, in a table of few rows too: a scan would lock rows of others")
    void byKey(TestDatabase database) throws Exception {
        try (HikariDataSource dataSource = database.create(folder);
                SqlStore store = SqlStore.open(dataSource);
                Connection connection = dataSource.getConnection()) {
            store.claim(Claims.claims("key", 5));
            for (String statement : BY_KEY) {
                String sql = (String)
                        MySqlStatements.class.getDeclaredField(statement).get(null);
                assertThat(plan(connection, sql)).as(statement).singleElement().isEqualTo("eq_ref PRIMARY");
            }
            for (Map.Entry<String, String> change :
                    new ChangeTexts(SqlDatabase.MYSQL).all().entrySet()) {
                switch (change.getKey()) {
                    case "change: audit", "purge: lock what is due" -> {}
                    case "change: result" ->
                        assertThat(plan(connection, change.getValue())).containsExactly("range PRIMARY");
                    default ->
                        assertThat(plan(connection, change.getValue()))
                                .as(change.getKey())
                                .singleElement()
                                .isEqualTo("eq_ref PRIMARY");
                }
            }
            store.claim(Claims.claims("more", 500));
            try (PreparedStatement analyze = connection.prepareStatement("ANALYZE TABLE onlyonce_entry")) {
                analyze.execute();
            }
            assertThat(plan(connection, Sweep.CHUNK)).as("CHUNK").allMatch(p -> p.endsWith("onlyonce_entry_lease"));
            assertThat(plan(connection, Sweep.LAPSED)).as("LAPSED").containsExactly("range onlyonce_entry_lease");
            assertThat(plan(connection, new ChangeTexts(SqlDatabase.MYSQL).due()))
                    .containsExactly("range onlyonce_entry_reap");
        }
    }

    /** How a statement for three rows reads the entries: the kind of access, and the index. */
    private static List<String> plan(Connection connection, String text) throws Exception {
        String sql = new MySql(Optional.empty(), AuditLevel.ALL).sql(text).replace("LIMIT ?", "LIMIT 10");
        try (PreparedStatement explain = connection.prepareStatement("EXPLAIN " + EachRow.repeat(sql, 3))) {
            int parameters =
                    (int) EachRow.repeat(sql, 3).chars().filter(c -> c == '?').count();
            boolean range = sql.contains("lease_until > ?");
            for (int i = 1; i <= parameters; i++) {
                // A range that is not empty, or a state: else there would be nothing to plan.
                String value = range ? "9".repeat(10 + i) : "2";
                explain.setString(i, value);
            }
            return read(explain);
        }
    }

    private static List<String> read(PreparedStatement explain) throws SQLException {
        List<String> plan = new ArrayList<>();
        List<String> all = new ArrayList<>();
        try (ResultSet row = explain.executeQuery()) {
            while (row.next()) {
                String table = String.valueOf(row.getString("table"));
                all.add(table + " " + row.getString("type") + " " + row.getString("Extra"));
                if (table.equals("e") || table.equals("onlyonce_entry")) {
                    plan.add(row.getString("type") + " " + row.getString("key"));
                }
            }
        }
        assertThat(plan).as("in %s", all).isNotEmpty();
        return plan;
    }
}
