package dev.onlyonce.payments;

import static org.assertj.core.api.Assertions.assertThat;

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
import dev.onlyonce.payments.provider.Provider;
import dev.onlyonce.payments.provider.ProviderOptions;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.EnumSet;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@DisplayName("The reference payments system")
@Order(1)
class CheckTest {
    private static final String ORDER = "{\"amount\": 1999, \"currency\": \"EUR\", \"description\": \"two books\"}";

    @Test
    @DisplayName("O3 gets full marks from onlyonce check, which counts what the provider has charged")
    void fullMarks(@TempDir Path folder) throws Exception {
        try (Provider provider = Provider.start(ProviderOptions.in(folder));
                PaymentsServer server = PaymentsServer.start(
                        "jdbc:sqlite:" + folder.resolve("payments.db"),
                        "payments.provider.url=" + provider.url(),
                        "payments.wait-max=60s")) {
            Plan plan = Plan.builder(server.url().resolve("/payments"), ORDER)
                    .headers(List.of(new HeaderLine("Authorization", "Bearer test_alice")))
                    .secondTenant(List.of(new HeaderLine("Authorization", "Bearer test_bob")))
                    .counter(EffectCounter.parse(provider.url().resolve("/ledger?after=") + "#/data"))
                    .secondUrl(server.url().resolve("/transfers"))
                    .refused(Plan.Variation.body(ORDER.replace("1999", "-1")))
                    .standard(Standard.STRICT)
                    .rememberedFor(Duration.ZERO)
                    .patience(Duration.ofMinutes(1))
                    .build();
            CheckReport report = Checker.run(plan, id -> {});
            assertThat(report.isPassed()).as(new TextReport(false).of(report)).isTrue();
            assertThat(report.of(Kind.NOT_APPLICABLE))
                    .extracting(CheckResult::check)
                    .as(new TextReport(false).of(report))
                    .isSubsetOf(
                            // It sets no cookie, has no PATCH, PUT or DELETE for payments, and nothing that always
                            // fails.
                            Check.SET_COOKIE,
                            Check.OTHER_METHOD,
                            Check.NO_KEY_METHODS,
                            Check.SERVER_ERROR,
                            Check.HTTP_2);
        }
    }

    @Test
    @DisplayName("O3 accepts the first command of the guide as it is shown, but for its ports")
    void guide(@TempDir Path folder) throws Exception {
        String page = Files.readString(Path.of(System.getProperty("onlyonce.root"), "docs/guides/check.md"));
        Matcher command = Pattern.compile(
                        "```sh\n./onlyonce check http://127.0.0.1:8080(\\S+) \\\\\n +--body '(.+)' \\\\\n"
                                + " +--header '(.+)' \\\\\n +--count 'http://127.0.0.1:8081(.+)'\n```")
                .matcher(page);
        assertThat(command.find()).isTrue();
        try (Provider provider = Provider.start(ProviderOptions.in(folder));
                PaymentsServer server = PaymentsServer.start(
                        "jdbc:sqlite:" + folder.resolve("payments.db"), "payments.provider.url=" + provider.url())) {
            Plan plan = Plan.builder(server.url().resolve(command.group(1)), command.group(2))
                    .headers(List.of(HeaderLine.parse(command.group(3))))
                    .counter(EffectCounter.parse(
                            provider.url().resolve(command.group(4)).toString()))
                    .checks(EnumSet.of(Check.REPLAY, Check.OTHER_BODY))
                    .build();
            assertThat(Checker.run(plan, id -> {}).grade()).isEqualTo('A');
        }
    }
}
