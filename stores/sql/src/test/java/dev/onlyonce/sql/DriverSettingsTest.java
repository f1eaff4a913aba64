package dev.onlyonce.sql;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import dev.onlyonce.Codec;
import dev.onlyonce.Key;
import dev.onlyonce.Outcome;
import dev.onlyonce.sql.transactions.Transactions;
import dev.onlyonce.sql.transactions.TransactionsChapter;
import dev.onlyonce.store.ClaimRequest;
import dev.onlyonce.store.ClaimResult;
import dev.onlyonce.store.RenewResult;
import dev.onlyonce.store.Renewal;
import dev.onlyonce.store.SettleResult;
import dev.onlyonce.store.State;
import dev.onlyonce.testservers.PostgresServer;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@DisplayName("With settings of PostgreSQL's driver")
final class DriverSettingsTest {

    @ParameterizedTest
    @ValueSource(
            strings = {
                "stringtype=unspecified",
                "preferQueryMode=simple",
                "preferQueryMode=extendedForPrepared",
                "preferQueryMode=extendedCacheEverything",
                "prepareThreshold=-1",
                "prepareThreshold=0",
                "prepareThreshold=1",
                "binaryTransfer=false",
                "autosave=always",
                "autosave=conservative",
                "defaultRowFetchSize=10"
            })
    @DisplayName("D11 the store works, and waits for a lock no longer than it should")
    void works(String setting) throws SQLException {
        try (HikariDataSource pool = Pools.open(PostgresServer.shared().createDatabase() + "&" + setting, 4);
                SqlStore store = SqlStore.open(pool);
                Connection foreign = pool.getConnection()) {
            List<ClaimRequest> claims = Claims.claims("key", 3);
            for (int i = 0; i < 8; i++) {
                assertThat(Claims.won(store.claim(Claims.claims("other" + i + "-", i + 1))))
                        .isEqualTo(i + 1);
            }
            assertThat(Claims.won(store.claim(claims))).isEqualTo(3);
            // More often than the driver waits before it prepares a statement on the server.
            for (int i = 0; i < 8; i++) {
                List<ClaimRequest> one = List.of(Claims.claim("alone" + i));
                store.claim(one);
                assertThat(store.settle(Claims.complete(one))).allMatch(SettleResult.Settled.class::isInstance);
            }
            ClaimRequest first = claims.get(0);
            assertThat(store.renew(List.of(new Renewal(first.id(), first.token(), Claims.LEASE))))
                    .containsExactly(RenewResult.RENEWED);
            assertThat(store.settle(Claims.complete(claims.subList(0, 1))).get(0))
                    .isInstanceOf(SettleResult.Settled.class);
            assertThat(store.find(List.of(first.id(), Claims.id("none"))).get(0))
                    .hasValueSatisfying(e -> assertThat(e.state()).isEqualTo(State.COMPLETED));
            assertThat(store.evict(first.id(), "alice", "ticket 42")).isPresent();
            foreign.setAutoCommit(false);
            Key unborn = Key.of("tenant", "POST /payments", "unborn");
            Ways.transactions(store)
                    .execute(foreign, unborn, TransactionsChapter.REQUEST, Codec.text(), c -> "not committed");
            long begun = System.nanoTime();
            // First: a store that has met a lock goes around others for a while.
            try (Statement statement = foreign.createStatement()) {
                statement.execute("SELECT 1 FROM onlyonce_entry WHERE key_ = 'key1' FOR UPDATE");
            }
            assertThat(store.settle(Claims.complete(claims.subList(1, 2)))).containsExactly(new SettleResult.Busy());
            assertThat(store.claim(List.of(Claims.claim("unborn"))).get(0)).isInstanceOf(ClaimResult.Busy.class);
            assertThat(Duration.ofNanos(System.nanoTime() - begun)).isLessThan(Duration.ofSeconds(8));
            foreign.rollback();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"autosave=always", "autosave=conservative"})
    @DisplayName("D11 W1 a transaction of its own knows its claim behind the driver's savepoints, and is executed")
    void savepointsOfTheDriver(String setting) {
        try (HikariDataSource pool = Pools.open(PostgresServer.shared().createDatabase() + "&" + setting, 1);
                SqlStore store = SqlStore.open(pool)) {
            Transactions transactions = Ways.transactions(store);
            for (int i = 0; i < 8; i++) {
                Key key = Key.of("tenant", "POST /payments", "own" + i);
                assertThat(transactions.execute(key, TransactionsChapter.REQUEST, Codec.text(), c -> "done"))
                        .isInstanceOf(Outcome.Executed.class);
            }
        }
    }
}
