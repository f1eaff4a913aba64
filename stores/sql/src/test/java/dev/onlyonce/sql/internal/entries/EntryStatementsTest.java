package dev.onlyonce.sql.internal.entries;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import dev.onlyonce.sql.SqlStore;
import dev.onlyonce.sql.TestDatabase;
import dev.onlyonce.sql.internal.connections.SqlDatabase;
import dev.onlyonce.sql.schema.Schema;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Map;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

@DisplayName("The statements that the command line prints")
final class EntryStatementsTest {
    @TempDir
    private Path folder;

    @ParameterizedTest
    @EnumSource(names = {"POSTGRES", "MARIADB", "MYSQL", "SQLITE", "H2"})
    @DisplayName("O1 can be prepared by the database as they are")
    void prepared(TestDatabase kind) throws SQLException {
        try (HikariDataSource dataSource = kind.create(folder);
                SqlStore store = SqlStore.open(dataSource);
                Connection connection = dataSource.getConnection()) {
            assertThat(store.schema().status().isCurrent()).isTrue();
            for (Map.Entry<String, String> statement :
                    EntryStatements.of(kind.kind()).entrySet()) {
                try (PreparedStatement prepared = connection.prepareStatement(statement.getValue())) {
                    assertThat(prepared.getParameterMetaData().getParameterCount())
                            .as(statement.getKey())
                            .isNotNegative();
                }
            }
        }
    }

    @Test
    @DisplayName("O1 have numbered parameters on PostgreSQL, and can be pasted there")
    void pasted() throws SQLException {
        String printed = Schema.statements("postgresql");
        try (HikariDataSource dataSource = TestDatabase.POSTGRES.create(folder);
                SqlStore store = SqlStore.open(dataSource);
                Connection connection = dataSource.getConnection();
                Statement statement = connection.createStatement()) {
            assertThat(store.isSealing()).isFalse();
            int number = 0;
            for (String sql : printed.split(";\n\n")) {
                String text = sql.substring(sql.indexOf('\n') + 1);
                assertThat(text).doesNotContain("?");
                statement.execute("PREPARE pasted" + ++number + " AS " + text);
            }
            assertThat(number)
                    .isEqualTo(EntryStatements.of(SqlDatabase.POSTGRESQL).size());
        }
    }
}
