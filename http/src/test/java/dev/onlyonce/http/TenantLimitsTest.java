package dev.onlyonce.http;

import static dev.onlyonce.http.TestBoundary.assertProblem;
import static dev.onlyonce.http.TestBoundary.created;
import static dev.onlyonce.http.TestBoundary.header;
import static dev.onlyonce.http.TestBoundary.payments;
import static dev.onlyonce.http.TestBoundary.post;
import static dev.onlyonce.http.TestBoundary.request;
import static org.assertj.core.api.Assertions.assertThat;

import dev.onlyonce.Key;
import dev.onlyonce.Onlyonce;
import dev.onlyonce.Policy;
import dev.onlyonce.fingerprint.Fingerprint;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.LinkedBlockingQueue;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class TenantLimitsTest {

    private static TestBoundary limited(int newKeys, int live, int lookUps) {
        return limited(limits(newKeys, live, 0, lookUps), payments().build());
    }

    private static Limits limits(int newKeys, int live, int stored, int lookUps) {
        return Limits.builder()
                .newKeysPerSecond(newKeys)
                .liveMax(live)
                .storedMax(stored)
                .lookUpsPerSecond(lookUps)
                .build();
    }

    private static TestBoundary limited(Limits limits, Operation operation) {
        return new TestBoundary(builder -> builder.operation(operation).limits(limits));
    }

    /** Begins all requests before the answer to any of them is handled, as a burst of them would. */
    private static List<Exchange> burst(TestBoundary test, int requests) throws InterruptedException {
        BlockingQueue<Runnable> loop = new LinkedBlockingQueue<>();
        EventLoop on = new EventLoop(loop::add, Runnable::run);
        Operation operation = test.boundary().operations().get(0);
        List<CompletionStage<Exchange>> stages = new ArrayList<>();
        for (int i = 0; i < requests; i++) {
            stages.add(test.boundary().exchange(operation, post("burst-" + i)).begin(on));
        }
        while (!stages.stream().allMatch(stage -> stage.toCompletableFuture().isDone())) {
            loop.take().run();
        }
        return stages.stream().map(stage -> stage.toCompletableFuture().join()).toList();
    }

    private static List<Exchange> running(List<Exchange> exchanges) {
        return exchanges.stream()
                .filter(exchange -> exchange.stage() == Exchange.Stage.RUNNING)
                .toList();
    }

    @Test
    @DisplayName("S3 a burst runs no more live keys than the limit, and each end makes room for one")
    void burstOfLiveKeys() throws InterruptedException {
        try (TestBoundary test = limited(0, 5, 0)) {
            List<Exchange> exchanges = burst(test, 50);
            List<Exchange> running = running(exchanges);
            assertThat(running).hasSize(5);
            exchanges.stream()
                    .filter(exchange -> exchange.stage() == Exchange.Stage.ANSWERED)
                    .forEach(exchange -> assertProblem(exchange.answer(), 429, Problem.TOO_MANY_LIVE));
            running.get(0).finish(created());
            running.get(1).notExecuted("refused");
            running.get(2).ambiguous("reset");
            running.get(3).failed(new IllegalStateException());
            running.get(4).finishLarge(201, Headers.none());
            List<Exchange> next = new ArrayList<>();
            for (int i = 0; i < 5; i++) {
                next.add(test.begin(post("next-" + i)));
            }
            assertProblem(test.send(post("next-5")), 429, Problem.TOO_MANY_LIVE);
            next.forEach(exchange -> exchange.finish(created()));
        }
    }

    @Test
    @DisplayName("S3 a burst uses no more new keys than the rate")
    void burstOfNewKeys() throws InterruptedException {
        try (TestBoundary test = limited(3, 0, 0)) {
            assertThat(running(burst(test, 50))).hasSize(3);
        }
    }

    @Test
    @DisplayName("S3 a duplicate, a misuse and a refused request leave room and allowance as they were")
    void nothingLeaks() {
        try (TestBoundary test = limited(3, 2, 0)) {
            Exchange running = test.begin(post("k-1"));
            for (int i = 0; i < 10; i++) {
                assertProblem(test.send(post("k-1")), 409, Problem.IN_PROGRESS);
                assertProblem(test.send(post("/payments", "k-1", "{}")), 422, Problem.KEY_REUSED);
            }
            Exchange second = test.begin(post("k-2"));
            assertProblem(test.send(post("k-3")), 429, Problem.TOO_MANY_LIVE);
            running.finish(created());
            second.finish(created());
            assertThat(test.send(post("k-3")).status()).isEqualTo(201);
            assertProblem(test.send(post("k-4")), 429, Problem.TOO_MANY_KEYS);
        }
    }

    @Test
    @DisplayName("S3 a key that may run again does not run past the limit of live keys, and is no new key")
    void retryableKeys() {
        try (TestBoundary test = limited(2, 1, 0)) {
            test.begin(post("k-1")).notExecuted("refused");
            Exchange other = test.begin(post("k-2"));
            assertProblem(test.send(post("k-1")), 429, Problem.TOO_MANY_LIVE);
            other.finish(created());
            assertThat(test.send(post("k-1")).status()).isEqualTo(201);
        }
    }

    @Test
    @DisplayName(
            "S3 a burst of keys that may run again keeps to the limit of live keys when other limits are reached too")
    void burstOfRetryableKeys() {
        for (Limits limits : List.of(limits(50, 5, 0, 0), limits(0, 5, 50, 0))) {
            try (TestBoundary test = limited(limits, payments().build())) {
                for (int i = 0; i < 50; i++) {
                    test.begin(post("burst-" + i)).notExecuted("refused");
                }
                List<Exchange> running = letThrough(test, 50);
                assertThat(running).as(limits.toString()).hasSize(5);
                running.forEach(exchange -> exchange.started(false));
                assertThat(letThrough(test, 50)).isEmpty();
                running.forEach(Exchange::release);
                assertThat(letThrough(test, 50)).hasSize(5);
            }
        }
    }

    /** Checks all requests before any of them claims its key. */
    private static List<Exchange> letThrough(TestBoundary test, int requests) {
        Operation operation = test.boundary().operations().get(0);
        List<Exchange> admitted = new ArrayList<>();
        for (int i = 0; i < requests; i++) {
            Exchange exchange =
                    test.boundary().exchange(operation, post("burst-" + i)).admit();
            if (exchange.stage() == Exchange.Stage.READY) {
                admitted.add(exchange);
            }
        }
        return admitted;
    }

    @Test
    @DisplayName("S3 where clients choose the tenant, as by a host name, all of them share the limits")
    void together() {
        Limits limits = limits(0, 2, 3, 1);
        try (TestBoundary test = new TestBoundary(
                builder -> builder.operation(payments().build()).limits(limits).limitTogether())) {
            Exchange first = test.begin(of("a.example", "k-1"));
            Exchange second = test.begin(of("b.example", "k-1"));
            assertProblem(test.send(of("c.example", "k-1")), 429, Problem.TOO_MANY_LIVE);
            first.finish(created());
            second.finish(created());
            test.time.runAtOnce();
            assertThat(test.send(of("c.example", "k-1")).status()).isEqualTo(201);
            assertProblem(test.send(of("d.example", "k-1")), 429, Problem.TOO_MANY_STORED);
            test.time.pass(StoredKeys.COUNT_EVERY);
            assertProblem(test.send(of("d.example", "k-1")), 429, Problem.TOO_MANY_STORED);
            test.time.runAtOnce();
            assertProblem(test.send(of("e.example", "k-1")), 429, Problem.TOO_MANY_STORED);
            assertThat(header(test.send(of("a.example", "k-1")), "Idempotent-Replayed"))
                    .isEqualTo("true");
            assertThat(test.boundary().status(of("a.example", "k-1")).status()).isEqualTo(200);
            assertProblem(test.boundary().status(of("b.example", "k-1")), 429, Problem.TOO_MANY_LOOKUPS);
        }
    }

    private static HttpRequest of(String tenant, String key) {
        return request("POST", "/payments", Headers.of("Idempotency-Key", key), "", tenant);
    }

    @Test
    @DisplayName("S3 duplicates that wait take no room from requests that would be executed")
    void waitingDuplicates() {
        Operation waits = payments()
                .policy(Policy.builder().waitMax(Duration.ofMillis(200)).build())
                .build();
        try (TestBoundary test = limited(limits(0, 2, 0, 0), waits)) {
            Exchange running = test.begin(post("k-1"));
            for (int i = 0; i < 5; i++) {
                assertProblem(test.send(post("k-1")), 409, Problem.IN_PROGRESS);
            }
            assertThat(test.send(post("k-2")).status()).isEqualTo(201);
            running.finish(created());
        }
    }

    @Test
    @DisplayName(
            "S3 stored keys over the limit get 429 once they are counted; retries still get answers; expiry makes room")
    void storedKeys() {
        Limits limits = limits(0, 0, 3, 0);
        try (TestBoundary test = limited(limits, payments().build())) {
            test.send(post("k-1"));
            test.time.runAtOnce();
            test.send(post("k-2"));
            test.send(post("k-3"));
            assertProblem(test.send(post("k-4")), 429, Problem.TOO_MANY_STORED);
            assertThat(header(test.send(post("k-1")), "Idempotent-Replayed")).isEqualTo("true");
            test.time.pass(Duration.ofHours(25));
            test.once.operator().purge();
            assertProblem(test.send(post("k-4")), 429, Problem.TOO_MANY_STORED);
            test.time.runAtOnce();
            assertThat(test.send(post("k-4")).status()).isEqualTo(201);
        }
    }

    @Test
    @DisplayName("S3 keys that other nodes have stored count too")
    void storedByOthers() {
        try (TestBoundary test = limited(limits(0, 0, 3, 0), payments().build());
                Onlyonce other = Onlyonce.builder(test.store).time(test.time).build()) {
            for (int i = 0; i < 5; i++) {
                other.begin(Key.of("acme", "POST /payments", "other-" + i), Fingerprint.of(new byte[0]));
            }
            assertThat(test.send(post("k-1")).status()).as("not counted yet").isEqualTo(201);
            test.time.runAtOnce();
            assertProblem(test.send(post("k-2")), 429, Problem.TOO_MANY_STORED);
            HttpRequest theirs = request("POST", "/payments", Headers.of("Idempotency-Key", "k-2"), "", "zenith");
            assertThat(test.send(theirs).status()).isEqualTo(201);
        }
    }

    @Test
    @DisplayName("S3 new keys over the rate get 429 with Retry-After; retries and other tenants do not")
    void newKeys() {
        try (TestBoundary test = limited(2, 0, 0)) {
            test.send(post("k-1"));
            test.send(post("k-2"));
            assertProblem(test.send(post("k-3")), 429, Problem.TOO_MANY_KEYS);
            assertThat(header(test.send(post("k-1")), "Idempotent-Replayed")).isEqualTo("true");
            HttpRequest other = request("POST", "/payments", Headers.of("Idempotency-Key", "k-3"), "", "zenith");
            assertThat(test.send(other).status()).isEqualTo(201);
            test.time.pass(Duration.ofMillis(500));
            assertThat(test.send(post("k-3")).status()).isEqualTo(201);
            assertProblem(test.send(post("k-4")), 429, Problem.TOO_MANY_KEYS);
            assertThat(test.effects).hasValue(4);
        }
    }

    @Test
    @DisplayName("S3 a retry after a proven non-execution is no new key")
    void retriesAreFree() {
        try (TestBoundary test = limited(1, 0, 0)) {
            test.begin(post("k-1")).notExecuted("refused");
            assertThat(test.send(post("k-1")).status()).isEqualTo(201);
        }
    }

    @Test
    @DisplayName("S3 live keys over the limit get 429, duplicates of live ones 409, and an end makes room")
    void live() {
        try (TestBoundary test = limited(0, 2, 0)) {
            Exchange first = test.begin(post("k-1"));
            test.begin(post("k-2"));
            assertProblem(test.send(post("k-3")), 429, Problem.TOO_MANY_LIVE);
            assertProblem(test.send(post("k-2")), 409, Problem.IN_PROGRESS);
            first.finish(created());
            assertThat(test.send(post("k-3")).status()).isEqualTo(201);
        }
    }

    @Test
    @DisplayName("S3 status look-ups are limited per caller")
    void lookUps() {
        try (TestBoundary test = limited(0, 0, 1)) {
            test.send(post("k-1"));
            HttpRequest ask = request("GET", "/status", Headers.of("Idempotency-Key", "k-1"), "", "acme");
            assertThat(test.boundary().status(ask).status()).isEqualTo(200);
            assertProblem(test.boundary().status(ask), 429, Problem.TOO_MANY_LOOKUPS);
            HttpRequest other = request("GET", "/status", Headers.of("Idempotency-Key", "k-1"), "", "zenith");
            assertProblem(test.boundary().status(other), 404, Problem.KEY_UNKNOWN);
            test.time.pass(Duration.ofSeconds(1));
            assertThat(test.boundary().status(ask).status()).isEqualTo(200);
        }
    }
}
