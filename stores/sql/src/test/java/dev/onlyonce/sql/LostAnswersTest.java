package dev.onlyonce.sql;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.onlyonce.store.ClaimRequest;
import dev.onlyonce.store.ClaimResult;
import dev.onlyonce.store.EntryId;
import dev.onlyonce.store.SettleResult;
import dev.onlyonce.store.Settlement;
import dev.onlyonce.store.State;
import dev.onlyonce.store.StoreException;
import dev.onlyonce.store.StoreOutcomeUnknown;
import dev.onlyonce.store.StoreUnavailable;
import dev.onlyonce.testservers.ScriptedNetwork;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

@Order(1)
@DisplayName("A network that fails between a node and its database")
final class LostAnswersTest {
    /** More conversations than the longest call has. */
    private static final int EXCHANGES = 9;

    @TempDir
    private Path folder;

    private ScriptedNetwork proxy;
    private HikariDataSource direct;
    private HikariDataSource proxied;
    private SqlStore store;
    private SqlStore witness;

    private void open(TestDatabase database) {
        String url = database.url(folder);
        proxy = ScriptedNetwork.to(url);
        direct = Pools.open(url, 4);
        witness = SqlStore.open(direct);
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl(proxy.through(url));
        config.setMaximumPoolSize(1);
        config.setConnectionTimeout(3_000);
        proxied = new HikariDataSource(config);
        store = SqlStore.open(proxied);
    }

    @AfterEach
    void close() {
        proxied.close();
        direct.close();
        proxy.close();
    }

    @ParameterizedTest
    @CsvSource({"POSTGRES, 1", "POSTGRES, 3", "MARIADB, 1", "MARIADB, 3", "MYSQL, 1", "MYSQL, 3"})
    @DisplayName("C5 claims cut off at any point are all or nothing, and repeating them tells")
    void claimsCutAnywhere(TestDatabase database, int rows) {
        open(database);
        for (boolean answers : new boolean[] {true, false}) {
            for (int n = 1; n <= EXCHANGES; n++) {
                List<ClaimRequest> claims = Claims.claims("claimed-" + answers + n + "-", rows);
                Optional<StoreException> failure = cut(answers, n, () -> store.claim(claims));
                long claimed = witness.find(ids(claims)).stream()
                        .filter(Optional::isPresent)
                        .count();
                allOrNothing(claimed, claims.size(), failure);
                assertThat(repeat(() -> store.claim(claims)))
                        .allSatisfy(c -> assertThat(c).isEqualTo(new ClaimResult.Claimed(1)));
            }
        }
    }

    @ParameterizedTest
    @CsvSource({"POSTGRES, 1", "POSTGRES, 3", "MARIADB, 1", "MARIADB, 3", "MYSQL, 1", "MYSQL, 3"})
    @DisplayName("C5 settlements cut off at any point are all or nothing, and repeating them tells")
    void settlementsCutAnywhere(TestDatabase database, int rows) {
        open(database);
        for (boolean answers : new boolean[] {true, false}) {
            for (int n = 1; n <= EXCHANGES; n++) {
                List<ClaimRequest> claims = Claims.claims("settled-" + answers + n + "-", rows);
                witness.claim(claims);
                List<Settlement> settlements = claims.stream()
                        .map(claim -> Claims.settle(claim, State.COMPLETED))
                        .toList();
                Optional<StoreException> failure = cut(answers, n, () -> store.settle(settlements));
                long settled = witness.find(ids(claims)).stream()
                        .filter(entry -> entry.orElseThrow().state().isAnswered())
                        .count();
                allOrNothing(settled, settlements.size(), failure);
                assertThat(repeat(() -> store.settle(settlements)))
                        .allSatisfy(s -> assertThat(s).isInstanceOf(SettleResult.Settled.class));
            }
        }
    }

    private static List<EntryId> ids(List<ClaimRequest> claims) {
        return claims.stream().map(ClaimRequest::id).toList();
    }

    /** Makes a call whose n-th exchange with the server is cut off before the request or before its answer. */
    private Optional<StoreException> cut(boolean answers, int n, Runnable call) {
        warmUp();
        if (answers) {
            proxy.cutBeforeAnswer(n);
        } else {
            proxy.cutBeforeRequest(n);
        }
        try {
            call.run();
            return Optional.empty();
        } catch (StoreException e) {
            return Optional.of(e);
        } finally {
            proxy.heal();
        }
    }

    private static void allOrNothing(long changed, int of, Optional<StoreException> failure) {
        if (failure.isEmpty()) {
            assertThat(changed).isEqualTo(of);
        } else if (failure.get() instanceof StoreOutcomeUnknown) {
            assertThat(changed).isIn(0L, (long) of);
        } else {
            assertThat(changed).as("nothing after %s", failure.get().toString()).isZero();
        }
    }

    private static <T> T repeat(Supplier<T> call) {
        while (true) {
            try {
                return call.get();
            } catch (StoreUnavailable | StoreOutcomeUnknown e) {
                // The pool still has a connection that was cut.
                Thread.onSpinWait();
            }
        }
    }

    /** Makes sure that the pool's one connection is alive, so that the counting starts at the statement. */
    private void warmUp() {
        while (true) {
            try {
                store.find(List.of(Claims.id("nothing")));
                return;
            } catch (StoreUnavailable e) {
                Thread.onSpinWait();
            }
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"POSTGRES", "MARIADB", "MYSQL"})
    @DisplayName("D9 a database that cannot be reached is unavailable, nothing happens, and it recovers by itself")
    void down(TestDatabase database) {
        open(database);
        proxy.down();
        ClaimRequest claim = Claims.claim("key");
        assertThatThrownBy(() -> {
                    // The connection in the pool may be found dead while it writes; the next is refused.
                    try {
                        store.claim(List.of(claim));
                    } catch (StoreOutcomeUnknown e) {
                        store.claim(List.of(claim));
                    }
                })
                .isInstanceOf(StoreUnavailable.class);
        assertThat(witness.find(List.of(claim.id())).get(0)).isEmpty();
        proxy.heal();
        assertThat(repeat(() -> store.claim(List.of(claim)))).containsExactly(new ClaimResult.Claimed(1));
    }
}
