package dev.onlyonce.sql;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariDataSource;
import dev.onlyonce.store.ClaimRequest;
import dev.onlyonce.store.ClaimResult;
import dev.onlyonce.store.Entry;
import dev.onlyonce.store.RenewResult;
import dev.onlyonce.store.Renewal;
import dev.onlyonce.store.SettleResult;
import dev.onlyonce.store.State;
import dev.onlyonce.store.StoreOutcomeUnknown;
import dev.onlyonce.testservers.MySqlServer;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import javax.sql.DataSource;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The contract runs with each server's own driver; here are the other one and settings that people have. */
@DisplayName("MySQL, with the drivers and settings that people have:")
final class MySqlDriversTest {
    private static final String MARIADB = "jdbc:mariadb:";

    @ParameterizedTest
    @ValueSource(
            strings = {
                "mysql &rewriteBatchedStatements=true&useServerPrepStmts=true&cachePrepStmts=true",
                "mysql &useAffectedRows=true",
                "mysql &sessionVariables=sql_mode='ANSI'",
                "mysql &sessionVariables=sql_mode='NO_BACKSLASH_ESCAPES,ANSI_QUOTES'",
                "mysql &sessionVariables=sql_mode=''",
                "mysql &sessionVariables=autocommit=0",
                "mysql &connectionCollation=utf8mb4_0900_ai_ci&connectionTimeZone=Asia/Kathmandu",
                "mysql &sessionVariables=transaction_isolation='READ-COMMITTED'",
                "mariadb ",
                "mariadb &useServerPrepStmts=true",
                "mariadb &useAffectedRows=true&sessionVariables=sql_mode='NO_BACKSLASH_ESCAPES'"
            })
    @DisplayName("C1 D11 R1 the store works, compares keys byte for byte, and does not wait for locks for long")
    void works(String setting) throws SQLException {
        try (HikariDataSource pool = pool(setting);
                SqlStore store = SqlStore.open(pool)) {
            for (int i = 1; i < 8; i++) {
                assertThat(Claims.won(store.claim(Claims.claims("other" + i + "-", i))))
                        .isEqualTo(i);
            }
            List<ClaimRequest> alike = List.of("key", "KEY", "k\u00e9y", "key ", "k'e\"y\\", "k\\'y").stream()
                    .map(Claims::claim)
                    .toList();
            assertThat(Claims.won(store.claim(alike))).isEqualTo(alike.size());
            ClaimRequest first = alike.get(0);
            assertThat(store.claim(List.of(first))).as("repeated").containsExactly(new ClaimResult.Claimed(1));
            assertThat(store.renew(List.of(new Renewal(first.id(), first.token(), Claims.LEASE))))
                    .containsExactly(RenewResult.RENEWED);
            try (Connection foreign = lock(pool)) {
                long begun = System.nanoTime();
                List<SettleResult> settled = store.settle(Claims.complete(alike));
                assertThat(settled.get(0)).isInstanceOf(SettleResult.Busy.class);
                assertThat(settled.subList(1, alike.size()))
                        .allSatisfy(s -> assertThat(s).isInstanceOf(SettleResult.Settled.class));
                assertThat(Duration.ofNanos(System.nanoTime() - begun)).isLessThan(Duration.ofSeconds(4));
                foreign.rollback();
            }
            assertThat(store.settle(Claims.complete(List.of(first))).get(0)).isInstanceOf(SettleResult.Settled.class);
            Entry entry = store.find(List.of(first.id())).get(0).orElseThrow();
            assertThat(entry.state()).isEqualTo(State.COMPLETED);
            assertThat(entry.result()).isEqualTo("result".getBytes(StandardCharsets.UTF_8));
            assertThat(store.evict(first.id(), "alice", "it's \\ \"42\"")).isPresent();
        }
    }

    private static HikariDataSource pool(String setting) {
        String[] parts = setting.split(" ", 2);
        String url = MySqlServer.shared().createDatabase() + parts[1];
        return Pools.open(parts[0].equals("mariadb") ? url.replaceFirst("^jdbc:mysql:", MARIADB) : url, 4);
    }

    private static Connection lock(DataSource pool) throws SQLException {
        Connection foreign = pool.getConnection();
        foreign.setAutoCommit(false);
        try (Statement statement = foreign.createStatement()) {
            statement.execute("SELECT * FROM onlyonce_entry WHERE"
                    + TestDatabase.key(TestDatabase.MYSQL.kind(), "tenant", "key")
                    + "FOR UPDATE");
        }
        return foreign;
    }

    @ParameterizedTest
    @ValueSource(strings = {"mysql ", "mariadb "})
    @DisplayName("C5 a connection that is killed while it commits leaves the outcome unknown, and repeating tells")
    void killedConnection(String driver) throws SQLException {
        try (HikariDataSource pool = pool(driver);
                SqlStore witness = SqlStore.open(pool)) {
            AtomicBoolean kills = new AtomicBoolean();
            DataSource killed = Sources.of(() -> {
                Connection connection = pool.getConnection();
                return Sources.proxy(Connection.class, (self, method, arguments) -> {
                    Object answer = Sources.invoke(connection, method, arguments);
                    if (method.getName().equals("createStatement") && answer instanceof Statement statement) {
                        return Sources.proxy(Statement.class, (of, call, values) -> {
                            boolean commits = values != null && values.length > 0 && "COMMIT".equals(values[0]);
                            if (commits && kills.getAndSet(false)) {
                                kill(pool, connection);
                            }
                            return Sources.invoke(statement, call, values);
                        });
                    }
                    return answer;
                });
            });
            SqlStore store = SqlStore.open(killed);
            List<ClaimRequest> claims = Claims.claims("key", 2);
            kills.set(true);
            assertThatThrownBy(() -> store.claim(claims)).isInstanceOf(StoreOutcomeUnknown.class);
            assertThat(witness.find(List.of(claims.get(0).id())).get(0)).isEmpty();
            assertThat(Claims.won(store.claim(claims))).isEqualTo(2);
        }
    }

    private static void kill(DataSource pool, Connection victim) throws SQLException {
        long id;
        try (Statement statement = victim.createStatement();
                ResultSet row = statement.executeQuery("SELECT CONNECTION_ID()")) {
            row.next();
            id = row.getLong(1);
        }
        SqlClock.execute(pool, "KILL " + id);
    }
}
