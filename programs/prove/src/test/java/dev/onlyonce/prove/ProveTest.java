package dev.onlyonce.prove;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onlyonce.prove.Round.Plan;
import dev.onlyonce.prove.Round.Result;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

@DisplayName("The prover")
@Execution(ExecutionMode.CONCURRENT)
class ProveTest {
    private static final long SEED = new Random().nextInt(1_000_000);
    private static final Duration FOUND_WITHIN = Duration.ofMinutes(2);

    @TempDir
    Path folder;

    @ParameterizedTest
    @ValueSource(strings = {"postgres-standby", "redis"})
    @DisplayName("D1 D4 S2 finds nothing while nodes die and pause, networks fail, and the store dies or fails over")
    void proof(String store) throws Exception {
        Result result = new Round(plan(store, SEED, 12, Duration.ofSeconds(12), Plant.NONE), folder).run();
        assertThat(result.violations())
                .as(() -> String.join("\n", Report.text(result)))
                .isEmpty();
        assertThat(result.figures()).containsKeys("effects", "replays");
        assertThat(result.figures().get("answered")).isPositive();
        assertThat(Files.readString(Report.write(result)))
                .contains("No violation")
                .contains("seed " + SEED);
    }

    @ParameterizedTest
    @EnumSource(names = {"STALE_CACHE", "LATE_FINGERPRINT", "RELEASED_ON_EXCEPTION"})
    @Timeout(300)
    @DisplayName("O4 finds each planted fault within two minutes, and tells it with seed, history and timeline")
    void planted(Plant plant) throws Exception {
        finds(plant, "redis");
    }

    @ParameterizedTest
    @Tag("thorough")
    @CsvSource({"NO_TOKEN, redis", "SETTLED_AFTER_SWEEP, redis", "READ_AS_ACKNOWLEDGEMENT, postgres-standby"})
    @Timeout(300)
    @DisplayName("O4 finds planted faults that need an owner to be paused at the wrong moment, or a failover")
    void plantedDeep(Plant plant, String store) throws Exception {
        finds(plant, store);
    }

    private void finds(Plant plant, String store) throws Exception {
        long begun = System.nanoTime();
        List<String> told = new ArrayList<>();
        boolean found = false;
        for (int i = 0; !found && System.nanoTime() - begun < FOUND_WITHIN.toNanos(); i++) {
            Path reports = Files.createDirectories(folder.resolve("round-" + i));
            Result result = new Round(plan(store, SEED + i, 32, Duration.ofSeconds(20), plant), reports).run();
            told.addAll(Report.text(result));
            found = !result.violations().isEmpty();
            if (found) {
                assertThat(String.join("\n", told)).contains("seed " + (SEED + i), "VIOLATION", "asks node-");
                assertThat(Files.readString(Report.write(result))).contains("<h2>", "seed " + (SEED + i));
            }
        }
        assertThat(found).as(() -> String.join("\n", told)).isTrue();
    }

    private static Plan plan(String store, long seed, int clients, Duration load, Plant plant) {
        boolean calm = plant != Plant.NONE && !store.equals("postgres-standby");
        return new Plan(store, seed, 2, clients, load, plant, calm);
    }

    @Test
    @DisplayName("shows what it found as a page that needs nothing else")
    void page() throws Exception {
        Work work = new Work("acme", Work.Way.LEASED, "k-<1>");
        History history = new History();
        history.add(new Seen.Asked(
                work, work.body(), "node-1", System.nanoTime(), System.nanoTime(), 200, "effect-1", false));
        history.fault("kills node-1");
        Plan plan = plan("redis", 42, 1, Duration.ofSeconds(1), Plant.NONE);
        List<Checker.Violation> violations = new Checker(history, List.of(new Item(work, false)), Map.of()).check();
        String page = Files.readString(Report.write(new Result(plan, history, violations, Map.of("keys", 1L), folder)));
        assertThat(page)
                .contains("seed 42", "NEMESIS kills node-1", "an answer without its effect", "k-&lt;1&gt;")
                .doesNotContain("http", "<script", "k-<1>");
    }
}
