package dev.onlyonce.prove;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onlyonce.prove.Round.Aim;
import dev.onlyonce.prove.Round.Crew;
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
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

@DisplayName("The prover")
@Execution(ExecutionMode.CONCURRENT)
class ProveTest {
    private static final long SEED = new Random().nextInt(1_000_000);
    private static final Aim NO_FAULT = new Aim(Plant.NONE, Focus.ALL);
    private static final Duration FOUND_WITHIN = Duration.ofMinutes(2);

    @TempDir
    Path folder;

    @ParameterizedTest
    @ValueSource(strings = {"postgres-standby", "redis"})
    @DisplayName("D1 D4 S2 finds nothing while nodes die and pause, networks fail, and the store dies or fails over")
    void proof(String store) throws Exception {
        Result result = new Round(
                        new Plan(store, SEED, Duration.ofSeconds(12), new Crew(2, 1, 8, NodeProcess.build()), NO_FAULT),
                        folder)
                .run();
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
    @CsvSource({
        "NO_TOKEN, redis, PAUSES",
        "SETTLED_AFTER_SWEEP, redis, PAUSES",
        "STALE_CACHE, redis, PAUSES",
        "LATE_FINGERPRINT, redis, PAUSES",
        "READ_AS_ACKNOWLEDGEMENT, postgres-standby, FAILOVERS",
        "RELEASED_ON_EXCEPTION, redis, PAUSES"
    })
    @Timeout(400)
    @DisplayName("O4 finds each planted fault within two minutes, and tells it with seed, history and timeline")
    void planted(Plant plant, String store, Focus focus) throws Exception {
        long begun = System.nanoTime();
        List<String> told = new ArrayList<>();
        boolean found = false;
        for (int i = 0; !found && System.nanoTime() - begun < FOUND_WITHIN.toNanos(); i++) {
            Path reports = Files.createDirectories(folder.resolve("round-" + i));
            Result result = new Round(
                            new Plan(
                                    store,
                                    SEED + i,
                                    Duration.ofSeconds(focus == Focus.FAILOVERS ? 12 : 100),
                                    new Crew(2, 0, 32, ""),
                                    new Aim(plant, focus)),
                            reports)
                    .run();
            told.addAll(Report.text(result));
            found = !result.violations().isEmpty();
            if (found) {
                assertThat(String.join("\n", told)).contains("seed " + (SEED + i), "VIOLATION", "asks node-");
                assertThat(Files.readString(Report.write(result))).contains("<h2>", "seed " + (SEED + i));
            }
        }
        assertThat(found).as(() -> String.join("\n", told)).isTrue();
    }

    @Test
    @DisplayName("shows what it found as a page that needs nothing else")
    void page() throws Exception {
        Work work = new Work("acme", Work.Way.LEASED, "k-<1>");
        History history = new History();
        history.add(new Seen.Asked(
                work, work.body(), "node-1", System.nanoTime(), System.nanoTime(), 200, "effect-1", false));
        history.fault("kills node-1");
        Plan plan = new Plan("redis", 42, Duration.ofSeconds(1), new Crew(2, 0, 1, ""), NO_FAULT);
        List<Checker.Violation> violations = new Checker(history, List.of(new Item(work, false)), Map.of()).check();
        String page = Files.readString(Report.write(new Result(plan, history, violations, Map.of("keys", 1L), folder)));
        assertThat(page)
                .contains("seed 42", "NEMESIS kills node-1", "an answer without its effect", "k-&lt;1&gt;")
                .doesNotContain("http", "<script", "k-<1>");
    }
}
