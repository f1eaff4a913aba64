package dev.onlyonce.payments;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onlyonce.payments.provider.Provider;
import dev.onlyonce.payments.provider.ProviderOptions;
import dev.onlyonce.payments.storm.BooksCheck;
import dev.onlyonce.payments.storm.BooksVerdict;
import dev.onlyonce.payments.storm.Havoc;
import dev.onlyonce.payments.storm.Storm;
import dev.onlyonce.payments.storm.StormOptions;
import dev.onlyonce.testservers.KafkaServer;
import dev.onlyonce.testservers.PostgresServer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Isolated;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Payments and refunds under a storm, with a real broker that is killed and restarted, and bookkeepers that are killed with SIGKILL. {@code
 * -Dproof=long} kills ten times as often, {@code -Dpayments.seed=N} repeats a run's choices.
 */
@DisplayName("The books in a storm")
@Isolated
class BooksStormTest {
    private static final Logger log = LoggerFactory.getLogger(BooksStormTest.class);
    private static final int LONGER = "long".equals(System.getProperty("proof")) ? 10 : 1;
    private static final long SEED =
            Long.getLong("payments.seed", ThreadLocalRandom.current().nextLong(1_000_000));
    private static final int BOUNCES = LONGER;
    private static final Duration PATIENCE = Duration.ofMinutes(4);

    @TempDir
    private Path folder;

    @Test
    @Timeout(value = 2, unit = TimeUnit.HOURS)
    @DisplayName("N4 N5 balance to the cent and equal the provider's charges less refunds, whoever was killed")
    void balance() throws Exception {
        String db = PostgresServer.shared().createDatabase();
        ExecutorService thread = Executors.newSingleThreadExecutor();
        try (KafkaServer broker = KafkaServer.start();
                Provider provider = Provider.start(ProviderOptions.in(folder));
                PaymentsServer server = PaymentsServer.start(
                        db,
                        "payments.lease=3s",
                        "payments.wait-max=500ms",
                        "payments.provider.url=" + provider.url(),
                        "payments.provider.timeout=2s",
                        "payments.provider.absent-after=3s",
                        "payments.kafka.bootstrap-servers=" + broker.address(),
                        "payments.kafka.bookkeeper=false");
                Havoc havoc = new Havoc(plan(db, broker.address()), () -> {
                    broker.kill();
                    broker.restart();
                })) {
            Storm storm = new Storm(options(server, provider), line -> {});
            Future<Storm.Report> running = thread.submit(storm::run);
            long end = System.nanoTime() + PATIENCE.multipliedBy(LONGER).toNanos();
            while (havoc.bounces() < BOUNCES && !running.isDone() && System.nanoTime() - end < 0) {
                LockSupport.parkNanos(Duration.ofMillis(50).toNanos());
            }
            storm.enough();
            Storm.Report report = running.get(10, TimeUnit.MINUTES);
            havoc.calm();
            log.info("{} kills, {} bounces, seed {}: {}", havoc.kills(), havoc.bounces(), SEED, report.verdict());
            assertThat(report.verdict().allWell())
                    .as("seed %d: %s", SEED, report.verdict())
                    .isTrue();
            BooksVerdict verdict = new BooksCheck(server.url(), provider.url()).await(PATIENCE);
            assertThat(verdict.allWell()).as("seed %d: %s", SEED, verdict).isTrue();
            new Books(db, provider.url()).checkPosted();
            assertThat(verdict.events()).isPositive();
            assertThat(havoc.kills()).isPositive();
            assertThat(havoc.bounces()).isPositive();
        } finally {
            thread.shutdownNow();
        }
    }

    private static Havoc.Plan plan(String db, String broker) {
        String classPath = System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));
        List<String> bookkeeper = List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx128m",
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                "-cp",
                classPath,
                Main.class.getName(),
                "bookkeeper",
                "--db",
                db,
                "--broker",
                broker);
        return new Havoc.Plan(bookkeeper, 2, Duration.ofSeconds(4), 2, SEED);
    }

    private static StormOptions options(PaymentsServer server, Provider provider) {
        return new StormOptions(
                List.of(server.url()),
                provider.url(),
                new StormOptions.Size(40 * LONGER, 2, 4, 3),
                StormOptions.NETWORK,
                StormOptions.FAULTS,
                SEED,
                PATIENCE);
    }
}
