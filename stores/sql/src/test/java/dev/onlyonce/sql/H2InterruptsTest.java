package dev.onlyonce.sql;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import dev.onlyonce.store.ClaimRequest;
import dev.onlyonce.store.ClaimResult;
import java.nio.file.Path;
import java.sql.DriverManager;
import java.util.List;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@DisplayName("Callers of a store on H2 that are interrupted")
final class H2InterruptsTest {
    private static final int ROUNDS = 15;

    @TempDir
    private Path folder;

    @ParameterizedTest
    @ValueSource(strings = {"file", "async"})
    @DisplayName(
            "D11 neither close the database for their neighbours nor lose what they wrote, and keep their interrupt")
    void interrupted(String system) throws Exception {
        String url = "jdbc:h2:" + system + ":" + folder.resolve("entries");
        try (HikariDataSource pool = Pools.open(url, 4);
                SqlStore store = SqlStore.open(pool)) {
            for (int round = 0; round < ROUNDS; round++) {
                ClaimRequest claim = Claims.claim("interrupted" + round);
                FutureTask<Boolean> caller = new FutureTask<>(() -> {
                    Thread.currentThread().interrupt();
                    ClaimResult result = store.claim(List.of(claim)).get(0);
                    store.settle(Claims.complete(List.of(claim)));
                    return result instanceof ClaimResult.Claimed
                            && Thread.currentThread().isInterrupted();
                });
                Thread thread = new Thread(caller);
                thread.start();
                do {
                    thread.interrupt();
                } while (thread.isAlive());
                assertThat(caller.get()).isTrue();
                assertThat(Claims.won(store.claim(Claims.claims("neighbour" + round, 1))))
                        .isEqualTo(1);
            }
        }
    }

    @Test
    @DisplayName("D11 can have connections opened on their own thread, and keep their interrupt")
    void interruptedBefore() {
        String url = "jdbc:h2:file:" + folder.resolve("entries");
        // Without a pool: each connection is the first, and opens the file.
        try (SqlStore store = SqlStore.open(Sources.of(() -> DriverManager.getConnection(url)))) {
            Thread.currentThread().interrupt();
            assertThat(Claims.won(store.claim(Claims.claims("interrupted", 1)))).isEqualTo(1);
            assertThat(Thread.interrupted()).isTrue();
            assertThat(Claims.won(store.claim(Claims.claims("afterwards", 1)))).isEqualTo(1);
        } finally {
            Thread.interrupted();
        }
    }
}
