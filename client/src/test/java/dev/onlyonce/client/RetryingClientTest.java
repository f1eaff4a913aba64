package dev.onlyonce.client;

import static dev.onlyonce.client.ScriptedServer.hangUp;
import static dev.onlyonce.client.ScriptedServer.problem;
import static dev.onlyonce.client.ScriptedServer.status;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onlyonce.client.CallResult.Done;
import dev.onlyonce.client.CallResult.InDoubt;
import dev.onlyonce.client.CallResult.Reason;
import dev.onlyonce.client.CallResult.Refused;
import dev.onlyonce.client.ScriptedServer.Received;
import dev.onlyonce.client.journal.FileJournal;
import java.io.IOException;
import java.net.ServerSocket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@DisplayName("The client")
class RetryingClientTest {
    private static final String ID = "order-42/pay";

    @TempDir
    private Path folder;

    private final ManualClientTime time = new ManualClientTime();
    private final ScriptedServer server = new ScriptedServer();
    private final List<AutoCloseable> opened = new ArrayList<>();

    @AfterEach
    void stop() throws Exception {
        server.close();
        for (AutoCloseable each : opened) {
            each.close();
        }
    }

    private RetryingClient.Builder builder() {
        return RetryingClient.builder(FileJournal.open(folder.resolve("journal"), Duration.ofDays(30), time))
                .time(time);
    }

    private RetryingClient client(RetryingClient.Builder builder) {
        RetryingClient client = builder.build();
        opened.add(client);
        return client;
    }

    private RetryingClient client() {
        return client(builder());
    }

    private CallRequest request() {
        return CallRequest.post(server.url("/pay"), "{\"cents\":990}");
    }

    private List<String> keys() {
        return server.received().stream().map(Received::key).distinct().toList();
    }

    @Test
    @DisplayName("X1 writes key and bytes to the journal before the first byte is sent")
    void journalFirst() throws Exception {
        List<String> atArrival = new ArrayList<>();
        server.then(out -> {
            try (FileJournal other = FileJournal.open(folder.resolve("journal"))) {
                atArrival.add(other.find(ID).orElseThrow().key());
            }
            status(201, "{}").to(out);
        });
        assertThat(client().send(ID, request())).isInstanceOf(Done.class);
        assertThat(atArrival).isEqualTo(keys()).hasSize(1);
        assertThat(client().pending()).isEmpty();
    }

    @Test
    @DisplayName("X2 a client that was killed after sending is resumed with the same key and the same bytes")
    void resumed() throws Exception {
        server.then(hangUp());
        RetryPolicy once = RetryPolicy.builder().attemptsMax(1).build();
        InDoubt doubt = (InDoubt) client(builder().policy(once)).send(ID, request());
        assertThat(doubt.reason()).isEqualTo(Reason.ATTEMPTS);
        assertThat(doubt.mayHaveHappened()).isTrue();

        RetryingClient next = client(builder().attemptHeaders(request -> Map.of("Authorization", "Bearer new")));
        assertThat(next.pending()).singleElement().satisfies(call -> {
            assertThat(call.id()).isEqualTo(ID);
            assertThat(call.toString()).doesNotContain(call.key());
        });
        assertThat(next.resume())
                .containsOnlyKeys(ID)
                .allSatisfy((id, result) -> assertThat(result).isInstanceOf(Done.class));
        assertThat(next.pending()).isEmpty();
        assertThat(keys()).hasSize(1);
        assertThat(server.received()).hasSize(2).allSatisfy(received -> {
            assertThat(received.body()).asString(StandardCharsets.UTF_8).isEqualTo("{\"cents\":990}");
            assertThat(received.headers()).containsEntry("content-type", "application/json");
        });
        assertThat(server.received().get(1).headers()).containsEntry("authorization", "Bearer new");
    }

    @Test
    @DisplayName("X4 answers a repeated call from the journal, and never sends it under a second key")
    void repeated() throws Exception {
        RetryingClient client = client();
        client.send(ID, request());
        CallResult again = client.send(ID, request());
        assertThat(again.orElseThrow().text()).isEqualTo("{\"ok\":true}");
        assertThat(again.attempts()).isEmpty();
        assertThat(server.received()).hasSize(1);
    }

    @Test
    @DisplayName("X4 refuses another request under the same id, and sends nothing")
    void idReused() throws Exception {
        RetryingClient client = client();
        client.send(ID, request());
        assertThatThrownBy(() -> client.send(ID, CallRequest.post(server.url("/pay"), "{\"cents\":1}")))
                .isInstanceOf(IdReused.class)
                .hasMessageContaining(ID);
        assertThat(server.received()).hasSize(1);
        assertThat(client.forget(ID)).isTrue();
        client.send(ID, CallRequest.post(server.url("/pay"), "{\"cents\":1}"));
        assertThat(keys()).hasSize(2);
    }

    @Test
    @DisplayName("X1 fails before it sends when the journal cannot be written")
    void journalClosed() {
        RetryingClient client = client();
        client.close();
        assertThatThrownBy(() -> client.send(ID, request())).isInstanceOf(JournalException.class);
        assertThat(server.received()).isEmpty();
    }

    @Test
    @DisplayName("X3 backs off with full jitter, with a bound that doubles")
    void backoff() throws Exception {
        server.always(status(500, "oops"));
        RetryPolicy policy = RetryPolicy.builder()
                .attemptsMax(9)
                .firstPause(Duration.ofMillis(100))
                .longestPause(Duration.ofSeconds(2))
                .build();
        InDoubt doubt = (InDoubt) client(builder().policy(policy)).send(ID, request());
        assertThat(doubt.attempts()).hasSize(9);
        assertThat(time.pauses()).hasSize(8);
        long bound = 100;
        for (Duration pause : time.pauses()) {
            assertThat(pause.toMillis()).isLessThanOrEqualTo(Math.min(bound, 2000));
            bound *= 2;
        }
        assertThat(time.pauses()).doesNotHaveDuplicates();
        assertThat(keys()).hasSize(1);
    }

    @Test
    @DisplayName("X3 waits as long as Retry-After says, in seconds or as a date by the server's own clock")
    void retryAfter() throws Exception {
        server.then(problem(409, "in_progress", "Retry-After", "7"))
                .then(problem(
                        503,
                        "store_unavailable",
                        "Retry-After",
                        "Thu, 01 Jan 2026 00:00:09 GMT",
                        "Date",
                        "Thu, 01 Jan 2026 00:00:00 GMT"));
        time.jump(Duration.ofDays(-400));
        Done done = (Done) client().send(ID, request());
        assertThat(done.attempts()).hasSize(3);
        assertThat(time.pauses().get(0)).isBetween(Duration.ofSeconds(7), Duration.ofMillis(7300));
        assertThat(time.pauses().get(1)).isBetween(Duration.ofSeconds(9), Duration.ofMillis(9300));
    }

    @Test
    @DisplayName("X3 stops at once when the server asks to wait beyond the deadline")
    void beyondDeadline() throws Exception {
        server.always(problem(429, "too_many_keys", "Retry-After", "3600"));
        InDoubt doubt = (InDoubt) client().send(ID, request());
        assertThat(doubt.reason()).isEqualTo(Reason.DEADLINE);
        assertThat(doubt.mayHaveHappened()).isFalse();
        assertThat(doubt)
                .hasToString(doubt.toString())
                .asString()
                .contains("has not taken effect", "too_many_keys, not executed", "resume");
        assertThat(server.received()).hasSize(1);
    }

    @Test
    @DisplayName("X3 has a retry budget: when nothing succeeds, most calls are sent once")
    void budget() throws Exception {
        server.always(status(503, ""));
        RetryingClient client = client();
        List<Reason> reasons = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            reasons.add(((InDoubt) client.send("call-" + i, request())).reason());
        }
        assertThat(server.received()).hasSize(20 + 10);
        assertThat(reasons.subList(2, 20)).containsOnly(Reason.BUDGET);
    }

    @Test
    @DisplayName("X3 does not retry a definitive answer")
    void definitive() throws Exception {
        RetryingClient client = client();
        for (int status : new int[] {200, 204, 303, 400, 402, 404, 409, 410, 413, 422}) {
            server.then(status(status, status == 204 ? "" : "{}", "Location", "/x"));
            CallResult result = client.send("call-" + status, request());
            assertThat(result).as("%d", status).isInstanceOf(status < 400 ? Done.class : Refused.class);
        }
        assertThat(server.received()).hasSize(10);
        assertThat(client.pending()).isEmpty();
    }

    @Test
    @DisplayName("A refusal for lack of credentials can be tried again, with the same key")
    void credentials() throws Exception {
        server.then(status(401, ""));
        RetryingClient client = client();
        assertThat(client.send(ID, request().header("Authorization", "Bearer old")))
                .isInstanceOf(Refused.class);
        assertThat(client.pending()).isEmpty();
        assertThat(client.send(ID, request().header("Authorization", "Bearer new")))
                .isInstanceOf(Done.class);
        assertThat(keys()).hasSize(1);
        assertThat(server.received().get(1).headers()).containsEntry("authorization", "Bearer new");
        assertThat(Files.readString(folder.resolve("journal"), StandardCharsets.ISO_8859_1))
                .doesNotContain("Bearer");
    }

    @Test
    @DisplayName("A refusal of credentials after a lost answer is doubt, not a refusal")
    void credentialsAfterDoubt() throws Exception {
        server.then(hangUp()).then(status(401, ""));
        RetryingClient client = client();
        InDoubt doubt = (InDoubt) client.send(ID, request());
        assertThat(doubt.reason()).isEqualTo(Reason.NOT_TAKEN);
        assertThat(doubt.mayHaveHappened()).isTrue();
        assertThat(client.pending()).hasSize(1);
        assertThat(client.resume(ID)).isInstanceOf(Done.class);
        assertThat(keys()).hasSize(1);
    }

    @Test
    @DisplayName("key_reused is a bug and throws, ours and Stripe's")
    void keyReused() {
        server.then(problem(422, "key_reused"))
                .then(status(400, "{\"error\":{\"type\":\"idempotency_error\",\"message\":\"Keys for\"}}"));
        RetryingClient client = client();
        for (String id : List.of("a", "b")) {
            assertThatThrownBy(() -> client.send(id, request()))
                    .isInstanceOf(KeyReused.class)
                    .hasMessageContaining(id);
        }
        assertThat(server.received()).hasSize(2);
        assertThat(client.pending()).hasSize(2);
    }

    @Test
    @DisplayName("key_expired asks the caller: the key is kept, and no new one is made")
    void keyExpired() throws Exception {
        server.always(problem(410, "key_expired"));
        RetryingClient client = client();
        InDoubt doubt = (InDoubt) client.send(ID, request());
        assertThat(doubt.reason()).isEqualTo(Reason.KEY_EXPIRED);
        client.send(ID, request());
        assertThat(keys()).hasSize(1);
    }

    @Test
    @DisplayName("A call that was sent longer ago than the server remembers is not sent again by itself")
    void tooOld() throws Exception {
        server.then(hangUp());
        client(builder().policy(RetryPolicy.builder().attemptsMax(1).build())).send(ID, request());
        time.advance(Duration.ofHours(25));
        RetryingClient next = client();
        InDoubt doubt = (InDoubt) next.resume(ID);
        assertThat(doubt.reason()).isEqualTo(Reason.KEY_EXPIRED);
        assertThat(server.received()).hasSize(1);
        assertThat(next.pending()).hasSize(1);
    }

    @Test
    @DisplayName("Idempotency-Key-Expires ends the retries of an attempt that may have had an effect")
    void expires() throws Exception {
        server.always(status(
                500,
                "",
                "Date",
                "Thu, 01 Jan 2026 00:00:00 GMT",
                "Idempotency-Key-Expires",
                "Thu, 01 Jan 2026 00:00:05 GMT",
                "Retry-After",
                "6"));
        InDoubt doubt = (InDoubt) client().send(ID, request());
        assertThat(doubt.reason()).isEqualTo(Reason.KEY_EXPIRED);
        assertThat(server.received()).hasSize(1);
    }

    @Test
    @DisplayName("outcome_unknown polls the status resource, and then fetches the recorded answer")
    void unknown() throws Exception {
        server.then(problem(409, "outcome_unknown", "Retry-After", "5"))
                .then(status(200, "{\"state\":\"unknown\"}", "Retry-After", "3"))
                .then(status(200, "{\"state\":\"completed\"}"))
                .then(status(201, "{}", "Idempotent-Replayed", "true"));
        Done done = (Done) client().send(ID, request());
        assertThat(done.isReplayed()).isTrue();
        assertThat(server.received().stream().map(Received::line))
                .containsExactly(
                        "POST /pay HTTP/1.1",
                        "GET /.well-known/idempotency/status HTTP/1.1",
                        "GET /.well-known/idempotency/status HTTP/1.1",
                        "POST /pay HTTP/1.1");
        assertThat(keys()).hasSize(1);
        assertThat(done.toString()).contains("status: unknown", "replayed");
    }

    @Test
    @DisplayName("Waiting for a request that is running does not use up attempts or budget")
    void running() throws Exception {
        for (int i = 0; i < 15; i++) {
            server.then(problem(409, "in_progress", "Retry-After", "1"));
            server.then(status(202, "", "Retry-After", "1"));
        }
        assertThat(client().send(ID, request())).isInstanceOf(Done.class);
        assertThat(server.received()).hasSize(31);
    }

    @Test
    @DisplayName("A server error that is recorded as the answer is not retried")
    void recordedError() throws Exception {
        server.then(status(500, "{}")).then(status(500, "{}", "Idempotent-Replayed", "true"));
        InDoubt doubt = (InDoubt) client().send(ID, request());
        assertThat(doubt.reason()).isEqualTo(Reason.RECORDED_ERROR);
        assertThat(server.received()).hasSize(2);
    }

    @Test
    @DisplayName("A refused connection is no doubt: nothing was sent")
    void refusedConnection() throws Exception {
        URI nobody;
        try (ServerSocket free = new ServerSocket(0)) {
            nobody = URI.create("http://127.0.0.1:" + free.getLocalPort() + "/pay");
        }
        InDoubt doubt = (InDoubt) client().send(ID, CallRequest.post(nobody, "{}"));
        assertThat(doubt.mayHaveHappened()).isFalse();
        assertThat(doubt.toString()).contains("nothing was sent");
    }

    @Test
    @DisplayName("A server that does not honour keys gets a doubtful request once")
    void withoutKeys() throws Exception {
        RetryPolicy policy = RetryPolicy.builder().honoursKeys(false).build();
        RetryingClient client = client(builder().policy(policy));
        server.then(status(429, "")).then(hangUp());
        InDoubt doubt = (InDoubt) client.send(ID, request());
        assertThat(doubt.reason()).isEqualTo(Reason.NOT_REPEATABLE);
        assertThat(((InDoubt) client.resume(ID)).reason()).isEqualTo(Reason.NOT_REPEATABLE);
        assertThat(server.received()).hasSize(2);
    }

    @Test
    @DisplayName("307 and 308 keep method, body and key; credentials do not go to another origin")
    void redirects() throws Exception {
        try (ScriptedServer other = new ScriptedServer()) {
            server.then(status(307, "", "Location", "/elsewhere"))
                    .then(status(308, "", "Location", other.url("/there").toString()));
            RetryingClient client = client(builder().attemptHeaders(request -> Map.of("X-Auth-Token", "secret")));
            CallResult result = client.send(ID, request().header("Authorization", "Bearer secret"));
            assertThat(result).isInstanceOf(Done.class);
            assertThat(server.received().get(1).line()).isEqualTo("POST /elsewhere HTTP/1.1");
            assertThat(server.received().get(1).headers()).containsKey("authorization");
            Received last = other.received().get(0);
            assertThat(last.line()).isEqualTo("POST /there HTTP/1.1");
            assertThat(last.body()).asString(StandardCharsets.UTF_8).isEqualTo("{\"cents\":990}");
            assertThat(last.key()).isEqualTo(keys().get(0));
            assertThat(last.headers()).doesNotContainKeys("authorization", "x-auth-token");
        }
    }

    @Test
    @DisplayName("Other redirects, loops and redirects to nowhere are refused")
    void refusedRedirects() throws Exception {
        RetryingClient client = client();
        for (int status : new int[] {301, 302, 304}) {
            server.then(status(status, "", "Location", "/elsewhere"));
            assertThat(client.send("call-" + status, request())).isInstanceOf(Refused.class);
        }
        assertThat(server.received()).hasSize(3);
        server.always(status(307, "", "Location", "/pay"));
        assertThat(client.send("loop", request())).isInstanceOf(Refused.class);
        assertThat(server.received()).hasSize(3 + 6);
        for (String location : List.of("ftp://example.com/", "http://[broken", "http://user:pw@127.0.0.1/")) {
            server.always(status(307, "", "Location", location));
            assertThat(client.send("to " + location, request())).isInstanceOf(Refused.class);
        }
        assertThat(client.pending()).isEmpty();
    }

    @Test
    @DisplayName("An interrupt ends the call, which stays open and is resumed with its key")
    void interrupt() throws Exception {
        server.then(problem(409, "in_progress", "Retry-After", "1"));
        RetryingClient client = client(builder().listener(new CallListener() {
            @Override
            public void waiting(String id, Duration pause) {
                Thread.currentThread().interrupt();
            }
        }));
        assertThatThrownBy(() -> client.send(ID, request())).isInstanceOf(InterruptedException.class);
        assertThat(client.pending()).hasSize(1);
        assertThat(client.resume(ID)).isInstanceOf(Done.class);
        assertThat(keys()).hasSize(1);
    }

    @Test
    @DisplayName("A cancelled call stops, stays open and is resumed with its key")
    void cancel() throws Exception {
        CountDownLatch arrived = new CountDownLatch(1);
        CountDownLatch gone = new CountDownLatch(1);
        server.then(out -> {
            arrived.countDown();
            gone.await();
        });
        RetryingClient client = client();
        CompletableFuture<CallResult> call = client.sendAsync(ID, request());
        arrived.await();
        call.cancel(true);
        awaitIdle();
        gone.countDown();
        assertThat(server.received()).hasSize(1);
        assertThat(client.pending()).hasSize(1);
        assertThat(client.resume(ID)).isInstanceOf(Done.class);
        assertThat(keys()).hasSize(1);
    }

    /** Returns when no thread of a client is in a call. */
    private static void awaitIdle() {
        while (Thread.getAllStackTraces().entrySet().stream()
                .filter(thread -> thread.getKey().getName().equals("onlyonce-client"))
                .flatMap(thread -> Arrays.stream(thread.getValue()))
                .anyMatch(frame -> frame.getClassName().equals(CallRun.class.getName()))) {
            Thread.onSpinWait();
        }
    }

    @Test
    @DisplayName("X4 many threads with one id send one key")
    void oneKey() throws Exception {
        RetryingClient client = client();
        List<CompletableFuture<CallResult>> calls = new ArrayList<>();
        for (int i = 0; i < 30; i++) {
            calls.add(client.sendAsync(ID, request()));
        }
        for (CompletableFuture<CallResult> call : calls) {
            assertThat(call.get()).isInstanceOf(Done.class);
        }
        assertThat(keys()).hasSize(1);
    }

    @Test
    @DisplayName("A body from a file is sent as it was, and a changed file is not sent")
    void fileBody() throws Exception {
        Path file = folder.resolve("body.bin");
        byte[] bytes = new byte[300_000];
        bytes[299_999] = 7;
        Files.write(file, bytes);
        CallRequest request = new CallRequest("POST", server.url("/upload"), Map.of(), CallBody.file(file));
        server.then(hangUp());
        RetryPolicy once = RetryPolicy.builder().attemptsMax(1).build();
        RetryingClient client = client(builder().policy(once));
        client.send(ID, request);
        bytes[150_000] = 1;
        Files.write(file, bytes);
        InDoubt doubt = (InDoubt) client.resume(ID);
        assertThat(doubt.reason()).isEqualTo(Reason.BODY_CHANGED);
        Files.delete(file);
        assertThat(((InDoubt) client.resume(ID)).reason()).isEqualTo(Reason.BODY_CHANGED);
        assertThat(server.received()).hasSize(1);
        bytes[150_000] = 0;
        Files.write(file, bytes);
        assertThat(client.resume(ID)).isInstanceOf(Done.class);
        assertThat(server.received().get(1).body()).isEqualTo(bytes);
        assertThat(keys()).hasSize(1);
    }

    @Test
    @DisplayName("A listener sees every attempt and end, and one that throws does no harm")
    void listeners() throws Exception {
        AtomicInteger attempts = new AtomicInteger();
        List<CallResult> ends = new ArrayList<>();
        server.then(status(500, ""));
        RetryingClient client = client(builder()
                .listener(new CallListener() {
                    @Override
                    public void attempted(String id, Attempt attempt) {
                        throw new StackOverflowError("planted");
                    }
                })
                .listener(new CallListener() {
                    @Override
                    public void attempted(String id, Attempt attempt) {
                        attempts.incrementAndGet();
                    }

                    @Override
                    public void finished(CallResult result, Duration took) {
                        ends.add(result);
                    }
                }));
        CallResult result = client.send(ID, request());
        assertThat(attempts).hasValue(2);
        assertThat(ends).containsExactly(result);
    }

    @Test
    @DisplayName("A wall clock that jumps changes neither the deadline nor the key")
    void jump() throws Exception {
        server.then(out -> {
            time.jump(Duration.ofDays(-1000));
            status(500, "").to(out);
        });
        server.then(out -> {
            time.jump(Duration.ofDays(3000));
            status(500, "").to(out);
        });
        assertThat(client().send(ID, request())).isInstanceOf(Done.class);
        assertThat(server.received()).hasSize(3);
        assertThat(keys()).hasSize(1);
    }

    @Test
    @DisplayName("A prepared call is sent after the commit, by resume")
    void prepared() throws Exception {
        RetryingClient client = client();
        JournaledCall call = client.prepare(ID, request());
        try (FileJournal journal = FileJournal.open(folder.resolve("journal"))) {
            journal.begin(call);
        }
        time.advance(Duration.ofDays(3));
        assertThat(client.resume(ID)).isInstanceOf(Done.class);
        assertThat(keys()).containsExactly(call.key());
    }

    @Test
    @DisplayName("Requests that can never be sent are refused before the journal is written")
    void badRequests() throws IOException {
        assertThatThrownBy(() -> CallRequest.post(URI.create("/pay"), "{}"))
                .hasMessageContaining("https://api.example.com");
        assertThatThrownBy(() -> CallRequest.post(URI.create("http://me:pw@localhost/"), "{}"))
                .hasMessageContaining("user");
        assertThatThrownBy(() -> request().header("Content-Length", "7")).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> request().header("X", "a\r\nY: b")).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> request().header("X", "x".repeat(40_000))).hasMessageContaining("32768");
        assertThatThrownBy(() -> CallBody.of(new byte[2 << 20])).hasMessageContaining("CallBody.file");
        assertThatThrownBy(() -> client().send(ID, request().header("idempotency-key", "mine")))
                .hasMessageContaining("leave it out");
        assertThat(client().pending()).isEmpty();
    }

    @Test
    @DisplayName("Keys are random, UUIDs of version 7, or derived from the id")
    void keySources() {
        assertThat(KeySource.random().make("a")).isNotEqualTo(KeySource.random().make("a"));
        String v7 = KeySource.uuidV7(time).make("a");
        assertThat(java.util.UUID.fromString(v7).version()).isEqualTo(7);
        assertThat(java.util.UUID.fromString(v7).variant()).isEqualTo(2);
        time.advance(Duration.ofSeconds(1));
        assertThat(KeySource.uuidV7(time).make("a")).isGreaterThan(v7);
        byte[] secret = "0123456789abcdef".getBytes(StandardCharsets.UTF_8);
        assertThat(KeySource.derived(secret).make("a"))
                .isEqualTo(KeySource.derived(secret).make("a"))
                .isNotEqualTo(KeySource.derived(secret).make("b"))
                .hasSize(43);
        assertThatThrownBy(() -> KeySource.derived(new byte[3])).hasMessageContaining("16 bytes");
    }

    @Test
    @DisplayName("orElseThrow gives the response, or the explanation")
    void orElseThrow() throws Exception {
        server.then(status(402, "{}"));
        CallResult refused = client().send(ID, request());
        assertThatThrownBy(refused::orElseThrow)
                .isInstanceOfSatisfying(
                        CallFailed.class, e -> assertThat(e.result()).isEqualTo(refused))
                .hasMessageContaining("402");
    }
}
