package dev.onlyonce.payments;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onlyonce.payments.faults.Chances;
import dev.onlyonce.payments.faults.FaultyNetwork;
import dev.onlyonce.payments.faults.NetworkFault;
import dev.onlyonce.payments.provider.Provider;
import dev.onlyonce.payments.provider.ProviderOptions;
import dev.onlyonce.payments.storm.Storm;
import dev.onlyonce.payments.storm.StormOptions;
import dev.onlyonce.testservers.PostgresServer;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Isolated;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Real processes are killed with SIGKILL at random moments, under a storm, with faults of the provider and of the networks on
 * both sides throughout. {@code -Pthorough} kills twice as often, {@code -Dproof=long} forty times as often, and {@code
 * -Dpayments.seed=N} repeats a run's choices.
 */
@Timeout(value = 2, unit = TimeUnit.HOURS)
@Isolated
class KillTest {
    private static final Logger log = LoggerFactory.getLogger(KillTest.class);
    private static final int LONGER =
            "long".equals(System.getProperty("proof")) ? 40 : Boolean.getBoolean("onlyonce.thorough") ? 2 : 1;
    private static final long SEED =
            Long.getLong("payments.seed", ThreadLocalRandom.current().nextLong(1_000_000));
    /** A machine that is too busy to start an instance in a few seconds must not hold up the build for long. */
    private static final Duration KILLING_MAX = Duration.ofMinutes(LONGER);

    private static final int KILLS = 2 * LONGER;
    private static final int KILLS_MIN = 2;
    private static final int CHARGES_MIN = 4;
    private static final String SECRET = "whsec_killed";
    private static final Map<NetworkFault, Double> TO_PROVIDER =
            Map.of(NetworkFault.RESET_REQUEST, 0.03, NetworkFault.RESET_ANSWER, 0.03, NetworkFault.CUT_ANSWER, 0.02);
    /** A call that was on its way when its process died has arrived by then, or never will. */
    private static final Duration ABSENT_AFTER = Duration.ofSeconds(3);

    @TempDir
    private Path folder;

    @Test
    @DisplayName(
            "D1, W3 two instances on PostgreSQL, killed again and again under load, charge every payment and post it once")
    void postgres() throws Exception {
        prove(PostgresServer.shared().createDatabase(), 2, KILLS);
    }

    @Test
    @Tag("thorough")
    @DisplayName(
            "D1, W3 an instance on SQLite, killed again and again under load, charges every payment and posts it once")
    void sqlite() throws Exception {
        prove("jdbc:sqlite:" + folder.resolve("payments.db"), 1, KILLS);
    }

    private void prove(String jdbcUrl, int instances, int killsEach) throws Exception {
        log.info("{} instances are killed {} times each, seed {}", instances, killsEach, SEED);
        ExecutorService threads = Executors.newCachedThreadPool();
        List<Instance> all = new ArrayList<>();
        int firstPort = DemoCommand.freePort();
        URI webhooks = URI.create("http://127.0.0.1:" + firstPort + "/webhooks/provider");
        try (Provider provider = Provider.start(ProviderOptions.in(folder).webhooks(webhooks, SECRET));
                FaultyNetwork network = FaultyNetwork.open(
                        0,
                        new InetSocketAddress(
                                InetAddress.getLoopbackAddress(), provider.url().getPort()),
                        new Chances<>(NetworkFault.class, TO_PROVIDER, SEED))) {
            List<String> settings = settings(jdbcUrl, network.port());
            for (int i = 0; i < instances; i++) {
                all.add(Instance.launch(Main.class, i == 0 ? firstPort : DemoCommand.freePort(), folder, settings));
            }
            for (Instance instance : all) {
                instance.awaitHealthy();
            }
            List<URI> urls = all.stream().map(Instance::url).toList();
            Storm storm = new Storm(options(urls, provider.url()), line -> {});
            Future<Storm.Report> running = threads.submit(storm::run);
            SplittableRandom random = new SplittableRandom(SEED);
            List<Future<Integer>> killers = new ArrayList<>();
            for (Instance instance : all) {
                SplittableRandom moments = random.split();
                killers.add(threads.submit(() -> kill(instance, killsEach, moments)));
            }
            for (Future<Integer> killer : killers) {
                log.info("killed {} times", killer.get());
            }
            storm.enough();
            Storm.Report report = running.get(5, TimeUnit.MINUTES);

            log.info("{}", report.verdict());
            assertThat(report.verdict().allWell())
                    .as("seed %d: %s", SEED, report.verdict())
                    .isTrue();
            assertThat(report.verdict().chargedOnce()).isGreaterThan(CHARGES_MIN);
            Books books = new Books(jdbcUrl, provider.url());
            books.awaitDry(all.get(0));
            books.check(report.verdict().payments());
            assertThat(storm.sendAgain())
                    .as("seed %d: keys whose answer has changed", SEED)
                    .isEmpty();
        } finally {
            threads.shutdownNow();
            all.forEach(Instance::close);
        }
    }

    private static List<String> settings(String jdbcUrl, int providerPort) {
        return List.of(
                "payments.db=" + jdbcUrl,
                "payments.demo=true",
                "payments.webhook-secret=" + SECRET,
                "payments.lease=3s",
                "payments.wait-max=500ms",
                "payments.provider.url=http://127.0.0.1:" + providerPort,
                "payments.provider.timeout=2s",
                "payments.provider.absent-after=" + ABSENT_AFTER.toSeconds() + "s");
    }

    private static StormOptions options(List<URI> urls, URI provider) {
        return new StormOptions(
                urls,
                provider,
                new StormOptions.Size(Integer.MAX_VALUE, 2, 12, 3),
                StormOptions.NETWORK,
                StormOptions.FAULTS,
                SEED,
                Duration.ofMinutes(3));
    }

    /** Kills it at moments of its life, also before it is well, and starts it again; it is well in the end. */
    private static int kill(Instance instance, int times, SplittableRandom random) throws InterruptedException {
        long end = System.nanoTime() + KILLING_MAX.toNanos();
        int kills = 0;
        while (kills < KILLS_MIN || (kills < times && System.nanoTime() < end)) {
            boolean young = random.nextInt(4) == 0;
            if (!young) {
                instance.awaitHealthy();
            }
            instance.letRun(Duration.ofMillis(random.nextLong(1_500)));
            instance.kill();
            kills++;
            instance.launch();
        }
        instance.awaitHealthy();
        return kills;
    }
}
