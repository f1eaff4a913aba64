package dev.onlyonce.testkit.broken;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onlyonce.check.CannotCheck;
import dev.onlyonce.check.Check;
import dev.onlyonce.check.CheckReport;
import dev.onlyonce.check.CheckResult;
import dev.onlyonce.check.CheckResult.Kind;
import dev.onlyonce.check.Checker;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

@DisplayName("onlyonce check")
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class FlawedServersTest {
    /** They mostly wait, so several at once cost little. */
    private final ExecutorService pool = Executors.newFixedThreadPool(6);

    private final Map<Flaw, Future<CheckReport>> reports = new EnumMap<>(Flaw.class);

    @BeforeAll
    void begin() {
        for (Flaw flaw : Flaw.values()) {
            reports.put(flaw, pool.submit(() -> check(flaw)));
        }
    }

    @AfterAll
    void stop() {
        pool.shutdownNow();
    }

    private static CheckReport check(@Nullable Flaw flaw) throws CannotCheck {
        try (FlawedServer server = FlawedServer.start(flaw)) {
            return Checker.run(server.plan().build(), id -> {});
        }
    }

    @Test
    @DisplayName("O3 gives full marks to a server without a flaw, and leaves out nothing but HTTP/2")
    void flawless() throws Exception {
        CheckReport report = pool.submit(() -> check(null)).get();
        assertThat(report.of(Kind.FAIL)).isEmpty();
        assertThat(report.of(Kind.NOT_APPLICABLE))
                .extracting(CheckResult::check)
                .containsExactly(Check.HTTP_2);
        assertThat(report.grade()).isEqualTo('A');
        assertThat(report.isPassed()).isTrue();
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("O3 fails a broken server on exactly what is broken, with the exchanges that show it")
    void flawed(Flaw flaw) throws Exception {
        CheckReport report = reports.get(flaw).get();
        assertThat(report.of(Kind.FAIL)).extracting(CheckResult::check).containsExactly(flaw.check());
        assertThat(report.of(Kind.FAIL).get(0).evidence()).isNotEmpty();
        assertThat(report.isPassed()).isFalse();
        char grade = switch (flaw.check().weight()) {
            case SAFETY -> 'F';
            case CONTRACT -> 'C';
            case COURTESY -> 'B';
        };
        assertThat(report.grade()).isEqualTo(grade);
    }

    @Test
    @DisplayName("has a broken server for every check")
    void complete() {
        Set<Check> broken = Arrays.stream(Flaw.values()).map(Flaw::check).collect(Collectors.toSet());
        assertThat(List.of(Check.values()))
                .filteredOn(check -> !broken.contains(check))
                .as("HTTP/2 needs a server that speaks it; the gateway's tests have one")
                .containsExactly(Check.HTTP_2);
    }
}
