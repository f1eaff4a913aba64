package dev.onlyonce.testservers;

import static java.util.concurrent.TimeUnit.MILLISECONDS;
import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("The network between client and server")
class ScriptedNetworkTest {
    private String direct;
    private ScriptedNetwork proxy;
    private Connection connection;
    private Statement statement;

    @BeforeEach
    void connect() throws SQLException {
        direct = PostgresServer.shared().createDatabase();
        DatabaseServerContract.execute(direct, "CREATE TABLE t (a INT PRIMARY KEY)");
        proxy = ScriptedNetwork.to(direct);
        connection = DriverManager.getConnection(proxy.through(direct));
        connection.setAutoCommit(false);
        statement = connection.createStatement();
    }

    @AfterEach
    void close() {
        proxy.close();
    }

    @Test
    @DisplayName("passes everything on when nothing is asked of it")
    void passes() throws SQLException {
        statement.execute("INSERT INTO t SELECT generate_series(1, 100000)");
        connection.commit();
        assertThat(rows()).isEqualTo("100000");
        assertThat(proxy.connections()).isEqualTo(1);
        connection.close();
    }

    @Test
    @DisplayName("cuts before the answer to a commit: the client fails, the rows are there")
    void lostAcknowledgement() throws SQLException {
        statement.execute("INSERT INTO t VALUES (1)");
        proxy.cutBeforeAnswer(1);
        assertThatThrownBy(connection::commit).isInstanceOf(SQLException.class);
        assertThat(rows()).isEqualTo("1");
        assertThat(DatabaseServerContract.query(proxy.through(direct), "SELECT 1"))
                .isEqualTo("1");
    }

    @Test
    @DisplayName("cuts before a commit arrives: the client fails, no rows are there")
    void lostRequest() throws SQLException {
        statement.execute("INSERT INTO t VALUES (1)");
        proxy.cutBeforeRequest(2);
        statement.execute("INSERT INTO t VALUES (2)");
        assertThatThrownBy(connection::commit).isInstanceOf(SQLException.class);
        assertThat(rows()).isEqualTo("0");
    }

    @Test
    @DisplayName("frozen, holds a commit back until it is healed")
    void frozen() throws Exception {
        statement.execute("INSERT INTO t VALUES (1)");
        proxy.freeze();
        CompletableFuture<Void> commit = CompletableFuture.runAsync(this::commit);
        assertThatThrownBy(() -> commit.get(200, MILLISECONDS)).isInstanceOf(TimeoutException.class);
        assertThat(rows()).isEqualTo("0");
        proxy.heal();
        commit.get(60, SECONDS);
        assertThat(rows()).isEqualTo("1");
    }

    @Test
    @DisplayName("cut while frozen, fails the waiting client at once")
    void cutWhileFrozen() throws Exception {
        proxy.freeze();
        CompletableFuture<Void> waiting = CompletableFuture.runAsync(() -> commitAfter("INSERT INTO t VALUES (1)"));
        assertThatThrownBy(() -> waiting.get(200, MILLISECONDS)).isInstanceOf(TimeoutException.class);
        proxy.cut();
        assertThatThrownBy(() -> waiting.get(60, SECONDS)).hasRootCauseInstanceOf(IOException.class);
        assertThat(rows()).isEqualTo("0");
    }

    @Test
    @DisplayName("down, refuses new connections until it is healed")
    void down() throws SQLException {
        proxy.down();
        assertThatThrownBy(() -> statement.execute("SELECT 1")).isInstanceOf(SQLException.class);
        assertThatThrownBy(
                        () -> DriverManager.getConnection(proxy.through(direct)).close())
                .isInstanceOf(SQLException.class);
        proxy.heal();
        assertThat(DatabaseServerContract.query(proxy.through(direct), "SELECT 1"))
                .isEqualTo("1");
    }

    @Test
    @DisplayName("slow, takes at least the delay in each direction")
    void delayed() throws SQLException {
        proxy.delay(Duration.ofMillis(60));
        long start = System.nanoTime();
        statement.execute("SELECT 1");
        assertThat(Duration.ofNanos(System.nanoTime() - start)).isGreaterThanOrEqualTo(Duration.ofMillis(120));
    }

    private String rows() throws SQLException {
        return DatabaseServerContract.query(direct, "SELECT count(*) FROM t");
    }

    private void commit() {
        try {
            connection.commit();
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    private void commitAfter(String sql) {
        try {
            statement.execute(sql);
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
        commit();
    }
}
