package dev.onlyonce.client.journal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onlyonce.client.Journal;
import dev.onlyonce.client.JournalException;
import java.io.PrintWriter;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicReference;
import java.util.logging.Logger;
import javax.sql.DataSource;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** What every journal in a database keeps beyond that. */
abstract class JdbcJournalContract extends JournalContract {
    /** The JDBC URL of an empty database, the same for the whole test. */
    abstract String url();

    @Override
    Journal open() {
        return journal();
    }

    @Override
    void clear() throws SQLException {
        try (Connection connection = DriverManager.getConnection(url());
                Statement statement = connection.createStatement()) {
            statement.execute("DROP TABLE IF EXISTS onlyonce_client_call");
            statement.execute("DROP TABLE IF EXISTS orders");
        }
    }

    final JdbcJournal journal() {
        return JdbcJournal.open(new DriverSource(url()), Duration.ofDays(30), time);
    }

    @Test
    @DisplayName("X1 a call commits with the transaction that decides on it, and is rolled back with it")
    void transaction() throws SQLException {
        JdbcJournal journal = journal();
        try (Connection connection = DriverManager.getConnection(url());
                Statement statement = connection.createStatement()) {
            statement.execute("CREATE TABLE orders (id INT)");
            connection.setAutoCommit(false);
            statement.execute("INSERT INTO orders VALUES (1)");
            assertThat(journal.begin(connection, call("order-1", "key-1", null)))
                    .isEmpty();
            connection.rollback();
            assertThat(journal.find("order-1")).isEmpty();

            statement.execute("INSERT INTO orders VALUES (2)");
            assertThat(journal.begin(connection, call("order-2", "key-2", null)))
                    .isEmpty();
            // A duplicate leaves the transaction usable.
            assertThat(journal.begin(connection, call("order-2", "key-3", null))
                            .orElseThrow()
                            .key())
                    .isEqualTo("key-2");
            statement.execute("INSERT INTO orders VALUES (3)");
            connection.commit();
            assertThat(journal.pending()).containsExactly("order-2");
            assertThat(journal.find("order-2").orElseThrow().progress().sentAt())
                    .isNull();
        }
    }

    @Test
    @DisplayName("a transaction that the DataSource hands out is refused, and not committed")
    void joined() throws SQLException {
        AtomicReference<Connection> current = new AtomicReference<>();
        DataSource joining = (DataSource) Proxy.newProxyInstance(
                DataSource.class.getClassLoader(), new Class<?>[] {DataSource.class}, (proxy, method, arguments) -> {
                    Connection running = current.get();
                    return running == null ? DriverManager.getConnection(url()) : running;
                });
        JdbcJournal journal = JdbcJournal.open(joining);
        try (Connection connection = DriverManager.getConnection(url());
                Statement statement = connection.createStatement()) {
            statement.execute("CREATE TABLE orders (id INT)");
            connection.setAutoCommit(false);
            statement.execute("INSERT INTO orders VALUES (1)");
            current.set(connection);
            assertThatThrownBy(() -> journal.begin(call("order-1", "key-1", null)))
                    .isInstanceOf(JournalException.class)
                    .hasMessageContaining("begin(Connection, JournaledCall)");
        }
        try (Connection connection = DriverManager.getConnection(url());
                Statement statement = connection.createStatement();
                ResultSet orders = statement.executeQuery("SELECT id FROM orders")) {
            assertThat(orders.next()).isFalse();
        }
    }

    @Test
    @DisplayName("X4 a key that was changed in the database is not sent")
    void changed() throws SQLException {
        JdbcJournal journal = journal();
        journal.begin(call("order-1", "key-1", NOW));
        try (Connection connection = DriverManager.getConnection(url());
                Statement statement = connection.createStatement()) {
            statement.execute("UPDATE onlyonce_client_call SET idempotency_key = 'key-2'");
        }
        assertThatThrownBy(() -> journal.find("order-1"))
                .isInstanceOf(JournalException.class)
                .hasMessageContaining("damaged");
        assertThatThrownBy(() -> journal.begin(call("order-1", "key-3", NOW))).isInstanceOf(JournalException.class);
    }

    /** Connections of the driver, as they come. */
    record DriverSource(String url) implements DataSource {
        @Override
        public Connection getConnection() throws SQLException {
            return DriverManager.getConnection(url);
        }

        @Override
        public Connection getConnection(String user, String password) throws SQLException {
            return getConnection();
        }

        @Override
        public PrintWriter getLogWriter() {
            throw new UnsupportedOperationException();
        }

        @Override
        public void setLogWriter(PrintWriter out) {}

        @Override
        public void setLoginTimeout(int seconds) {}

        @Override
        public int getLoginTimeout() {
            return 0;
        }

        @Override
        public Logger getParentLogger() {
            return Logger.getGlobal();
        }

        @Override
        public <T> T unwrap(Class<T> type) throws SQLException {
            throw new SQLException("not wrapped");
        }

        @Override
        public boolean isWrapperFor(Class<?> type) {
            return false;
        }
    }
}
