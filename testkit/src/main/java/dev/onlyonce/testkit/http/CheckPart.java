package dev.onlyonce.testkit.http;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onlyonce.check.CannotCheck;
import dev.onlyonce.check.Check;
import dev.onlyonce.check.CheckReport;
import dev.onlyonce.check.CheckResult;
import dev.onlyonce.check.CheckResult.Kind;
import dev.onlyonce.check.Checker;
import dev.onlyonce.check.EffectCounter;
import dev.onlyonce.check.Plan;
import dev.onlyonce.check.Standard;
import dev.onlyonce.check.report.TextReport;
import dev.onlyonce.check.wire.HeaderLine;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** What {@code onlyonce check} checks of any API. */
interface CheckPart extends Part {
    /** A check sends some hundred requests. */
    Duration CHECK_PATIENCE = Duration.ofMinutes(4);

    @Test
    @DisplayName("O3 onlyonce check gives full marks to every profile")
    default void fullMarks() {
        // At once: a run mostly waits.
        List<CompletableFuture<CheckReport>> runs = List.of("ietf", "stripe", "strict").stream()
                .map(profile -> CompletableFuture.supplyAsync(() -> check(profile), task -> new Thread(task).start()))
                .toList();
        for (CompletableFuture<CheckReport> run : runs) {
            CheckReport report = Client.join(run, CHECK_PATIENCE);
            assertThat(report.isPassed()).as(new TextReport(false).of(report)).isTrue();
            // The application takes bodies of any type, and not every server speaks HTTP/2.
            assertThat(report.of(Kind.NOT_APPLICABLE))
                    .extracting(CheckResult::check)
                    .isSubsetOf(Check.UNSUPPORTED_TYPE, Check.HTTP_2);
        }
    }

    private CheckReport check(String profile) {
        String effect = UUID.randomUUID().toString();
        String path = "/" + profile;
        Plan plan = Plan.builder(client().url(path + "/echo"), "{\"amount\": 10, \"to\": \"bob\"}")
                .headers(List.of(authorization("acme"), new HeaderLine("X-Effect", effect)))
                .secondTenant(List.of(authorization("zenith")))
                .counter(EffectCounter.parse(client().url("/effects/" + effect).toString()))
                .secondUrl(client().url(path + "/other"))
                .putUrl(client().url(path + "/echo"))
                .deleteUrl(client().url(path + "/echo"))
                .refused(ending(path + "/status/402"))
                .failing(ending(path + "/status/500"))
                .standard(Standard.STRICT)
                .rememberedFor(Duration.ZERO)
                .quietFor(Duration.ofMillis(200))
                .patience(Client.PATIENCE)
                .build();
        try {
            return Checker.run(plan, id -> {});
        } catch (CannotCheck e) {
            throw new AssertionError(e);
        }
    }

    private HeaderLine authorization(String tenant) {
        return new HeaderLine("Authorization", client().authorization(tenant));
    }

    /** The first run for an effect answers with that status, so it needs one of its own. */
    private Plan.Variation ending(String path) {
        HeaderLine own = new HeaderLine("X-Effect", UUID.randomUUID().toString());
        return new Plan.Variation(client().url(path), null, List.of(own));
    }
}
