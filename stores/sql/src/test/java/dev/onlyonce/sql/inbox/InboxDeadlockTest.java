package dev.onlyonce.sql.inbox;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import dev.onlyonce.Onlyonce;
import dev.onlyonce.sql.SqlClock;
import dev.onlyonce.sql.SqlStore;
import dev.onlyonce.sql.TestDatabase;
import dev.onlyonce.sql.internal.connections.SqlDatabase;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

@DisplayName("A batch whose transaction the database rolls back")
class InboxDeadlockTest {
    /** The database ends the transaction that has changed less. */
    private static final int BALLAST = 500;

    @TempDir
    private static Path folder;

    @ParameterizedTest
    @EnumSource(names = {"POSTGRES", "MARIADB", "MYSQL"})
    @DisplayName("N4 because of a deadlock is applied: no neighbour of the victim is lost, and no try")
    void deadlock(TestDatabase database) throws Exception {
        try (HikariDataSource source = database.create(folder);
                SqlStore store = SqlStore.open(source);
                Onlyonce once = Onlyonce.builder(store).build()) {
            SqlClock.execute(source, "CREATE TABLE effect (id VARCHAR(50) PRIMARY KEY)");
            SqlClock.execute(source, "CREATE TABLE ballast (id INT PRIMARY KEY)");
            SqlClock.execute(source, "CREATE TABLE account (id INT PRIMARY KEY, balance INT NOT NULL)");
            SqlClock.execute(source, "INSERT INTO account (id, balance) VALUES (1, 0), (2, 0)");
            CountDownLatch hasFirst = new CountDownLatch(1);
            try (Connection other = source.getConnection()) {
                lockSecond(other, database);
                CompletableFuture<Void> wantsFirst = CompletableFuture.runAsync(() -> {
                    try {
                        hasFirst.await();
                        credit(other, 1);
                        other.rollback();
                    } catch (SQLException | InterruptedException e) {
                        throw new IllegalStateException(e);
                    }
                });
                AtomicInteger calls = new AtomicInteger();
                List<Applied> applied = Inbox.of(once)
                        .applyAll(List.of(
                                delivery("before", c -> write(c, "before")),
                                delivery("victim", c -> {
                                    int call = calls.incrementAndGet();
                                    if (call == 1) {
                                        throw new IllegalStateException("so all are applied one by one");
                                    }
                                    if (call == 2) {
                                        credit(c, 1);
                                        hasFirst.countDown();
                                        credit(c, 2);
                                    }
                                    write(c, "victim");
                                }),
                                delivery("after", c -> write(c, "after"))));
                wantsFirst.join();
                assertThat(effects(source)).as("%s", applied).containsExactlyInAnyOrder("before", "victim", "after");
                assertThat(applied).containsOnly(new Applied.Now());
                assertThat(calls).hasValue(3);
            }
        }
    }

    private static void lockSecond(Connection other, TestDatabase database) throws SQLException {
        other.setAutoCommit(false);
        try (Statement statement = other.createStatement()) {
            if (database.kind() == SqlDatabase.POSTGRESQL) {
                // The one that looks for a deadlock first is its victim.
                statement.execute("SET LOCAL deadlock_timeout = '5min'");
            }
            for (int i = 0; i < BALLAST; i++) {
                statement.addBatch("INSERT INTO ballast (id) VALUES (" + i + ")");
            }
            statement.executeBatch();
        }
        credit(other, 2);
    }

    private static InboxDelivery delivery(String id, Inbox.Effect<SQLException> effect) {
        return new InboxDelivery(new InboxMessage("topic", id), null, effect);
    }

    private static void credit(Connection connection, int account) throws SQLException {
        execute(connection, "UPDATE account SET balance = balance + 1 WHERE id = " + account);
    }

    private static void write(Connection connection, String id) throws SQLException {
        execute(connection, "INSERT INTO effect (id) VALUES ('" + id + "')");
    }

    private static void execute(Connection connection, String sql) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.executeUpdate(sql);
        }
    }

    private static List<String> effects(HikariDataSource source) throws SQLException {
        try (Connection connection = source.getConnection();
                Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery("SELECT id FROM effect")) {
            List<String> ids = new ArrayList<>();
            while (row.next()) {
                ids.add(row.getString(1));
            }
            return ids;
        }
    }
}
