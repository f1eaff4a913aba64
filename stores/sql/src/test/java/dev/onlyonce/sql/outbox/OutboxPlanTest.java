package dev.onlyonce.sql.outbox;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import dev.onlyonce.sql.SqlClock;
import dev.onlyonce.sql.SqlStore;
import dev.onlyonce.sql.TestDatabase;
import dev.onlyonce.sql.internal.connections.SqlDatabase;
import dev.onlyonce.sql.internal.entries.Columns;
import dev.onlyonce.sql.internal.entries.EachRow;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Locale;
import java.util.StringJoiner;
import javax.sql.DataSource;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

@DisplayName("Plans of the outbox")
final class OutboxPlanTest {
    private static final int ROWS = 3_000;
    private static final String INDEX = "onlyonce_outbox_order";

    @TempDir
    private Path folder;

    @ParameterizedTest
    @EnumSource
    @DisplayName("C2 D11 look lines up by their index, also when almost all rows are in one line")
    void byIndex(TestDatabase database) throws Exception {
        SqlDatabase kind = database.kind();
        OutboxStatements statements = OutboxStatements.of(kind);
        try (HikariDataSource dataSource = database.create(folder)) {
            SqlStore.open(dataSource).close();
            fill(dataSource, kind);
            SqlClock.execute(
                    dataSource,
                    switch (kind) {
                        case MYSQL -> "ANALYZE TABLE onlyonce_outbox";
                        case POSTGRESQL -> "VACUUM ANALYZE onlyonce_outbox";
                        case SQLITE, H2 -> "ANALYZE";
                    });
            try (Connection connection = dataSource.getConnection()) {
                for (String sql : new String[] {statements.notFirst(), statements.firstInLine()}) {
                    String plan = plan(connection, kind, sql);
                    assertThat(plan)
                            .as(sql)
                            .contains(INDEX)
                            .doesNotContain("seq scan", "tablescan", "scan e", "filesort", "temp b-tree");
                    if (kind == SqlDatabase.POSTGRESQL) {
                        assertThat(plan.replace("index scan using onlyonce_outbox_pkey on onlyonce_outbox o", "")
                                        .replace("index scan using onlyonce_entry_pkey on onlyonce_entry n", ""))
                                .as("earlier rows are not searched by their number")
                                .doesNotContain("pkey", "sort", "hash", "merge");
                    }
                }
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("W8 look due rows up by their topic: those of another one are not in the way")
    void byTopic(TestDatabase database) throws Exception {
        SqlDatabase kind = database.kind();
        try (HikariDataSource dataSource = database.create(folder)) {
            SqlStore.open(dataSource).close();
            fill(dataSource, kind);
            try (Connection connection = dataSource.getConnection()) {
                assertThat(plan(connection, kind, OutboxStatements.of(kind).due()))
                        .contains("onlyonce_outbox_topic")
                        .doesNotContain("seq scan", "tablescan", "scan e", "filesort", "temp b-tree");
            }
        }
    }

    private static void fill(DataSource dataSource, SqlDatabase kind) throws SQLException {
        Columns columns = Columns.of(kind);
        try (Connection connection = dataSource.getConnection();
                PreparedStatement insert = connection.prepareStatement("""
                        INSERT INTO onlyonce_outbox (tenant, space, key_, operation, entry_created_at, topic, payload, due_at,
                                                     order_key)
                        VALUES (?, ?, ?, ?, ?, ?, ?, 1, ?)""")) {
            connection.setAutoCommit(false);
            for (int i = 0; i < ROWS; i++) {
                columns.text(insert, 1, "tenant");
                columns.text(insert, 2, "");
                columns.text(insert, 3, "key-" + i);
                columns.text(insert, 4, "publish");
                insert.setLong(5, i);
                columns.text(insert, 6, "kafka");
                insert.setBytes(7, new byte[100]);
                columns.text(insert, 8, i % 100 == 0 ? "key-" + i : "busy");
                insert.addBatch();
            }
            insert.executeBatch();
            connection.commit();
            connection.setAutoCommit(true);
        }
    }

    private static String plan(Connection connection, SqlDatabase kind, String sql) throws SQLException {
        String explain = (kind == SqlDatabase.SQLITE ? "EXPLAIN QUERY PLAN " : "EXPLAIN ") + EachRow.repeat(sql, 3);
        try (Statement settings = connection.createStatement();
                PreparedStatement statement = connection.prepareStatement(explain)) {
            if (kind == SqlDatabase.POSTGRESQL) {
                settings.execute("SET enable_seqscan = off");
            }
            bind(statement, kind, explain);
            StringJoiner plan = new StringJoiner("\n");
            try (ResultSet row = statement.executeQuery()) {
                int width = row.getMetaData().getColumnCount();
                while (row.next()) {
                    for (int i = 1; i <= width; i++) {
                        plan.add(String.valueOf(row.getString(i)));
                    }
                }
            }
            return plan.toString().toLowerCase(Locale.ROOT).replace("\"", "");
        }
    }

    /** Numbers for ids, texts for a line. */
    private static void bind(PreparedStatement statement, SqlDatabase kind, String sql) throws SQLException {
        boolean line = sql.contains("tenant = ?") || sql.contains("unnest");
        int parameters = (int) sql.chars().filter(c -> c == '?').count();
        for (int i = 1; i <= parameters; i++) {
            if (sql.contains("topic = ?") && !line) {
                Columns.of(kind).text(statement, i, "silent");
            } else if (kind == SqlDatabase.POSTGRESQL) {
                Object[] values = line ? new String[] {"kafka", "busy"} : new Long[] {7L, 8L, 9L};
                statement.setArray(i, statement.getConnection().createArrayOf(line ? "text" : "bigint", values));
            } else if (line) {
                Columns.of(kind).text(statement, i, "busy");
            } else {
                statement.setLong(i, i + 6);
            }
        }
    }
}
