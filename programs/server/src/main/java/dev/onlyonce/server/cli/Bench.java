package dev.onlyonce.server.cli;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.Arrays;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;

/** Sends POST requests with keys and measures the answers. For one run. */
final class Bench {
    private static final int REPLAYED_KEYS = 16;
    private static final int CONNECTIONS_MAX = 1000;
    private static final int REQUESTS_MAX = 1_000_000;
    private static final double NANOS_PER_MILLI = 1e6;

    private final URI url;
    private final Load load;
    private final AtomicInteger next = new AtomicInteger();
    private final Map<String, LongAdder> answers = new ConcurrentSkipListMap<>();

    /**
     * What to send.
     *
     * @param connections how many requests at once
     * @param requests how many in all
     * @param body of each request
     * @param replay whether a few keys are repeated, instead of a new one for each request
     */
    record Load(int connections, int requests, String body, boolean replay) {
        /** Checks the bounds. */
        Load {
            if (connections < 1 || connections > CONNECTIONS_MAX) {
                throw new IllegalArgumentException("connections must be between 1 and " + CONNECTIONS_MAX);
            }
            if (requests < 1 || requests > REQUESTS_MAX) {
                throw new IllegalArgumentException("requests must be between 1 and " + REQUESTS_MAX);
            }
            if (body == null) {
                throw new IllegalArgumentException("body is missing");
            }
        }
    }

    /**
     * The measurements.
     *
     * @param answers how many by status, or as "failed"
     */
    record Report(
            long requestsPerSecond, double p50Millis, double p99Millis, double maxMillis, Map<String, Long> answers) {
        /** Whether all requests succeeded. */
        boolean allWell() {
            return answers.keySet().stream().allMatch(answer -> answer.startsWith("2"));
        }
    }

    /** Sends nothing yet; throws {@link IllegalArgumentException} if that is not where requests can be sent to. */
    Bench(URI url, Load load) {
        if (url.getScheme() == null || !url.getScheme().matches("(?i)https?") || url.getHost() == null) {
            throw new IllegalArgumentException(
                    "\"" + url + "\" is not a URL; write for example http://127.0.0.1:8090/payments");
        }
        this.url = url;
        this.load = load;
    }

    /** Sends everything. Blocks. */
    Report run() {
        long[] nanos = new long[load.requests()];
        String run = UUID.randomUUID().toString();
        HttpClient client = HttpClient.newBuilder()
                .version(HttpClient.Version.HTTP_1_1)
                .connectTimeout(Duration.ofSeconds(5))
                .build();
        Thread[] threads = new Thread[load.connections()];
        long begun = System.nanoTime();
        for (int i = 0; i < threads.length; i++) {
            threads[i] = new Thread(() -> send(client, run, nanos), "bench-" + i);
            threads[i].start();
        }
        try {
            for (Thread thread : threads) {
                thread.join();
            }
        } catch (InterruptedException e) {
            for (Thread thread : threads) {
                thread.interrupt();
            }
            Thread.currentThread().interrupt();
        }
        double seconds = (System.nanoTime() - begun) / (1000 * NANOS_PER_MILLI);
        Arrays.sort(nanos);
        Map<String, Long> counted = new ConcurrentSkipListMap<>();
        answers.forEach((answer, count) -> counted.put(answer, count.sum()));
        return new Report(
                Math.round(load.requests() / seconds),
                millis(nanos, 50),
                millis(nanos, 99),
                millis(nanos, 100),
                counted);
    }

    private void send(HttpClient client, String run, long[] nanos) {
        for (int i = next.getAndIncrement(); i < load.requests(); i = next.getAndIncrement()) {
            HttpRequest request = HttpRequest.newBuilder(url)
                    .header("Idempotency-Key", run + "-" + (load.replay() ? i % REPLAYED_KEYS : i))
                    .header("Content-Type", "application/json")
                    .timeout(Duration.ofMinutes(1))
                    .POST(HttpRequest.BodyPublishers.ofString(load.body()))
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

    private static double millis(long[] sorted, int percent) {
        int at = Math.min(sorted.length - 1, sorted.length * percent / 100);
        return Math.round(sorted[at] / NANOS_PER_MILLI * 100) / 100.0;
    }
}
