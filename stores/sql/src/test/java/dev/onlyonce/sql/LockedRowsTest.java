package dev.onlyonce.sql;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import dev.onlyonce.Codec;
import dev.onlyonce.Key;
import dev.onlyonce.sql.internal.connections.SqlDatabase;
import dev.onlyonce.sql.transactions.TransactionsChapter;
import dev.onlyonce.store.ClaimRequest;
import dev.onlyonce.store.ClaimResult;
import dev.onlyonce.store.Entry;
import dev.onlyonce.store.RenewResult;
import dev.onlyonce.store.Renewal;
import dev.onlyonce.store.SettleResult;
import dev.onlyonce.store.Settlement;
import dev.onlyonce.store.State;
import dev.onlyonce.store.Transition;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

@DisplayName("Rows that a foreign transaction has locked")
final class LockedRowsTest {
    @TempDir
    private Path folder;

    @ParameterizedTest
    @EnumSource(names = {"POSTGRES", "MARIADB", "MYSQL", "H2", "H2_POSTGRES_MODE"})
    @DisplayName("T3 are skipped by a purge, which deletes the others and comes back for them")
    void purgeSkips(TestDatabase database) throws SQLException {
        try (HikariDataSource dataSource = database.create(folder)) {
            SqlClock clock = SqlClock.start(dataSource);
            SqlStore store = SqlClock.store(dataSource).build();
            List<ClaimRequest> claims = Claims.claims("key", 5);
            store.claim(claims);
            store.settle(Claims.complete(claims));
            clock.advance(Claims.RETENTION);
            try (Connection foreign = lock(dataSource, database.kind(), "key2")) {
                assertThat(store.purge(100)).isEqualTo(4);
                foreign.rollback();
            }
            assertThat(store.purge(100)).isEqualTo(1);
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"POSTGRES", "MARIADB", "MYSQL", "H2", "H2_POSTGRES_MODE"})
    @DisplayName("D1 are skipped by the sweeper, which ends the others and comes back for them")
    void sweepSkips(TestDatabase database) throws SQLException {
        try (HikariDataSource dataSource = database.create(folder)) {
            SqlClock clock = SqlClock.start(dataSource);
            SqlStore store = SqlClock.store(dataSource).build();
            store.claim(Claims.claims("key", 5));
            clock.advance(Claims.LEASE);
            try (Connection foreign = lock(dataSource, database.kind(), "key2")) {
                assertThat(store.sweep(3)).hasSize(3);
                assertThat(store.sweep(3)).hasSize(1);
                assertThat(store.sweep(3)).isEmpty();
                foreign.rollback();
            }
            assertThat(store.sweep(3)).extracting(Transition::id).containsExactly(Claims.id("key2"));
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"POSTGRES", "MARIADB", "MYSQL", "H2", "H2_POSTGRES_MODE"})
    @DisplayName("D11 are busy to their own settlement; all others of the batch are recorded at once")
    void settlesOthers(TestDatabase database) throws SQLException {
        try (HikariDataSource dataSource = database.create(folder)) {
            SqlStore store = SqlStore.open(dataSource);
            List<ClaimRequest> claims = Claims.claims("key", 5);
            store.claim(claims);
            try (Connection foreign = lock(dataSource, database.kind(), "key2")) {
                assertOnlyThirdBusy(quickly(() -> store.settle(Claims.complete(claims))));
                assertThat(quickly(() -> store.settle(Claims.complete(claims))).get(2))
                        .isInstanceOf(SettleResult.Busy.class);
                foreign.rollback();
            }
            assertThat(store.settle(Claims.complete(claims)))
                    .hasSize(5)
                    .allSatisfy(s -> assertThat(s).isInstanceOf(SettleResult.Settled.class));
            assertThat(Claims.history(store, Key.of("tenant", "POST /payments", "key0")))
                    .as("settled once")
                    .hasSize(2);
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"POSTGRES", "MARIADB", "MYSQL", "H2", "H2_POSTGRES_MODE"})
    @DisplayName("D11 D8 are busy to the release of a half-done operation, which holds up no other settlement")
    void releasesOthers(TestDatabase database) throws SQLException {
        try (HikariDataSource dataSource = database.create(folder)) {
            SqlStore store = SqlStore.open(dataSource);
            List<ClaimRequest> claims = Claims.claims("key", 5);
            store.claim(claims);
            List<Settlement> settlements = new ArrayList<>(Claims.complete(claims));
            ClaimRequest halfDone = claims.get(2);
            settlements.set(2, Claims.settle(halfDone, State.RETRYABLE));
            recordStep(dataSource, database.kind(), "key2");
            store.access().halfDone().register(halfDone.token());
            try (Connection foreign = lock(dataSource, database.kind(), "key2")) {
                assertOnlyThirdBusy(quickly(() -> store.settle(settlements)));
                foreign.rollback();
            }
            assertThat(store.settle(settlements))
                    .allSatisfy(s -> assertThat(s).isInstanceOf(SettleResult.Settled.class));
            assertThat(store.access().halfDone().size()).isZero();
            Entry kept = store.find(List.of(halfDone.id())).get(0).orElseThrow();
            assertThat(kept.state()).isEqualTo(State.RETRYABLE);
            assertThat(kept.retentionLeft()).isGreaterThan(Claims.RETENTION);
        }
    }

    private static void assertOnlyThirdBusy(List<SettleResult> settled) {
        for (int i = 0; i < 5; i++) {
            assertThat(settled.get(i)).isInstanceOf(i == 2 ? SettleResult.Busy.class : SettleResult.Settled.class);
        }
    }

    private static void recordStep(HikariDataSource dataSource, SqlDatabase kind, String key) throws SQLException {
        try (Connection connection = dataSource.getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute("INSERT INTO onlyonce_step (tenant, space, key_, entry_created_at, number, name, state)"
                    + " SELECT tenant, space, key_, created_at, 1, 'reserve', 2 FROM onlyonce_entry"
                    + " WHERE" + TestDatabase.key(kind, "tenant", key));
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"POSTGRES", "MARIADB", "MYSQL", "H2", "H2_POSTGRES_MODE"})
    @DisplayName("D11 cost no other claim its lease, and are not lost")
    void renewsOthers(TestDatabase database) throws SQLException {
        try (HikariDataSource dataSource = database.create(folder)) {
            SqlStore store = SqlStore.open(dataSource);
            List<ClaimRequest> claims = Claims.claims("key", 5);
            store.claim(claims);
            store.settle(Claims.complete(claims.subList(4, 5)));
            List<Renewal> renewals = claims.stream()
                    .map(c -> new Renewal(c.id(), c.token(), Claims.LEASE))
                    .toList();
            try (Connection foreign = lock(dataSource, database.kind(), "key2")) {
                assertThat(quickly(() -> store.renew(renewals)))
                        .containsExactly(
                                RenewResult.RENEWED,
                                RenewResult.RENEWED,
                                RenewResult.BUSY,
                                RenewResult.RENEWED,
                                RenewResult.LOST);
                foreign.rollback();
            }
            assertThat(store.renew(renewals.subList(2, 3))).containsExactly(RenewResult.RENEWED);
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"POSTGRES", "MARIADB", "MYSQL", "H2", "H2_POSTGRES_MODE"})
    @DisplayName("D11 are busy to who would take them; other claims of the batch are made, and what stands is shown")
    void claimsOthers(TestDatabase database) throws SQLException {
        try (HikariDataSource dataSource = database.create(folder)) {
            SqlStore store = SqlStore.open(dataSource);
            ClaimRequest running = Claims.claim("running");
            ClaimRequest free = Claims.claim("free");
            store.claim(List.of(running, free));
            store.settle(List.of(Claims.settle(free, State.RETRYABLE)));
            try (Connection foreign = dataSource.getConnection()) {
                foreign.setAutoCommit(false);
                for (String key : List.of("running", "free")) {
                    try (Statement statement = foreign.createStatement()) {
                        statement.execute("UPDATE onlyonce_entry SET owner = 'foreign'" + " WHERE"
                                + TestDatabase.key(database.kind(), "tenant", key));
                    }
                }
                Key unborn = Key.of("tenant", "POST /payments", "unborn");
                Ways.transactions(store)
                        .execute(foreign, unborn, TransactionsChapter.REQUEST, Codec.text(), c -> "not committed");
                for (int round = 0; round < 3; round++) {
                    List<ClaimRequest> claims = new ArrayList<>(Claims.claims("fresh" + round + "-", 20));
                    claims.add(Claims.claim("running"));
                    claims.add(Claims.claim("free"));
                    claims.add(Claims.claim("unborn"));
                    List<ClaimResult> results = quickly(() -> store.claim(claims));
                    assertThat(Claims.won(results)).isEqualTo(20);
                    assertThat(results.subList(0, 20))
                            .allSatisfy(r -> assertThat(r).isInstanceOf(ClaimResult.Claimed.class));
                    assertThat(results.get(20)).isInstanceOf(ClaimResult.Existing.class);
                    assertThat(results.get(21)).isInstanceOf(ClaimResult.Busy.class);
                    assertThat(results.get(22)).isInstanceOf(ClaimResult.Busy.class);
                }
                foreign.rollback();
            }
            assertThat(store.claim(List.of(Claims.claim("free"))).get(0)).isInstanceOf(ClaimResult.Claimed.class);
        }
    }

    /** A lock is waited for once, for a second at most; then not again. */
    private static <T> T quickly(Supplier<T> work) {
        long begun = System.nanoTime();
        T answer = work.get();
        assertThat(Duration.ofNanos(System.nanoTime() - begun)).isLessThan(Duration.ofSeconds(4));
        return answer;
    }

    private static Connection lock(HikariDataSource dataSource, SqlDatabase kind, String key) throws SQLException {
        Connection foreign = dataSource.getConnection();
        foreign.setAutoCommit(false);
        try (Statement statement = foreign.createStatement()) {
            statement.execute(
                    "SELECT * FROM onlyonce_entry WHERE" + TestDatabase.key(kind, "tenant", key) + "FOR UPDATE");
        }
        return foreign;
    }
}
