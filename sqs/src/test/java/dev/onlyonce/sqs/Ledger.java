package dev.onlyonce.sqs;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.onlyonce.Onlyonce;
import dev.onlyonce.messages.ReceivedMessage;
import dev.onlyonce.sql.SqlStore;
import dev.onlyonce.testservers.DatabaseServer;
import dev.onlyonce.testservers.PostgresServer;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;

/** A database with effects of messages: a row for each effect, in the order in which they happened. */
final class Ledger implements AutoCloseable {
    final HikariDataSource source;
    final Onlyonce once;

    Ledger() throws SQLException {
        this(PostgresServer.shared().createDatabase());
        createTable();
    }

    /** On a server that a test may kill. */
    static Ledger in(DatabaseServer server) throws SQLException {
        Ledger ledger = new Ledger(server.createDatabase());
        ledger.createTable();
        return ledger;
    }

    private void createTable() throws SQLException {
        try (Connection connection = source.getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute(
                    "CREATE TABLE effect (seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, body text NOT NULL)");
        }
    }

    /** A database that has its table already. */
    Ledger(String url) {
        source = pool(url);
        once = Onlyonce.builder(SqlStore.open(source)).build();
    }

    static HikariDataSource pool(String url) {
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl(url);
        config.setMaximumPoolSize(8);
        return new HikariDataSource(config);
    }

    String url() {
        return source.getJdbcUrl();
    }

    static String text(ReceivedMessage message) {
        return new String(message.body(), StandardCharsets.UTF_8);
    }

    /** The effect of a message. */
    static void write(Connection transaction, String body) throws SQLException {
        try (PreparedStatement insert = transaction.prepareStatement("INSERT INTO effect (body) VALUES (?)")) {
            insert.setString(1, body);
            insert.executeUpdate();
        }
    }

    /** The bodies that took effect, in their order. */
    List<String> effects() {
        try (Connection connection = source.getConnection();
                Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery("SELECT body FROM effect ORDER BY seq")) {
            List<String> bodies = new ArrayList<>();
            while (row.next()) {
                bodies.add(row.getString(1));
            }
            return bodies;
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    @Override
    public void close() {
        once.close();
        source.close();
    }
}
