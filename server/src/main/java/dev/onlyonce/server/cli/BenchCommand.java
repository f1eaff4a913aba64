package dev.onlyonce.server.cli;

import dev.onlyonce.server.admin.Json;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.Arrays;
import java.util.Map;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

@Command(
        name = "bench",
        mixinStandardHelpOptions = true,
        description = {
            "Sends POST requests with keys to a gateway and measures the answers.",
            "Every request gets a new key, or with --replay all get one of a few. It executes what it sends: use it in"
                    + " front of a test service."
        },
        footerHeading = "%nExample:%n",
        footer = "  onlyonce bench http://127.0.0.1:8090/payments --connections 64 --requests 20000")
final class BenchCommand implements Callable<Integer> {
    private static final int REPLAYED_KEYS = 16;
    private static final double NANOS_PER_MILLI = 1e6;

    @Spec
    private @Nullable CommandSpec spec;

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

    @Option(names = "--json", description = "Prints JSON, for programs")
    private boolean json;

    private final AtomicInteger next = new AtomicInteger();
    private final Map<String, LongAdder> answers = new ConcurrentSkipListMap<>();

    @Override
    public Integer call() throws InterruptedException {
        if (spec == null || connections < 1 || requests < 1) {
            return Cli.USAGE;
        }
        long[] nanos = new long[requests];
        String run = UUID.randomUUID().toString();
        HttpClient client = HttpClient.newBuilder()
                .version(HttpClient.Version.HTTP_1_1)
                .connectTimeout(Duration.ofSeconds(5))
                .build();
        Thread[] threads = new Thread[connections];
        long begun = System.nanoTime();
        for (int i = 0; i < connections; i++) {
            threads[i] = new Thread(() -> send(client, run, nanos), "bench-" + i);
            threads[i].start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
        double seconds = (System.nanoTime() - begun) / (1000 * NANOS_PER_MILLI);
        report(spec, nanos, seconds);
        return answers.keySet().stream().allMatch(answer -> answer.startsWith("2")) ? Cli.OK : Cli.FAILED;
    }

    private void send(HttpClient client, String run, long[] nanos) {
        for (int i = next.getAndIncrement(); i < requests; i = next.getAndIncrement()) {
            String key = run + "-" + (replay ? i % REPLAYED_KEYS : i);
            HttpRequest request = HttpRequest.newBuilder(url)
                    .header("Idempotency-Key", key)
                    .header("Content-Type", "application/json")
                    .timeout(Duration.ofMinutes(1))
                    .POST(HttpRequest.BodyPublishers.ofString(body))
                    .build();
            long begun = System.nanoTime();
            String answer;
            try {
                answer = Integer.toString(client.send(request, HttpResponse.BodyHandlers.discarding())
                        .statusCode());
            } catch (IOException e) {
                answer = "failed";
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                return;
            }
            nanos[i] = System.nanoTime() - begun;
            answers.computeIfAbsent(answer, it -> new LongAdder()).increment();
        }
    }

    private void report(CommandSpec command, long[] nanos, double seconds) {
        Arrays.sort(nanos);
        Map<String, Object> report = new TreeMap<>();
        report.put("requests", requests);
        report.put("connections", connections);
        report.put("requestsPerSecond", Math.round(requests / seconds));
        report.put("p50Millis", millis(nanos, 50));
        report.put("p99Millis", millis(nanos, 99));
        report.put("maxMillis", millis(nanos, 100));
        report.put("answers", answers);
        if (json) {
            command.commandLine().getOut().println(Json.pretty(report));
        } else {
            Table table = new Table("WHAT", "NUMBER");
            report.forEach(table::row);
            table.print(command.commandLine().getOut());
        }
        command.commandLine().getOut().flush();
    }

    private static double millis(long[] sorted, int percent) {
        int at = Math.min(sorted.length - 1, sorted.length * percent / 100);
        return Math.round(sorted[at] / NANOS_PER_MILLI * 100) / 100.0;
    }
}
