package dev.onlyonce.sql.internal.entries;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import dev.onlyonce.sql.Claims;
import dev.onlyonce.sql.SqlClock;
import dev.onlyonce.sql.SqlStore;
import dev.onlyonce.sql.TestDatabase;
import dev.onlyonce.sql.internal.connections.SqlDatabase;
import dev.onlyonce.store.AuditLevel;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@DisplayName("Plans in H2")
final class H2PlanTest {
    @TempDir
    static Path folder;

    private static HikariDataSource dataSource;

    @BeforeAll
    static void fill() {
        dataSource = TestDatabase.H2.create(folder);
        SqlStore store = SqlStore.open(dataSource);
        for (int i = 0; i < 5; i++) {
            store.claim(Claims.claims("key" + i + "-", 200));
        }
        SqlClock.execute(dataSource, "ANALYZE");
    }

    @AfterAll
    static void close() {
        dataSource.close();
    }

    @ParameterizedTest
    @CsvSource({
        "FIND, primary_key",
        "LOCK, primary_key",
        "SEEN, primary_key",
    })
    @DisplayName("C2 T3 look entries up by an index, and stop at their limit in its order")
    void indexed(String statement, String index) throws Exception {
        checkIndexed((String) H2Statements.class.getDeclaredField(statement).get(null), index);
    }

    @Test
    @DisplayName("C2 T3 what sweeps, purges and operators send goes by an index, and stops at its limit in its order")
    void changesIndexed() throws Exception {
        checkIndexed(Sweep.CHUNK, "onlyonce_entry_lease");
        checkIndexed(Sweep.LAPSED, "onlyonce_entry_lease");
        for (Map.Entry<String, String> change :
                new ChangeTexts(SqlDatabase.H2).all().entrySet()) {
            switch (change.getKey()) {
                case "change: audit" -> {}
                case "purge: lock what is due" -> checkIndexed(change.getValue(), "onlyonce_entry_reap");
                default -> checkIndexed(change.getValue(), "primary_key");
            }
        }
    }

    private static void checkIndexed(String sql, String index) throws SQLException {
        String plan = plan(new H2(Optional.empty(), AuditLevel.ALL, Optional.empty()).sql(sql));
        assertThat(plan).as(sql).contains("public." + index).doesNotContain("onlyonce_entry.tablescan");
        if (sql.contains("ORDER BY")) {
            assertThat(plan).contains("index sorted");
        }
    }

    @Test
    @DisplayName("T3 D11 a purge locks no more rows than it looks at: other nodes find theirs")
    void locksFew() throws Exception {
        SqlClock.execute(dataSource, "UPDATE onlyonce_entry SET reap_at = 1 WHERE fingerprint_version > 0");
        H2Queries queries = new H2Queries(new StatementTexts(H2Statements.CLOCK, H2Statements.CLOCK, sql -> sql));
        String due = new ChangeTexts(SqlDatabase.H2).due();
        try (Connection first = dataSource.getConnection();
                Connection second = dataSource.getConnection()) {
            first.setAutoCommit(false);
            second.setAutoCommit(false);
            assertThat(queries.all(first, due, Binding.longs(300), row -> true)).hasSize(300);
            assertThat(queries.all(second, due, Binding.longs(1000), row -> true))
                    .hasSize(700);
            first.rollback();
            second.rollback();
        }
    }

    private static String plan(String sql) throws SQLException {
        try (Connection connection = dataSource.getConnection();
                PreparedStatement explain = connection.prepareStatement("EXPLAIN " + sql)) {
            int parameters = explain.getParameterMetaData().getParameterCount();
            for (int i = 1; i <= parameters; i++) {
                explain.setObject(i, parameters >= 3 && !sql.contains("LIMIT") ? new byte[] {1} : 1L);
            }
            try (ResultSet row = explain.executeQuery()) {
                row.next();
                return row.getString(1).toLowerCase(Locale.ROOT).replace("\"", "");
            }
        }
    }
}
