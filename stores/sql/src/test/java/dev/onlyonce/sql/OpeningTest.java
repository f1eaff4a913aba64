package dev.onlyonce.sql;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariDataSource;
import dev.onlyonce.Onlyonce;
import dev.onlyonce.sql.internal.connections.SqlDatabase;
import dev.onlyonce.store.ClaimRequest;
import dev.onlyonce.store.Entry;
import dev.onlyonce.store.EntryId;
import dev.onlyonce.store.Failure;
import dev.onlyonce.store.SettleResult;
import dev.onlyonce.store.Settlement;
import dev.onlyonce.store.State;
import dev.onlyonce.store.StoreRejected;
import dev.onlyonce.store.StoreUnavailable;
import dev.onlyonce.testservers.DatabaseServer;
import dev.onlyonce.testservers.MySqlServer;
import dev.onlyonce.testservers.PostgresServer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.sqlite.SQLiteDataSource;

@Order(1)
@DisplayName("Opening a store")
final class OpeningTest {
    private static final ThreadLocal<String> TENANT = ThreadLocal.withInitial(() -> "one");
    private static final ThreadLocal<Connection> BOUND = new ThreadLocal<>();

    @AfterEach
    void unbind() {
        TENANT.remove();
        BOUND.remove();
    }

    @TempDir
    private Path folder;

    @Test
    @DisplayName("on a SQLite DataSource that may forget commits is refused")
    void sqliteMustBeDurable() {
        assertThatThrownBy(() -> SqlStore.open(sqlite("?synchronous=NORMAL"))).isInstanceOf(StoreRejected.class);
        SqlStore.open(sqlite("?synchronous=FULL")).close();
    }

    @Test
    @DisplayName("E2 on a DataSource that picks its database by thread is refused")
    void byThread() {
        SqlStore.open(byTenant()).close();
        TENANT.set("two");
        assertThatThrownBy(() -> SqlStore.open(byTenant()))
                .isInstanceOf(StoreRejected.class)
                .hasMessageContaining("by thread");
    }

    @Test
    @DisplayName(
            "E2 on a DataSource that picks its database by thread: what leads elsewhere later is refused, and not used")
    void byThreadLater() {
        SqlStore store = SqlStore.open(byTenant());
        assertThat(Claims.won(store.claim(Claims.claims("key", 1)))).isEqualTo(1);
        TENANT.set("two");
        assertThatThrownBy(() -> store.claim(Claims.claims("key", 1)))
                .isInstanceOf(StoreRejected.class)
                .hasMessageContaining("two.db");
        TENANT.set("one");
        assertThat(Claims.won(store.claim(Claims.claims("key", 1)))).isZero();
    }

    @ParameterizedTest
    @EnumSource(names = {"POSTGRES", "MARIADB", "MYSQL", "H2"})
    @DisplayName("E2 on a DataSource that picks its schema by thread: no key has an entry in two schemas")
    void schemaByThread(TestDatabase kind) throws SQLException {
        try (HikariDataSource pool = kind.create(folder)) {
            DataSource bySchema = Sources.of(() -> {
                Connection connection = pool.getConnection();
                if (kind.kind() == SqlDatabase.MYSQL) {
                    connection.setCatalog(TENANT.get());
                } else {
                    connection.setSchema(
                            kind == TestDatabase.H2 ? TENANT.get().toUpperCase(Locale.ROOT) : TENANT.get());
                }
                return connection;
            });
            for (String schema : List.of("one", "two")) {
                SqlClock.execute(pool, "CREATE SCHEMA IF NOT EXISTS " + schema);
                SqlStore.open(Sources.of(() -> {
                            TENANT.set(schema);
                            return bySchema.getConnection();
                        }))
                        .close();
            }
            TENANT.set("one");
            SqlStore store = SqlStore.open(bySchema);
            assertThat(Claims.won(store.claim(Claims.claims("key", 1)))).isEqualTo(1);
            TENANT.set("two");
            if (kind.kind() != SqlDatabase.MYSQL) {
                assertThat(Claims.won(store.claim(Claims.claims("key", 1))))
                        .as("the statements name the schema that was found when the store was opened")
                        .isZero();
            } else {
                assertThatThrownBy(() -> store.claim(Claims.claims("key", 1)))
                        .isInstanceOf(StoreRejected.class)
                        .hasStackTraceContaining("two");
            }
            assertThat(SqlClock.number(pool, "SELECT count(*) FROM two.onlyonce_entry WHERE fingerprint_version > 0"))
                    .isZero();
        }
    }

    @Test
    @DisplayName("E2 on a DataSource that hands out the caller's transaction: the transaction is not touched")
    void callersTransaction() throws SQLException {
        try (HikariDataSource pool = TestDatabase.POSTGRES.create(folder);
                Connection transaction = pool.getConnection()) {
            transaction.setAutoCommit(false);
            DataSource aware = Sources.of(() -> {
                Connection current = BOUND.get();
                return current == null ? pool.getConnection() : Sources.unclosed(current);
            });
            SqlStore store = SqlStore.open(aware);
            BOUND.set(transaction);
            assertThatThrownBy(() -> store.claim(Claims.claims("key", 1)))
                    .isInstanceOf(StoreRejected.class)
                    .hasMessageContaining("open transaction");
            assertThat(transaction.getAutoCommit()).isFalse();
            assertThatThrownBy(() -> SqlStore.open(aware))
                    .isInstanceOf(StoreRejected.class)
                    .hasMessageContaining("caller's transaction");
        }
    }

    @Test
    @DisplayName("E2 on a DataSource with one connection for all threads is refused")
    void oneForAll() throws SQLException {
        try (HikariDataSource pool = TestDatabase.POSTGRES.create(folder);
                Connection only = pool.getConnection()) {
            assertThatThrownBy(() -> SqlStore.open(Sources.of(() -> Sources.unclosed(only))))
                    .isInstanceOf(StoreRejected.class)
                    .hasMessageContaining("one connection for all threads");
        }
    }

    private DataSource byTenant() {
        return Sources.of(() -> {
            SQLiteDataSource dataSource = new SQLiteDataSource();
            dataSource.setUrl("jdbc:sqlite:" + folder.resolve(TENANT.get() + ".db") + "?synchronous=FULL");
            return dataSource.getConnection();
        });
    }

    @Test
    @DisplayName("D9 on a file that cannot be opened says so")
    void noFile() {
        Path nowhere = folder.resolve("no such folder").resolve("entries.db");
        assertThatThrownBy(() -> SqlStore.sqlite(nowhere)).isInstanceOf(StoreUnavailable.class);
    }

    @ParameterizedTest
    @EnumSource(names = {"MYSQL", "MARIADB"})
    @DisplayName(
            "E2 R3 on connections that read what is not committed is refused: a duplicate would get an answer that is undone")
    void readUncommitted(TestDatabase kind) {
        try (HikariDataSource pool = new HikariDataSource()) {
            pool.setJdbcUrl(kind.url(folder));
            pool.setTransactionIsolation("TRANSACTION_READ_UNCOMMITTED");
            assertThatThrownBy(() -> SqlStore.open(pool))
                    .isInstanceOf(StoreRejected.class)
                    .hasMessageContaining("Use READ COMMITTED");
        }
    }

    @Test
    @DisplayName("E2 D1 on MySQL with a binary log of statements is refused: lapsed leases would never end")
    void binaryLogOfStatements() {
        try (DatabaseServer server = MySqlServer.start("log-bin=bin", "server-id=1", "binlog-format=STATEMENT");
                HikariDataSource pool = Pools.open(server.createDatabase(), 2);
                HikariDataSource mixed =
                        Pools.open(server.createDatabase() + "&sessionVariables=binlog_format=MIXED", 2)) {
            assertThatThrownBy(() -> SqlStore.open(pool))
                    .isInstanceOf(StoreRejected.class)
                    .hasMessageContaining("binlog_format=STATEMENT");
            SqlStore.open(mixed).close();
        }
    }

    @Test
    @DisplayName("E2 behind a pooler that lends sessions for one statement: refused, and the reason names the pooler")
    void statementPooler() throws SQLException {
        try (HikariDataSource pool = TestDatabase.POSTGRES.create(folder);
                Connection session = pool.getConnection()) {
            DataSource pooled = Sources.of(() -> {
                Connection own = pool.getConnection();
                return Sources.proxy(Connection.class, (self, method, arguments) -> switch (method.getName()) {
                    case "createStatement", "prepareStatement" -> Sources.invoke(session, method, arguments);
                    default -> Sources.invoke(own, method, arguments);
                });
            });
            assertThatThrownBy(() -> SqlStore.open(pooled))
                    .isInstanceOf(StoreRejected.class)
                    .hasMessageContaining("pool_mode=session");
        }
    }

    @Test
    @DisplayName("D4 behind the same pooler while others use it, so that sessions change: refused")
    void busyPooler() throws SQLException {
        try (HikariDataSource pool = TestDatabase.POSTGRES.create(folder);
                Connection first = pool.getConnection();
                Connection second = pool.getConnection();
                Connection third = pool.getConnection()) {
            List<Connection> sessions = List.of(first, second, third);
            AtomicInteger next = new AtomicInteger();
            DataSource pooled = Sources.of(() -> {
                Connection own = pool.getConnection();
                return Sources.proxy(Connection.class, (self, method, arguments) -> switch (method.getName()) {
                    case "createStatement", "prepareStatement" ->
                        Sources.invoke(sessions.get(next.getAndIncrement() % sessions.size()), method, arguments);
                    default -> Sources.invoke(own, method, arguments);
                });
            });
            assertThatThrownBy(() -> SqlStore.open(pooled))
                    .isInstanceOf(StoreRejected.class)
                    .hasMessageContaining("pool_mode=session");
        }
    }

    @Test
    @DisplayName(
            "D17 a killed server keeps what a session of PostgreSQL acknowledged that has got synchronous_commit=off since")
    void asynchronousCommitsLater() {
        List<ClaimRequest> claims = Claims.claims("key", 40);
        try (DatabaseServer server = PostgresServer.start("wal_writer_delay=10s");
                HikariDataSource pool = Pools.open(server.jdbcUrl("postgres"), 2);
                SqlStore store = SqlStore.open(pool)) {
            SqlClock.execute(pool, "ALTER DATABASE postgres SET synchronous_commit = off");
            pool.getHikariPoolMXBean().softEvictConnections();
            claims.forEach(claim -> store.claim(List.of(claim)));
            server.kill();
            server.restart();
            pool.getHikariPoolMXBean().softEvictConnections();
            assertThat(store.find(claims.stream().map(ClaimRequest::id).toList()))
                    .allMatch(Optional::isPresent);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"jdbc:mysql:", "jdbc:mariadb:"})
    @DisplayName(
            "D4 R1 a result for which max_allowed_packet has no room any more is recorded as not stored, and not as unknown")
    void smallerPacketsLater(String driver) {
        try (DatabaseServer server = MySqlServer.start();
                HikariDataSource pool = Pools.open(server.createDatabase().replaceFirst("^jdbc:mysql:", driver), 4);
                SqlStore store = SqlStore.open(pool)) {
            List<ClaimRequest> claims = Claims.claims("large", 1);
            store.claim(claims);
            SqlClock.execute(pool, "SET GLOBAL max_allowed_packet = 1048576");
            pool.getHikariPoolMXBean().softEvictConnections();
            Settlement large = new Settlement(
                    claims.get(0).id(), claims.get(0).token(), State.COMPLETED, new byte[2 << 20], "done");
            assertThat(store.settle(List.of(large)).get(0)).isInstanceOf(SettleResult.Settled.class);
            Entry entry = store.find(List.of(large.id())).get(0).orElseThrow();
            assertThat(entry.state()).isEqualTo(State.COMPLETED);
            assertThat(new String(entry.result(), StandardCharsets.UTF_8)).contains(Failure.RESULT_NOT_STORED);
        }
    }

    @Test
    @DisplayName("E2 on PostgreSQL sessions that acknowledge commits before they are written is refused")
    void asynchronousCommits() {
        String url = TestDatabase.POSTGRES.url(folder);
        try (HikariDataSource pool = Pools.open(url + "&options=-c%20synchronous_commit=off", 2);
                HikariDataSource local = Pools.open(url + "&options=-c%20synchronous_commit=local", 2)) {
            assertThatThrownBy(() -> SqlStore.open(pool))
                    .isInstanceOf(StoreRejected.class)
                    .hasMessageContaining("synchronous_commit=on");
            SqlStore.open(local).close();
        }
    }

    @Test
    @DisplayName("E2 on MySQL that acknowledges commits before they are written is refused")
    void lateLog() throws SQLException {
        try (DatabaseServer server = MySqlServer.start("innodb-flush-log-at-trx-commit=0");
                HikariDataSource pool = Pools.open(server.createDatabase(), 2)) {
            assertThatThrownBy(() -> SqlStore.open(pool))
                    .isInstanceOf(StoreRejected.class)
                    .hasMessageContaining("innodb_flush_log_at_trx_commit=0");
            SqlClock.execute(pool, "SET GLOBAL innodb_flush_log_at_trx_commit = 2");
            SqlStore.open(pool).close();
        }
    }

    @Test
    @DisplayName(
            "E2 D11 R1 on MySQL with small packets states the largest result that fits, and records many of that size together")
    void smallPackets() {
        try (DatabaseServer server = MySqlServer.start("max-allowed-packet=1M")) {
            for (String driver : List.of("jdbc:mysql:", "jdbc:mariadb:")) {
                checkLargeResults(server.createDatabase().replaceFirst("^jdbc:mysql:", driver));
            }
        }
    }

    private static void checkLargeResults(String url) {
        try (HikariDataSource pool = Pools.open(url, 4);
                SqlStore store = SqlStore.open(pool)) {
            assertThatThrownBy(() -> Onlyonce.builder(store).build())
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("resultBytesMax must be at most");
            byte[] largest = new byte[store.limits().resultBytesMax()];
            List<ClaimRequest> claims = Claims.claims("large", 8);
            store.claim(claims);
            List<Settlement> settlements = claims.stream()
                    .map(claim -> new Settlement(claim.id(), claim.token(), State.COMPLETED, largest, "done"))
                    .toList();
            assertThat(store.settle(settlements)).as(url).allMatch(SettleResult.Settled.class::isInstance);
            assertThat(store.find(List.of(claims.get(7).id()))
                            .get(0)
                            .orElseThrow()
                            .result())
                    .isEqualTo(largest);
        }
    }

    @Test
    @DisplayName("E2 on a file with settings behind its name is refused: the driver would open another file")
    void settingsInName() {
        assertThatThrownBy(() -> SqlStore.sqlite(folder.resolve("entries.db?synchronous=OFF")))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("?");
        assertThat(folder).isEmptyDirectory();
    }

    @Test
    @DisplayName("D9 after closing, every call says that it is closed")
    void closed() {
        SqlStore store = SqlStore.sqlite(folder.resolve("entries.db"));
        store.close();
        assertThatThrownBy(() -> store.claim(Claims.claims("key", 1))).isInstanceOf(StoreUnavailable.class);
        assertThatThrownBy(() -> store.find(List.of(Claims.id("key")))).isInstanceOf(StoreUnavailable.class);
    }

    @ParameterizedTest
    @ValueSource(strings = {"nul\0", "half \ud83d", "half \ude00 other"})
    @DisplayName("A name that some database would change is refused by all")
    void names(String key) {
        try (SqlStore store = SqlStore.sqlite(folder.resolve("entries.db"))) {
            ClaimRequest good = Claims.claim("good");
            EntryId id = new EntryId("tenant", "", key);
            ClaimRequest bad = new ClaimRequest(
                    id, good.operation(), good.fingerprint(), good.token(), "node", good.terms(), State.PROCESSING);
            assertThatThrownBy(() -> store.claim(List.of(good, bad))).isInstanceOf(StoreRejected.class);
            assertThat(store.find(List.of(good.id())).get(0)).isEmpty();
        }
    }

    @Test
    @DisplayName("A batch with the same entry twice is refused")
    void twice() {
        try (SqlStore store = SqlStore.sqlite(folder.resolve("entries.db"))) {
            assertThatThrownBy(() -> store.claim(List.of(Claims.claim("key"), Claims.claim("key"))))
                    .isInstanceOf(IllegalArgumentException.class);
        }
    }

    private SQLiteDataSource sqlite(String parameters) {
        SQLiteDataSource dataSource = new SQLiteDataSource();
        dataSource.setUrl("jdbc:sqlite:" + folder.resolve("own.db") + parameters);
        return dataSource;
    }
}
