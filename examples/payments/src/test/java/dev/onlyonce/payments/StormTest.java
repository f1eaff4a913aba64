package dev.onlyonce.payments;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onlyonce.payments.provider.Provider;
import dev.onlyonce.payments.provider.ProviderOptions;
import dev.onlyonce.payments.storm.Storm;
import dev.onlyonce.payments.storm.StormOptions;
import dev.onlyonce.testservers.DatabaseServer;
import dev.onlyonce.testservers.PostgresServer;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Storms: many payments, each many times, through a network and to a provider that fail. */
@Order(1)
class StormTest {
    private static final long SEED =
            Long.getLong("payments.seed", ThreadLocalRandom.current().nextLong(1_000_000));

    @TempDir
    private Path folder;

    private static StormOptions options(URI api, URI provider, int payments) {
        return options(api, provider, payments, StormOptions.FAULTS);
    }

    private static StormOptions options(URI api, URI provider, int payments, Map<String, Double> faults) {
        return new StormOptions(
                List.of(api),
                provider,
                new StormOptions.Size(payments, 4, 25),
                StormOptions.NETWORK,
                faults,
                SEED,
                Duration.ofMinutes(2));
    }

    @Test
    @DisplayName("D4 after a storm every payment was charged once or declined, and all copies got the same bytes")
    void storm() throws Exception {
        try (Provider provider = Provider.start(ProviderOptions.in(folder));
                PaymentsServer server = PaymentsServer.start(
                        "jdbc:sqlite:" + folder.resolve("payments.db"), "payments.provider.url=" + provider.url())) {
            Storm.Report report = new Storm(options(server.url(), provider.url(), 150), line -> {}).run();
            assertThat(report.verdict().allWell())
                    .as("seed %d: %s", SEED, report.verdict())
                    .isTrue();
            assertThat(report.verdict().chargedOnce()).isGreaterThan(100);
            assertThat(report.networkFaults().values()).allMatch(count -> count > 0);
        }
    }

    @Test
    @DisplayName("A provider that forgets keys is found out: the storm says charged twice")
    void judge() throws Exception {
        try (Provider provider = Provider.start(ProviderOptions.in(folder).keyLifetime(Duration.ZERO));
                PaymentsServer server = PaymentsServer.start(
                        "jdbc:sqlite:" + folder.resolve("payments.db"), "payments.provider.url=" + provider.url())) {
            // Without look-ups: else the reconciler might find every charge in doubt before a worker asks for it again.
            Map<String, Double> faults = Map.of("error_after", 0.4, "lookup_error", 1.0);
            Storm.Report report = new Storm(options(server.url(), provider.url(), 30, faults), line -> {}).run();
            assertThat(report.verdict().chargedTwice()).isPositive();
            assertThat(report.verdict().allWell()).isFalse();
        }
    }

    @Test
    @DisplayName("A storm that ends before it has sent all payments says so, and not that all is well")
    void endsEarly() throws Exception {
        try (Provider provider = Provider.start(ProviderOptions.in(folder));
                ServerSocket silent = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
            StormOptions nobody = new StormOptions(
                    List.of(URI.create("http://127.0.0.1:" + silent.getLocalPort())),
                    provider.url(),
                    new StormOptions.Size(3, 1, 1, 0),
                    StormOptions.NETWORK,
                    StormOptions.FAULTS,
                    SEED,
                    Duration.ofMillis(20));
            assertThat(new Storm(nobody, line -> {}).run().verdict().wrong())
                    .containsExactly("only 1 of 3 payments were sent: none was decided for PT0.02S");
        }
    }

    @Test
    @DisplayName("D9 the database stops and comes back under load: 503 meanwhile, and nothing is lost or charged twice")
    void databaseRestarts() throws Exception {
        ExecutorService threads = Executors.newSingleThreadExecutor();
        try (DatabaseServer database = PostgresServer.start();
                Provider provider = Provider.start(ProviderOptions.in(folder));
                PaymentsServer server = PaymentsServer.start(
                        database.createDatabase(), "payments.provider.url=" + provider.url(), "payments.lease=5s")) {
            Storm storm = new Storm(options(server.url(), provider.url(), 300), line -> {});
            Future<Storm.Report> running = threads.submit(storm::run);
            waitFor(running, Duration.ofSeconds(3));
            database.kill();
            PaymentsServer.Reply meanwhile = server.send(
                    "POST", "/payments", "{\"amount\":1,\"currency\":\"EUR\"}", "Idempotency-Key", "while-down");
            database.restart();

            Storm.Report report = running.get(4, TimeUnit.MINUTES);
            assertThat(meanwhile.status()).isEqualTo(503);
            assertThat(meanwhile.headers().firstValue("Retry-After")).isPresent();
            assertThat(report.verdict().allWell())
                    .as("seed %d: %s", SEED, report.verdict())
                    .isTrue();
        } finally {
            threads.shutdownNow();
        }
    }

    private static void waitFor(Future<?> work, Duration max) throws InterruptedException, ExecutionException {
        try {
            work.get(max.toMillis(), TimeUnit.MILLISECONDS);
        } catch (TimeoutException e) {
            // It goes on, which is what we want.
        }
    }
}
