package dev.onlyonce.testkit.broken;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onlyonce.check.CannotCheck;
import dev.onlyonce.check.Check;
import dev.onlyonce.check.CheckReport;
import dev.onlyonce.check.CheckResult;
import dev.onlyonce.check.CheckResult.Kind;
import dev.onlyonce.check.Checker;
import dev.onlyonce.check.Plan;
import dev.onlyonce.check.Standard;
import dev.onlyonce.check.report.TextReport;
import java.io.IOException;
import java.time.Duration;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

@DisplayName("onlyonce check")
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class FlawedServersTest {
    /** They mostly wait, so several at once cost little. */
    private final ExecutorService pool = Executors.newFixedThreadPool(10);

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
        List<Check> failed =
                report.of(Kind.FAIL).stream().map(CheckResult::check).toList();
        if (flaw == Flaw.LATE_EFFECT) {
            // On a busy machine, a probe before takes long enough to see the second effect too.
            assertThat(failed).contains(flaw.check());
        } else {
            assertThat(failed).containsExactly(flaw.check());
        }
        assertThat(report.of(Kind.FAIL).get(0).evidence()).isNotEmpty();
        assertThat(report.isPassed()).isFalse();
        char grade = switch (flaw.check().weight()) {
            case SAFETY -> 'F';
            case CONTRACT -> 'C';
            case COURTESY -> 'B';
        };
        assertThat(report.grade()).isEqualTo(grade);
    }

    @ParameterizedTest
    @EnumSource(
            names = {"LOSERS", "MARKED", "EXPIRES", "DATE", "RESERIALISED", "KEY_QUOTED", "OTHER_PATH", "OTHER_METHOD"})
    @DisplayName("O3 a server that lacks only what the IETF draft does not ask for passes under it")
    void minimalDraft(Flaw flaw) throws Exception {
        assertThat(under(Standard.IETF, flaw).isPassed()).isTrue();
    }

    @Test
    @DisplayName("O3 a server to which quotation marks are part of the key, as to Stripe's, passes by default")
    void stripeKeys() throws Exception {
        CheckReport report = under(Standard.AUTO, Flaw.KEY_QUOTED);
        assertThat(report.isPassed()).isTrue();
        assertThat(report.of(Kind.NOT_ASKED)).extracting(CheckResult::check).containsExactly(Check.KEY_QUOTED);
    }

    @ParameterizedTest
    @CsvSource({"IETF,IETF", "IETF,AUTO", "STRIPE,STRIPE", "STRIPE,AUTO"})
    @DisplayName(
            "O3 gives full marks to a server that does only what its standard asks for, and tells the rest in notes")
    void minimal(Standard does, Standard asked) throws Exception {
        CheckReport report = minimalUnder(does, asked);
        assertThat(report.of(Kind.FAIL)).as(new TextReport(false).of(report)).isEmpty();
        assertThat(report.grade()).isEqualTo('A');
        assertThat(report.isPassed()).isTrue();
        assertThat(report.of(Kind.NOT_ASKED)).extracting(CheckResult::check).contains(Check.EXPIRES);
    }

    @ParameterizedTest
    @EnumSource(
            value = Standard.class,
            names = {"IETF", "STRIPE"})
    @DisplayName("O3 fails such a server where all is asked for that Onlyonce promises")
    void minimalStrict(Standard does) throws Exception {
        CheckReport report = minimalUnder(does, Standard.STRICT);
        assertThat(report.isPassed()).isFalse();
        assertThat(report.of(Kind.FAIL)).extracting(CheckResult::check).contains(Check.EXPIRES, Check.LOSERS);
    }

    private CheckReport minimalUnder(Standard does, Standard asked) throws Exception {
        return pool.submit(() -> {
                    try (MinimalServer server = new MinimalServer(does)) {
                        return Checker.run(server.plan().standard(asked).build(), id -> {});
                    }
                })
                .get();
    }

    private CheckReport under(Standard standard, Flaw flaw) throws Exception {
        return pool.submit(() -> {
                    try (FlawedServer server = FlawedServer.start(flaw)) {
                        return Checker.run(server.plan().standard(standard).build(), id -> {});
                    }
                })
                .get();
    }

    @Test
    @DisplayName("O3 passes an API whose effects are seen some time after its answers")
    void countedLate() throws Exception {
        CheckReport report = pool.submit(() -> {
                    try (FlawedServer server = FlawedServer.countingLate(Duration.ofMillis(150))) {
                        return Checker.run(server.plan().build(), id -> {});
                    }
                })
                .get();
        assertThat(report.of(Kind.FAIL)).isEmpty();
    }

    @Test
    @DisplayName("O3 never sends more requests than were allowed, and says so where a check was cut short")
    void budget() throws Exception {
        AtomicInteger requests = new AtomicInteger();
        try (TinyServer server = TinyServer.start(request -> {
            request.body();
            requests.incrementAndGet();
            return TinyAnswer.of(201, "{\"id\": " + requests + "}");
        })) {
            Plan plan = Plan.builder(server.url("/things"), "{\"a\": 1}")
                    .requestsMax(12)
                    .build();
            CheckReport report = Checker.run(plan, id -> {});
            assertThat(requests).hasValueLessThanOrEqualTo(12);
            assertThat(report.isPassed()).isFalse();
            assertThat(report.of(Kind.NOT_APPLICABLE))
                    .extracting(CheckResult::detail)
                    .contains("all 12 requests that are allowed have been sent");
        }
    }

    @Test
    @DisplayName(
            "says what a PUT got that works neither with a key nor without, and does not ask for a URL that it has")
    void putThatFails() throws Exception {
        try (TinyServer server = TinyServer.start(request -> {
            request.body();
            return TinyAnswer.of(request.method().equals("PUT") ? 404 : 201, "{}");
        })) {
            Plan plan = Plan.builder(server.url("/things"), "{\"a\": 1}")
                    .checks(EnumSet.of(Check.NO_KEY_METHODS))
                    .putUrl(server.url("/things/1"))
                    .build();
            assertThat(Checker.run(plan, id -> {}).of(Kind.NOT_APPLICABLE))
                    .filteredOn(result -> result.check() == Check.NO_KEY_METHODS)
                    .extracting(CheckResult::detail)
                    .containsExactly("PUT /things/1 got 404 with a key, and 404 without; give the URL of a resource for"
                            + " which it works");
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {202, 503, 429, 409})
    @DisplayName("O3 asks an API that is busy for ever only a few times")
    void busy(int status) throws IOException {
        AtomicInteger requests = new AtomicInteger();
        try (TinyServer server = TinyServer.start(request -> {
            request.body();
            requests.incrementAndGet();
            return TinyAnswer.of(status, "{}").with("Retry-After", "0");
        })) {
            Plan plan = Plan.builder(server.url("/things"), "{\"a\": 1}")
                    .checks(EnumSet.of(Check.REPLAY))
                    .patience(Duration.ofSeconds(1))
                    .build();
            assertThatThrownBy(() -> Checker.run(plan, id -> {})).isInstanceOf(CannotCheck.class);
            assertThat(requests).hasValueLessThanOrEqualTo(plan.requestsMax());
        }
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
