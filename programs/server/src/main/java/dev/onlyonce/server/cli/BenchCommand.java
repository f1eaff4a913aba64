package dev.onlyonce.server.cli;

import dev.onlyonce.http.admin.Json;
import java.net.URI;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

@Command(
        name = "bench",
        description = {
            "Sends POST requests with keys to a gateway and measures the answers.",
            "Every request gets a new key; with --replay they share a few. The service behind the gateway executes the"
                    + " requests, so use a test service. The command asks before it sends anything."
        },
        footerHeading = "%nExample:%n",
        footer = "  onlyonce bench http://127.0.0.1:8090/payments --connections 64 --requests 20000 --yes")
final class BenchCommand extends PrintingCommand {
    private final Confirmation confirmation;

    @Parameters(paramLabel = "URL", description = "Where to send them")
    private URI url = URI.create("http://127.0.0.1:8090/");

    @Option(names = "--connections", defaultValue = "16", description = "How many at once (${DEFAULT-VALUE})")
    private int connections = 16;

    @Option(names = "--requests", defaultValue = "10000", description = "How many in all (${DEFAULT-VALUE})")
    private int requests = 10_000;

    @Option(names = "--body", defaultValue = "{\"amount\":100}", description = "What to send (${DEFAULT-VALUE})")
    private String body = "{}";

    @Option(names = "--replay", description = "Repeats a few keys instead of using new ones")
    private boolean replay;

    @Option(names = "--yes", description = "Sends without asking, for scripts")
    private boolean yes;

    @Option(names = "--json", description = "Prints JSON, for programs")
    private boolean json;

    BenchCommand(Confirmation confirmation) {
        this.confirmation = confirmation;
    }

    @Override
    public Integer call() throws Cli.Failed {
        Bench bench;
        try {
            bench = new Bench(url, new Bench.Load(connections, requests, body, replay));
        } catch (IllegalArgumentException e) {
            throw new Cli.Failed(Cli.USAGE, String.valueOf(e.getMessage()));
        }
        if (!yes) {
            confirmation.require(
                    "This sends " + requests + " requests to " + url + ", and the service executes them. Send them?");
        }
        Bench.Report report = bench.run();
        if (json) {
            out().println(Json.pretty(report));
        } else {
            Table table = new Table("WHAT", "NUMBER");
            table.row("requests a second", report.requestsPerSecond());
            table.row("p50 milliseconds", report.p50Millis());
            table.row("p99 milliseconds", report.p99Millis());
            table.row("max milliseconds", report.maxMillis());
            report.answers().forEach((answer, count) -> table.row("answers " + answer, count));
            table.print(out());
        }
        out().flush();
        return report.allWell() ? Cli.OK : Cli.FAILED;
    }
}
