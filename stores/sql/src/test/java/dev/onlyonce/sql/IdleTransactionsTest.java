package dev.onlyonce.sql;

import static dev.onlyonce.sql.transactions.TransactionsChapter.REQUEST;
import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import dev.onlyonce.Codec;
import dev.onlyonce.Key;
import dev.onlyonce.Onlyonce;
import dev.onlyonce.sql.outbox.Delivery;
import dev.onlyonce.sql.outbox.Outbox;
import dev.onlyonce.sql.outbox.OutboxCall;
import dev.onlyonce.sql.steps.Steps;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import javax.sql.DataSource;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@DisplayName("On PostgreSQL, a node that stops just before a commit")
final class IdleTransactionsTest {
    @TempDir
    private Path folder;

    /** How long the server lets each transaction be idle, looked at before its commit. */
    private final List<String> bounds = new CopyOnWriteArrayList<>();

    @ParameterizedTest
    @ValueSource(strings = {"stringtype=varchar", "stringtype=unspecified"})
    @DisplayName("D22 holds the rows of steps, outbox and entries for a bounded time")
    void bounded(String setting) throws SQLException {
        try (HikariDataSource pool = Pools.open(TestDatabase.POSTGRES.url(folder) + "&" + setting, 8)) {
            SqlStore.open(pool).close();
            try (SqlStore store = SqlStore.open(watched(pool));
                    Onlyonce once = Onlyonce.builder(store).build()) {
                bounds.clear();
                Steps.of(once).execute(key("steps"), REQUEST, Codec.text(), steps -> {
                    steps.effect("effect", Codec.text(), downstream -> "done");
                    steps.repeatable("repeatable", Codec.text(), downstream -> "done");
                    return steps.local("local", Codec.text(), transaction -> {
                        look(transaction);
                        return "done";
                    });
                });
                assertThat(bounds).as("of steps").contains("1h", "1min").hasSizeGreaterThan(4);
                assertAllBounded();
                deliver(pool, once);
                assertThat(bounds).as("of the outbox").hasSizeGreaterThan(2);
                assertAllBounded();
                store.claim(Claims.claims("entry", 2));
                store.sweep(10);
                store.purge(10);
                store.checkWritable();
                assertThat(bounds).as("of entries").isNotEmpty();
                assertAllBounded();
            }
        }
    }

    private static Key key(String name) {
        return Key.of("tenant", "POST /" + name, name);
    }

    private static void deliver(DataSource pool, Onlyonce once) throws SQLException {
        Outbox outbox = Outbox.builder(once)
                .handler("charge", row -> new Delivery.Delivered("ch_1", new byte[0]))
                .build();
        try (Connection transaction = pool.getConnection()) {
            transaction.setAutoCommit(false);
            outbox.accept(transaction, key("outbox"), REQUEST, String.class, new OutboxCall("charge", new byte[] {1}));
            transaction.commit();
        }
        assertThat(outbox.deliverDue()).isEqualTo(1);
    }

    private void assertAllBounded() {
        assertThat(bounds).doesNotContain("0");
        bounds.clear();
    }

    private void look(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet row =
                        statement.executeQuery("SELECT current_setting('idle_in_transaction_session_timeout')")) {
            row.next();
            bounds.add(row.getString(1));
        }
    }

    private DataSource watched(DataSource real) {
        return Sources.of(() -> {
            Connection connection = real.getConnection();
            return Sources.proxy(Connection.class, (self, method, arguments) -> {
                if (method.getName().equals("commit")) {
                    look(connection);
                }
                Object answer = Sources.invoke(connection, method, arguments);
                return method.getName().equals("createStatement") ? watched(connection, (Statement) answer) : answer;
            });
        });
    }

    private Statement watched(Connection connection, Statement statement) {
        return Sources.proxy(Statement.class, (self, method, arguments) -> {
            if (method.getName().equals("execute") && "COMMIT".equals(arguments[0])) {
                look(connection);
            }
            return Sources.invoke(statement, method, arguments);
        });
    }
}
