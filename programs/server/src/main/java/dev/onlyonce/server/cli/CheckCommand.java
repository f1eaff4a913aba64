package dev.onlyonce.server.cli;

import dev.onlyonce.check.CannotCheck;
import dev.onlyonce.check.Check;
import dev.onlyonce.check.CheckReport;
import dev.onlyonce.check.Checker;
import dev.onlyonce.check.EffectCounter;
import dev.onlyonce.check.Plan;
import dev.onlyonce.check.Standard;
import dev.onlyonce.check.report.HtmlReport;
import dev.onlyonce.check.report.JsonReport;
import dev.onlyonce.check.report.JunitReport;
import dev.onlyonce.check.report.TextReport;
import dev.onlyonce.check.wire.HeaderLine;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Help.Ansi;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

@Command(
        name = "check",
        description = {
            "Checks whether an HTTP API keeps the promise of idempotency keys.",
            "Sends POST requests to the URL, in any state of a key, and reports what the IETF draft, Stripe and Onlyonce"
                    + " ask and what the API does. The requests have effects, so use a test system. On a host other than"
                    + " this one the command asks before it may have more than --effects-max effects."
        },
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {
            "0:everything that applies passed",
            "1:a check failed",
            "2:the command line is wrong, or the API cannot be checked"
        },
        footerHeading = "%nExample:%n",
        footer = {
            "  onlyonce check http://127.0.0.1:8080/payments --body '{\"amount\": 1}' \\",
            "      --count http://127.0.0.1:8080/payments#/total --html check.html"
        })
final class CheckCommand extends PrintingCommand {
    private final Confirmation confirmation;

    @Parameters(paramLabel = "URL", description = "Where the API takes POST requests with keys")
    private String url = "";

    @Option(names = "--body", required = true, description = "A body that the API accepts")
    private String body = "";

    @Option(
            names = {"-H", "--header"},
            paramLabel = "NAME: VALUE",
            description = "Sent with every request, such as credentials; may be repeated")
    private List<String> headers = List.of();

    @Option(
            names = "--second-tenant-header",
            paramLabel = "NAME: VALUE",
            description = "Makes a request one of another caller; may be repeated")
    private List<String> secondTenant = List.of();

    @Option(
            names = "--count",
            paramLabel = "URL#POINTER",
            description = "Where a GET tells how many effects there were: a number or an array at this JSON pointer."
                    + " Without it effects are inferred from the answers")
    private @Nullable String count;

    @Mixin
    private CheckVariations variations = new CheckVariations();

    @Option(names = "--only", split = ",", paramLabel = "CHECK", description = "Makes only these checks")
    private List<String> only = List.of();

    @Option(names = "--skip", split = ",", paramLabel = "CHECK", description = "Leaves these checks out")
    private List<String> skip = List.of();

    @Option(
            names = "--effects-max",
            defaultValue = "10",
            description = "The most effects to have on another host without asking (${DEFAULT-VALUE})")
    private int effectsMax = 10;

    @Option(
            names = "--requests-max",
            paramLabel = "N",
            description =
                    "The most requests to send; the run ends when they are used up. By default as many as the checks need")
    private @Nullable Integer requestsMax;

    @Option(
            names = "--profile",
            defaultValue = "auto",
            description =
                    "Whose requirements count: ietf, stripe, strict (all that Onlyonce promises), or auto (what both"
                            + " the IETF draft and Stripe require). What is unsafe always fails (${DEFAULT-VALUE})")
    private String profile = "auto";

    @Option(
            names = "--remember",
            paramLabel = "SECONDS",
            defaultValue = "25",
            description = "How long after the first request its key must still be known (${DEFAULT-VALUE})")
    private int rememberSeconds = 25;

    @Option(names = "--yes", description = "Does not ask, for scripts")
    private boolean yes;

    @Option(
            names = "--patience",
            paramLabel = "SECONDS",
            defaultValue = "10",
            description = "How long to wait for an answer (${DEFAULT-VALUE})")
    private int patienceSeconds = 10;

    @Option(names = "--json", description = "Prints JSON, for programs")
    private boolean json;

    @Option(names = "--junit", paramLabel = "FILE", description = "Writes JUnit XML too, for CI servers")
    private @Nullable Path junit;

    @Option(names = "--html", paramLabel = "FILE", description = "Writes one HTML page too, for reviews")
    private @Nullable Path html;

    CheckCommand(Confirmation confirmation) {
        this.confirmation = confirmation;
    }

    @Override
    public Integer call() throws Cli.Failed {
        Plan plan = plan();
        writable(junit);
        writable(html);
        permitted(plan);
        CheckReport report;
        try {
            report = Checker.run(plan, id -> {
                err().println("checking " + id);
                err().flush();
            });
        } catch (CannotCheck e) {
            throw new Cli.Failed(Cli.USAGE, String.valueOf(e.getMessage()));
        }
        out().print(json ? JsonReport.of(report) + "\n" : new TextReport(Ansi.AUTO.enabled()).of(report));
        out().flush();
        write(junit, JunitReport.of(report));
        write(html, HtmlReport.of(report));
        return report.isPassed() ? Cli.OK : Cli.FAILED;
    }

    private Plan plan() throws Cli.Failed {
        try {
            Plan.Builder builder = Plan.builder(URI.create(url), body)
                    .headers(lines(headers))
                    .secondTenant(lines(secondTenant))
                    .counter(count == null ? null : EffectCounter.parse(count))
                    .checks(selected())
                    .standard(standard())
                    .rememberedFor(Duration.ofSeconds(rememberSeconds))
                    .patience(Duration.ofSeconds(patienceSeconds));
            if (requestsMax != null) {
                builder.requestsMax(requestsMax);
            }
            return variations.addTo(builder).build();
        } catch (IllegalArgumentException e) {
            throw new Cli.Failed(Cli.USAGE, String.valueOf(e.getMessage()));
        }
    }

    private Standard standard() {
        return Standard.of(profile)
                .orElseThrow(() -> new IllegalArgumentException(
                        "There is no profile \"" + profile + "\". The profiles are auto, ietf, stripe and strict."));
    }

    static List<HeaderLine> lines(List<String> texts) {
        return texts.stream().map(HeaderLine::parse).toList();
    }

    private Set<Check> selected() {
        Set<Check> selected = only.isEmpty() ? EnumSet.allOf(Check.class) : EnumSet.noneOf(Check.class);
        only.forEach(id -> selected.add(known(id)));
        skip.forEach(id -> selected.remove(known(id)));
        return selected;
    }

    private static Check known(String id) {
        return Check.of(id)
                .orElseThrow(() -> new IllegalArgumentException("There is no check \"" + id + "\". The checks are "
                        + String.join(
                                ", ",
                                EnumSet.allOf(Check.class).stream()
                                        .map(Check::id)
                                        .toList())
                        + "."));
    }

    private void permitted(Plan plan) throws Cli.Failed {
        int effects = plan.requestsMax();
        if (yes || effects <= effectsMax || plan.isLoopback()) {
            return;
        }
        confirmation.require("This can have up to " + effects + " effects at "
                + plan.url().getHost() + ", more than --effects-max " + effectsMax + ". Send the requests?");
    }

    /** Before anything is sent: a report that cannot be written would be lost. */
    private static void writable(@Nullable Path file) throws Cli.Failed {
        if (file == null) {
            return;
        }
        Path folder = file.toAbsolutePath().getParent();
        if (folder == null || !Files.isDirectory(folder) || Files.isDirectory(file)) {
            throw new Cli.Failed(Cli.USAGE, "The report cannot be written to " + file + ": there is no such folder.");
        }
    }

    private static void write(@Nullable Path file, String text) throws Cli.Failed {
        if (file == null) {
            return;
        }
        try {
            Files.writeString(file, text);
        } catch (IOException e) {
            throw new Cli.Failed(Cli.USAGE, "The report cannot be written to " + file + ": " + e.getMessage());
        }
    }
}
