package dev.onlyonce.sql;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariDataSource;
import dev.onlyonce.store.ClaimRequest;
import dev.onlyonce.store.Entry;
import dev.onlyonce.store.SettleResult;
import dev.onlyonce.store.State;
import dev.onlyonce.store.StoreBusy;
import dev.onlyonce.store.StoreOutcomeUnknown;
import dev.onlyonce.testservers.DatabaseServer;
import dev.onlyonce.testservers.PostgresPair;
import dev.onlyonce.testservers.PostgresServer;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** In a table of many pages a lone settlement is another statement. */
@DisplayName("PostgreSQL, in a table that has grown")
final class PostgresGrownTest {
    private HikariDataSource dataSource;

    @BeforeEach
    void connect() {
        dataSource = Pools.open(PostgresServer.shared().createDatabase(), 10);
        SqlStore.open(dataSource).close();
        grow(dataSource);
        SqlClock.execute(dataSource, "DELETE FROM onlyonce_entry WHERE fingerprint_version > 0");
    }

    @AfterEach
    void disconnect() {
        dataSource.close();
    }

    /** Deleted rows keep their pages until a vacuum, and new rows go behind them. */
    static void grow(DataSource source) {
        SqlClock.execute(source, "ALTER TABLE onlyonce_entry SET (autovacuum_enabled = false)", """
                INSERT INTO onlyonce_entry (tenant, space, key_, operation, fingerprint_version, fingerprint, state, token,
                    owner, attempt, lease_us, on_lease_lost, retention_us, tombstone_us, created_at, lease_until, reap_at)
                SELECT 'tenant', '', 'key' || i, 'POST /payments', 1, '', 3, gen_random_uuid(),
                    'node', 1, 1000000, 1, 1000000, 0, i, i, i FROM generate_series(1, 2000) AS i""");
    }

    @Test
    @DisplayName("A lone claim and its ordinary settlement are one statement each, a late settlement is two")
    void oneStatement() {
        List<String> sent = new ArrayList<>();
        try (SqlStore store = SqlStore.open(preparing(dataSource, sent))) {
            store.claim(Claims.claims("first", 1));
            sent.clear();
            ClaimRequest claim = Claims.claim("alone");
            ClaimRequest late = Claims.claim("late");
            assertThat(Claims.won(store.claim(List.of(claim)))).isOne();
            assertThat(store.settle(Claims.complete(List.of(claim)))).allMatch(SettleResult.Settled.class::isInstance);
            assertThat(sent).containsExactly("INSERT", "UPDATE");
            store.claim(List.of(late));
            SqlClock.execute(dataSource, "UPDATE onlyonce_entry SET lease_until = 0 WHERE key_ = 'late'");
            sent.clear();
            assertThat(store.settle(Claims.complete(List.of(late)))).allMatch(SettleResult.Settled.class::isInstance);
            assertThat(sent).containsExactly("UPDATE", "SELECT");
        }
    }

    @Test
    @DisplayName("D11 a lone claim and a lone settlement do not wait for a locked table, and change nothing")
    void lockedTable() throws SQLException {
        ClaimRequest held = Claims.claim("held");
        ClaimRequest fresh = Claims.claim("fresh");
        // Two stores: one goes around locks for a while after it has met one.
        try (SqlStore claims = SqlStore.open(dataSource);
                SqlStore store = SqlStore.open(dataSource);
                Connection foreign = dataSource.getConnection();
                Statement statement = foreign.createStatement()) {
            store.claim(List.of(held));
            foreign.setAutoCommit(false);
            statement.execute("LOCK TABLE onlyonce_entry");
            long begun = System.nanoTime();
            assertThatThrownBy(() -> claims.claim(List.of(fresh))).isInstanceOf(StoreBusy.class);
            assertThatThrownBy(() -> store.settle(Claims.complete(List.of(held))))
                    .isInstanceOf(StoreBusy.class);
            // A second and a half each, and time for a busy machine; without a bound it is 15 s.
            assertThat(Duration.ofNanos(System.nanoTime() - begun)).isLessThan(Duration.ofSeconds(10));
            foreign.rollback();
            foreign.setAutoCommit(true);
            assertThat(store.find(List.of(fresh.id()))).containsExactly(Optional.empty());
            assertThat(store.find(List.of(held.id())).get(0))
                    .get()
                    .extracting(Entry::state)
                    .isEqualTo(State.PROCESSING);
        }
    }

    /** Watches how the statements begin that are prepared. */
    private static DataSource preparing(DataSource real, List<String> sent) {
        return Sources.of(() -> {
            Connection connection = real.getConnection();
            return Sources.proxy(Connection.class, (self, method, arguments) -> {
                if (method.getName().equals("prepareStatement")) {
                    sent.add(((String) arguments[0]).split("\\s", 2)[0]);
                }
                return Sources.invoke(connection, method, arguments);
            });
        });
    }

    @Test
    @DisplayName("R3 where commits wait for a standby, nothing is sent that would have to be cancelled")
    void replicated() {
        List<String> sent = new ArrayList<>();
        try (PostgresPair pair = PostgresPair.start();
                HikariDataSource pool = Pools.open(pair.primary().jdbcUrl("postgres"), 2);
                SqlStore store = SqlStore.open(preparing(pool, sent))) {
            ClaimRequest claim = Claims.claim("alone");
            sent.clear();
            store.claim(List.of(claim));
            store.settle(Claims.complete(List.of(claim)));
            assertThat(sent).containsExactly("SELECT", "SELECT");
        }
    }

    @Test
    @DisplayName("R3 what goes alone while the server gets a standby is not acknowledged before the standby has it")
    void replicatedLater() throws SQLException {
        try (DatabaseServer server = PostgresServer.start();
                HikariDataSource pool = Pools.open(server.createDatabase(), 4);
                SqlStore claims = SqlStore.open(pool);
                SqlStore settlements = SqlStore.open(pool)) {
            grow(pool);
            ClaimRequest held = Claims.claim("held");
            claims.claim(Claims.claims("first", 1));
            settlements.claim(List.of(held));
            waitForStandby(pool);
            assertThatThrownBy(() -> claims.claim(List.of(Claims.claim("fresh"))))
                    .isInstanceOf(StoreOutcomeUnknown.class);
            assertThatThrownBy(() -> settlements.settle(Claims.complete(List.of(held))))
                    .isInstanceOf(StoreOutcomeUnknown.class);
        }
    }

    /** Lets commits wait for a standby that there is not. One whose wait is cancelled succeeds with a warning. */
    private static void waitForStandby(DataSource source) throws SQLException {
        SqlClock.execute(source, "CREATE TABLE probe (n int)", "ALTER SYSTEM SET synchronous_standby_names = 'none'");
        try (Connection connection = source.getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute("SELECT pg_reload_conf()");
            statement.setQueryTimeout(1);
            do {
                statement.execute("INSERT INTO probe VALUES (1)");
            } while (statement.getWarnings() == null);
        }
    }
}
