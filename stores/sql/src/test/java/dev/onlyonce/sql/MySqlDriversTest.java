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
import dev.onlyonce.store.Settlement;
import dev.onlyonce.store.State;
import dev.onlyonce.store.StoreOutcomeUnknown;
import dev.onlyonce.store.StoreRejected;
import dev.onlyonce.testservers.MariaDbServer;
import dev.onlyonce.testservers.MySqlServer;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.atomic.AtomicBoolean;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The contract runs with each server's own driver; here are the other one and settings that people have. */
@DisplayName("MySQL, with the drivers and settings that people have:")
final class MySqlDriversTest {
    private static final String MARIADB = "jdbc:mariadb:";
    /** The size of no result. */
    private static final int NONE = -1;

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
                List<ClaimRequest> claims = Claims.claims("other" + i + "-", i);
                assertThat(Claims.won(store.claim(claims))).isEqualTo(i);
                List<SettleResult> settled = store.settle(Claims.complete(claims));
                assertThat(store.find(claims.stream().map(ClaimRequest::id).toList()))
                        .extracting(Optional::orElseThrow)
                        .extracting(e -> (SettleResult) new SettleResult.Settled(e.settledAt(), e.expiresAt()))
                        .isEqualTo(settled);
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

    @ParameterizedTest
    @ValueSource(
            strings = {
                "mysql ",
                "mysql &useServerPrepStmts=true&cachePrepStmts=true&prepStmtCacheSqlLimit=65536",
                "mariadb ",
                "mariadb &useServerPrepStmts=true",
                "own "
            })
    @DisplayName(
            "R1 results of all sizes in one batch come back byte for byte, also from a statement that had small ones")
    void results(String setting) {
        try (HikariDataSource pool = pool(setting);
                SqlStore store = SqlStore.open(pool)) {
            Random random = new Random(1);
            List<List<Integer>> sizes = List.of(
                    List.of(0, NONE, 1, 10, 100),
                    List.of(70_000, 0, NONE, 65_535, 65_536),
                    List.of(2 << 20, 5, NONE, 0, 1 << 20),
                    List.of(NONE, NONE, NONE, NONE, NONE),
                    List.of(1, 0, 255, 256, 257));
            for (int round = 0; round < sizes.size(); round++) {
                List<ClaimRequest> claims = Claims.claims("key" + round + "-", 5);
                assertThat(Claims.won(store.claim(claims))).isEqualTo(claims.size());
                List<Settlement> settlements = new ArrayList<>();
                for (int i = 0; i < claims.size(); i++) {
                    byte[] result = bytes(random, sizes.get(round).get(i));
                    ClaimRequest claim = claims.get(i);
                    settlements.add(new Settlement(claim.id(), claim.token(), State.COMPLETED, result, "test"));
                }
                assertThat(store.settle(settlements))
                        .allSatisfy(s -> assertThat(s).isInstanceOf(SettleResult.Settled.class));
                for (Settlement settlement : settlements) {
                    assertThat(store.find(List.of(settlement.id()))
                                    .get(0)
                                    .orElseThrow()
                                    .result())
                            .isEqualTo(settlement.result());
                }
            }
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"mysql &maxAllowedPacket=1048576", "mariadb &maxAllowedPacket=1048576"})
    @DisplayName("R8 a result that is too large for the driver is refused for good, and nothing is changed")
    void tooLarge(String setting) {
        try (HikariDataSource pool = pool(setting);
                SqlStore store = SqlStore.open(pool)) {
            ClaimRequest claim = Claims.claim("key");
            store.claim(List.of(claim));
            List<Settlement> large =
                    List.of(new Settlement(claim.id(), claim.token(), State.COMPLETED, new byte[2 << 20], "too large"));
            assertThatThrownBy(() -> store.settle(large)).isInstanceOf(StoreRejected.class);
            assertThat(store.settle(Claims.complete(List.of(claim))).get(0)).isInstanceOf(SettleResult.Settled.class);
        }
    }

    /** Ends with what a comparison of texts would not see. */
    private static byte @Nullable [] bytes(Random random, int size) {
        if (size == NONE) {
            return null;
        }
        byte[] bytes = new byte[size];
        random.nextBytes(bytes);
        if (size > 0) {
            bytes[size - 1] = (byte) (random.nextBoolean() ? ' ' : 0);
        }
        return bytes;
    }

    private static HikariDataSource pool(String setting) {
        String[] parts = setting.split(" ", 2);
        if (parts[0].equals("own")) {
            return Pools.open(MariaDbServer.shared().createDatabase(), 4);
        }
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
            // A duplicate: fresh keys alone need no transaction.
            witness.claim(List.of(Claims.claim("key0")));
            kills.set(true);
            assertThatThrownBy(() -> store.claim(claims)).isInstanceOf(StoreOutcomeUnknown.class);
            assertThat(witness.find(List.of(claims.get(1).id())).get(0)).isEmpty();
            assertThat(Claims.won(store.claim(claims))).isEqualTo(1);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"mysql ", "mariadb "})
    @DisplayName(
            "R3 a connection that is killed after settlements are committed leaves the outcome unknown, and repeating tells")
    void killedBeforeReading(String driver) {
        try (HikariDataSource pool = pool(driver);
                SqlStore witness = SqlStore.open(pool)) {
            AtomicBoolean kills = new AtomicBoolean();
            SqlStore store = SqlStore.open(Sources.of(() -> {
                Connection connection = pool.getConnection();
                return Sources.proxy(Connection.class, (self, method, arguments) -> {
                    Object answer = Sources.invoke(connection, method, arguments);
                    if (method.getName().equals("prepareStatement") && answer instanceof PreparedStatement statement) {
                        return Sources.proxy(PreparedStatement.class, (of, call, values) -> {
                            if (call.getName().equals("executeQuery") && kills.getAndSet(false)) {
                                kill(pool, connection);
                            }
                            return Sources.invoke(statement, call, values);
                        });
                    }
                    return answer;
                });
            }));
            List<ClaimRequest> claims = Claims.claims("key", 2);
            witness.claim(claims);
            kills.set(true);
            assertThatThrownBy(() -> store.settle(Claims.complete(claims))).isInstanceOf(StoreOutcomeUnknown.class);
            assertThat(kills).isFalse();
            assertThat(witness.find(List.of(claims.get(1).id())).get(0))
                    .hasValueSatisfying(entry -> assertThat(entry.state()).isEqualTo(State.COMPLETED));
            assertThat(store.settle(Claims.complete(claims)))
                    .allSatisfy(s -> assertThat(s).isInstanceOf(SettleResult.Settled.class));
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
