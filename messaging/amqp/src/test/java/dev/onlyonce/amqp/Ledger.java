package dev.onlyonce.amqp;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.onlyonce.Onlyonce;
import dev.onlyonce.messages.ReceivedMessage;
import dev.onlyonce.sql.SqlStore;
import dev.onlyonce.testkit.messages.EffectTable;
import dev.onlyonce.testservers.DatabaseServer;
import dev.onlyonce.testservers.PostgresServer;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;

/** A database with the effects of messages. */
final class Ledger implements AutoCloseable {
    final HikariDataSource source;
    final Onlyonce once;
    final EffectTable table;

    Ledger() throws SQLException {
        this(PostgresServer.shared().createDatabase());
        EffectTable.create(source);
    }

    /** On a server that a test may kill. */
    static Ledger in(DatabaseServer server) throws SQLException {
        Ledger ledger = new Ledger(server.createDatabase());
        EffectTable.create(ledger.source);
        return ledger;
    }

    /** A database that has its table already. */
    Ledger(String url) {
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl(url);
        config.setMaximumPoolSize(8);
        source = new HikariDataSource(config);
        once = Onlyonce.builder(SqlStore.open(source)).build();
        table = new EffectTable(source);
    }

    String url() {
        return source.getJdbcUrl();
    }

    static String text(ReceivedMessage message) {
        return new String(message.body(), StandardCharsets.UTF_8);
    }

    static void write(Connection transaction, String body) throws SQLException {
        EffectTable.write(transaction, body);
    }

    /** The bodies that took effect, in their order. */
    List<String> effects() {
        return table.bodies();
    }

    @Override
    public void close() {
        once.close();
        source.close();
    }
}
