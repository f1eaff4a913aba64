package dev.onlyonce.sql.internal.connections;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@DisplayName("A connection that prepares each text once")
class PreparedOnceTest {
    private static final String INSERT = "INSERT INTO t (a, b) VALUES (?, ?)";
    private static final String COUNT = "SELECT count(*) FROM t";

    @TempDir
    Path folder;

    private String url = "";
    private Connection connection;

    @BeforeEach
    void open() throws SQLException {
        url = "jdbc:sqlite:" + folder.resolve("test.db");
        connection = PreparedOnce.on(DriverManager.getConnection(url));
        execute(connection, "PRAGMA journal_mode = WAL");
        execute(connection, "CREATE TABLE t (a INTEGER PRIMARY KEY, b TEXT)");
    }

    @AfterEach
    void close() throws SQLException {
        connection.close();
    }

    private static void execute(Connection connection, String sql) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }

    private void insert(int a, String b) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(INSERT)) {
            statement.setInt(1, a);
            statement.setString(2, b);
            statement.executeUpdate();
        }
    }

    private int count() throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(COUNT);
                ResultSet row = statement.executeQuery()) {
            row.next();
            return row.getInt(1);
        }
    }

    @Test
    @DisplayName("does not carry parameters from one use to the next")
    void parameters() throws SQLException {
        insert(1, "first");
        try (PreparedStatement statement = connection.prepareStatement(INSERT)) {
            statement.setInt(1, 2);
            statement.executeUpdate();
        }
        try (PreparedStatement statement = connection.prepareStatement("SELECT b FROM t WHERE a = 2");
                ResultSet row = statement.executeQuery()) {
            assertThat(row.next()).isTrue();
            assertThat(row.getString(1)).isNull();
        }
    }

    @Test
    @DisplayName("goes on after a statement that failed")
    void failed() throws SQLException {
        insert(1, "first");
        for (int i = 0; i < 3; i++) {
            assertThatThrownBy(() -> insert(1, "again")).isInstanceOf(SQLException.class);
        }
        insert(2, "second");
        assertThat(count()).isEqualTo(2);
    }

    @Test
    @DisplayName("gives a text that is in use to nobody else")
    void nested() throws SQLException {
        insert(1, "first");
        insert(2, "second");
        String all = "SELECT a FROM t ORDER BY a";
        try (PreparedStatement outer = connection.prepareStatement(all);
                ResultSet row = outer.executeQuery()) {
            assertThat(row.next()).isTrue();
            try (PreparedStatement inner = connection.prepareStatement(all);
                    ResultSet other = inner.executeQuery()) {
                assertThat(other.next()).isTrue();
                assertThat(other.getInt(1)).isEqualTo(1);
            }
            assertThat(row.next()).isTrue();
            assertThat(row.getInt(1)).isEqualTo(2);
        }
        assertThat(count()).isEqualTo(2);
    }

    @Test
    @DisplayName("does not keep the database as it was when rows were left open")
    void leftOpen() throws SQLException {
        insert(1, "first");
        insert(2, "second");
        try (PreparedStatement statement = connection.prepareStatement("SELECT a FROM t")) {
            assertThat(statement.executeQuery().next()).isTrue();
        }
        try (PreparedStatement statement = connection.prepareStatement("SELECT b FROM t")) {
            assertThat(statement.execute()).as("rows that nobody asks for").isTrue();
        }
        try (Connection other = DriverManager.getConnection(url)) {
            execute(other, "INSERT INTO t (a, b) VALUES (3, 'by somebody else')");
        }
        assertThat(count()).isEqualTo(3);
        execute(connection, "PRAGMA wal_checkpoint(TRUNCATE)");
    }

    @Test
    @DisplayName("sees a table that somebody else has changed")
    void changedTable() throws SQLException {
        insert(1, "first");
        assertThat(count()).isEqualTo(1);
        try (Connection other = DriverManager.getConnection(url)) {
            execute(other, "ALTER TABLE t ADD COLUMN c TEXT");
        }
        insert(2, "second");
        assertThat(count()).isEqualTo(2);
    }

    @Test
    @DisplayName("writes no rows of a batch that somebody else began and gave up")
    void givenUpBatch() throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(INSERT)) {
            statement.setInt(1, 1);
            statement.setString(2, "of a request that failed");
            statement.addBatch();
        }
        try (PreparedStatement statement = connection.prepareStatement(INSERT)) {
            statement.setInt(1, 2);
            statement.setString(2, "second");
            statement.addBatch();
            assertThat(statement.executeBatch()).hasSize(1);
        }
        assertThat(count()).isEqualTo(1);
    }

    @Test
    @DisplayName("does not carry settings from one use to the next")
    void settings() throws SQLException {
        insert(1, "first");
        insert(2, "second");
        String all = "SELECT a FROM t ORDER BY a";
        try (PreparedStatement statement = connection.prepareStatement(all)) {
            statement.setMaxRows(1);
            try (ResultSet row = statement.executeQuery()) {
                assertThat(row.next()).isTrue();
                assertThat(row.next()).isFalse();
            }
        }
        try (PreparedStatement statement = connection.prepareStatement(all);
                ResultSet row = statement.executeQuery()) {
            assertThat(row.next()).isTrue();
            assertThat(row.next()).as("the second row").isTrue();
        }
    }

    @Test
    @DisplayName("keeps a bounded number of texts")
    void bounded() throws SQLException {
        for (int i = 0; i < 200; i++) {
            try (PreparedStatement statement = connection.prepareStatement("SELECT " + i);
                    ResultSet row = statement.executeQuery()) {
                row.next();
                assertThat(row.getInt(1)).isEqualTo(i);
            }
        }
        insert(1, "first");
        assertThat(count()).isEqualTo(1);
    }

    @Test
    @DisplayName("takes a statement that was closed behind it for closed")
    void closedBehind() throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(COUNT)) {
            statement.executeQuery().getStatement().close();
        }
        assertThat(count()).isZero();
    }

    @Test
    @DisplayName("refuses a statement after its end")
    void closed() throws SQLException {
        PreparedStatement statement = connection.prepareStatement(COUNT);
        statement.close();
        statement.close();
        assertThatThrownBy(statement::executeQuery).hasMessageContaining("closed");
    }

    @Test
    @DisplayName("begins, commits and rolls back transactions, one after the other")
    void transactions() throws SQLException {
        for (int i = 1; i <= 3; i++) {
            execute(connection, "BEGIN IMMEDIATE");
            insert(i, "kept");
            execute(connection, "COMMIT");
            execute(connection, "BEGIN IMMEDIATE");
            assertThatThrownBy(() -> execute(connection, "BEGIN IMMEDIATE")).isInstanceOf(SQLException.class);
            insert(-i, "given up");
            execute(connection, "ROLLBACK");
        }
        assertThatThrownBy(() -> execute(connection, "COMMIT")).isInstanceOf(SQLException.class);
        assertThat(count()).isEqualTo(3);
        try (Connection other = DriverManager.getConnection(url)) {
            execute(other, "BEGIN IMMEDIATE");
            execute(other, "COMMIT");
        }
    }
}
