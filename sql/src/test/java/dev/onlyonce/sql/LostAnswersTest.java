package dev.onlyonce.sql;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.onlyonce.store.Batch;
import dev.onlyonce.store.BatchResult;
import dev.onlyonce.store.ClaimRequest;
import dev.onlyonce.store.ClaimResult;
import dev.onlyonce.store.Entry;
import dev.onlyonce.store.SettleResult;
import dev.onlyonce.store.State;
import dev.onlyonce.store.StoreException;
import dev.onlyonce.store.StoreOutcomeUnknown;
import dev.onlyonce.store.StoreUnavailable;
import dev.onlyonce.testservers.TcpProxy;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

@DisplayName("A network that fails between a node and its database")
final class LostAnswersTest {
    /** More conversations than the longest call has. */
    private static final int EXCHANGES = 9;

    @TempDir
    private Path folder;

    private TcpProxy proxy;
    private HikariDataSource direct;
    private HikariDataSource proxied;
    private SqlStore store;
    private SqlStore witness;

    private void open(TestDatabase database) {
        String url = database.url(folder);
        proxy = TcpProxy.to(url);
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
    @EnumSource(names = {"POSTGRES", "MARIADB"})
    @DisplayName("C5 a claim and a settlement cut off at any point are all or nothing, and repeating them tells")
    void cutAnywhere(TestDatabase database) {
        open(database);
        for (boolean answers : new boolean[] {true, false}) {
            for (int n = 1; n <= EXCHANGES; n++) {
                ClaimRequest settled = Claims.claim("settled-" + answers + n);
                List<ClaimRequest> claims = Claims.claims("claimed-" + answers + n + "-", 3);
                witness.claim(List.of(settled));
                Batch batch = new Batch(claims, List.of(Claims.settle(settled, State.COMPLETED)));
                warmUp();
                if (answers) {
                    proxy.cutBeforeAnswer(n);
                } else {
                    proxy.cutBeforeRequest(n);
                }
                Optional<StoreException> failure = write(batch);
                proxy.heal();
                allOrNothing(batch, failure);
                BatchResult repeated = repeat(batch);
                assertThat(repeated.claims()).allSatisfy(c -> assertThat(c).isEqualTo(new ClaimResult.Claimed(1)));
                assertThat(repeated.settlements())
                        .allSatisfy(s -> assertThat(s).isInstanceOf(SettleResult.Settled.class));
            }
        }
    }

    private Optional<StoreException> write(Batch batch) {
        try {
            store.write(batch);
            return Optional.empty();
        } catch (StoreException e) {
            return Optional.of(e);
        }
    }

    private void allOrNothing(Batch batch, Optional<StoreException> failure) {
        List<Optional<Entry>> claims =
                witness.find(batch.claims().stream().map(ClaimRequest::id).toList());
        long claimed = claims.stream().filter(Optional::isPresent).count();
        boolean settled = witness.find(List.of(batch.settlements().get(0).id()))
                .get(0)
                .orElseThrow()
                .state()
                .isAnswered();
        boolean all = claimed == batch.claims().size() && settled;
        boolean nothing = claimed == 0 && !settled;
        if (failure.isEmpty()) {
            assertThat(all).isTrue();
        } else if (failure.get() instanceof StoreOutcomeUnknown) {
            assertThat(all || nothing).isTrue();
        } else {
            assertThat(nothing).as("nothing after %s", failure.get().toString()).isTrue();
        }
    }

    private BatchResult repeat(Batch batch) {
        while (true) {
            try {
                return store.write(batch);
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
    @EnumSource(names = {"POSTGRES", "MARIADB"})
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
        assertThat(repeat(new Batch(List.of(claim), List.of())).claims()).containsExactly(new ClaimResult.Claimed(1));
    }
}
