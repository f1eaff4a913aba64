package dev.onlyonce.client.journal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onlyonce.client.CallBody;
import dev.onlyonce.client.CallRequest;
import dev.onlyonce.client.CallResponse;
import dev.onlyonce.client.Journal;
import dev.onlyonce.client.Journal.Verdict;
import dev.onlyonce.client.JournaledCall;
import dev.onlyonce.client.ManualClientTime;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What every journal keeps. */
abstract class JournalContract {
    static final Instant NOW = Instant.parse("2026-01-01T00:00:00Z");
    static final CallResponse CREATED = new CallResponse(
            201,
            Map.of("Content-Type", List.of("application/json"), "Set-Cookie", List.of("a=b")),
            "{\"id\":7}".getBytes(java.nio.charset.StandardCharsets.UTF_8),
            true);

    final ManualClientTime time = new ManualClientTime();

    @TempDir
    Path folder;

    private Journal journal;

    private static CallResponse answer(int status) {
        return new CallResponse(status, Map.of(), new byte[0], true);
    }

    private int recorded(String id) {
        CallResponse answer = journal.find(id).orElseThrow().progress().answer();
        return answer == null ? 0 : answer.status();
    }

    /** Opens the journal; called twice, it opens the same. */
    abstract Journal open() throws Exception;

    /** Removes what an earlier test has left. */
    void clear() throws Exception {}

    @BeforeEach
    void start() throws Exception {
        clear();
        journal = open();
    }

    @AfterEach
    void stop() {
        journal.close();
    }

    static JournaledCall call(String id, String key, @Nullable Instant sentAt) {
        CallRequest request = CallRequest.post(URI.create("http://localhost/pay"), "{\"cents\":990}")
                .header("X-Trace", "é");
        return new JournaledCall(id, key, request, new JournaledCall.Progress(NOW, sentAt));
    }

    @Test
    @DisplayName("X1 a call is there, with its key and its bytes, after the journal is opened again")
    void survives() throws Exception {
        JournaledCall call = call("order-42/pay", "key-1", NOW.plusMillis(5));
        assertThat(journal.begin(call)).isEmpty();
        try (Journal again = open()) {
            JournaledCall found = again.find("order-42/pay").orElseThrow();
            assertThat(found.key()).isEqualTo("key-1");
            assertThat(found.request().isSameAs(call.request())).isTrue();
            assertThat(found.request().headers()).isEqualTo(call.request().headers());
            assertThat(((CallBody.Bytes) found.request().body()).bytes())
                    .asString()
                    .isEqualTo("{\"cents\":990}");
            assertThat(found.progress().createdAt()).isEqualTo(NOW);
            assertThat(found.progress().sentAt()).isEqualTo(NOW.plusMillis(5));
            assertThat(again.pending()).containsExactly("order-42/pay");
        }
    }

    @Test
    @DisplayName("X4 a second call with the same id gets the first one's key")
    void firstWins() {
        assertThat(journal.begin(call("a", "key-1", NOW))).isEmpty();
        assertThat(journal.begin(call("a", "key-2", NOW)).orElseThrow().key()).isEqualTo("key-1");
    }

    @Test
    @DisplayName("ids that differ in case, accents or spaces are different ids")
    void ids() {
        for (String id : List.of("a", "A", "á", "a ", "a\u00a0", "😀")) {
            assertThat(journal.begin(call(id, "key", NOW))).as(id).isEmpty();
        }
        assertThat(journal.pending()).hasSize(6).contains("a ", "😀");
    }

    @Test
    @DisplayName("an answered call is not pending, and its first answer is kept, without cookies")
    void settled() throws Exception {
        journal.begin(call("a", "key-1", NOW));
        journal.begin(call("b", "key-2", NOW));
        assertThat(journal.settle("a", CREATED, Verdict.DONE, NOW)).isTrue();
        assertThat(journal.settle("a", answer(401), Verdict.REFUSED_UNPROVEN, NOW))
                .isFalse();
        assertThat(journal.settle("a", answer(402), Verdict.REFUSED, NOW)).isFalse();
        assertThat(journal.pending()).containsExactly("b");
        try (Journal again = open()) {
            CallResponse answer = again.find("a").orElseThrow().progress().answer();
            assertThat(answer).isNotNull();
            assertThat(answer.status()).isEqualTo(201);
            assertThat(answer.text()).isEqualTo("{\"id\":7}");
            assertThat(answer.headers()).containsOnlyKeys("Content-Type");
        }
    }

    @Test
    @DisplayName("a large answer is kept without its body")
    void largeAnswer() {
        journal.begin(call("a", "key-1", NOW));
        journal.settle("a", new CallResponse(200, Map.of(), new byte[100_000], true), Verdict.DONE, NOW);
        CallResponse answer = journal.find("a").orElseThrow().progress().answer();
        assertThat(answer).isNotNull();
        assertThat(answer.isWhole()).isFalse();
        assertThat(answer.body()).isEmpty();
    }

    @Test
    @DisplayName("X5 sending a refused call again makes it pending, with the same key, as old as its first sending")
    void reopened() {
        journal.begin(call("a", "key-1", null));
        assertThat(journal.find("a").orElseThrow().progress().sent()).isNull();
        journal.sending("a", NOW);
        journal.settle("a", answer(401), Verdict.REFUSED_UNPROVEN, NOW);
        journal.sending("a", NOW.plusSeconds(9));
        JournaledCall found = journal.find("a").orElseThrow();
        assertThat(found.progress().answer()).isNull();
        assertThat(found.progress().sent()).isEqualTo(new JournaledCall.Sent(NOW, NOW.plusSeconds(9), 1));
        assertThat(found.key()).isEqualTo("key-1");
        assertThat(journal.pending()).containsExactly("a");
    }

    @Test
    @DisplayName("X5 a done call stays done when somebody who saw it refused sends it again")
    void doneStays() {
        journal.begin(call("a", "key-1", NOW));
        journal.settle("a", answer(201), Verdict.DONE, NOW);
        assertThat(journal.sending("a", NOW).orElseThrow().progress().answer()).isNotNull();
        assertThat(recorded("a")).isEqualTo(201);
        assertThat(journal.pending()).isEmpty();
    }

    @Test
    @DisplayName("X5 counts the senders of an open call, and keeps the latest time that any of them has seen")
    void senders() {
        journal.begin(call("a", "key-1", null));
        assertThat(sent(NOW)).isEqualTo(new JournaledCall.Sent(NOW, NOW, 1));
        assertThat(sent(NOW.plusSeconds(60))).isEqualTo(new JournaledCall.Sent(NOW, NOW.plusSeconds(60), 2));
        assertThat(sent(NOW.minusSeconds(60))).isEqualTo(new JournaledCall.Sent(NOW, NOW.plusSeconds(60), 3));
    }

    private JournaledCall.@Nullable Sent sent(Instant at) {
        return journal.sending("a", at).orElseThrow().progress().sent();
    }

    @Test
    @DisplayName("X5 a refusal by somebody who may not know counts only while there is one sender")
    void unproven() {
        journal.begin(call("a", "key-1", NOW));
        journal.sending("a", NOW);
        assertThat(journal.settle("a", answer(404), Verdict.REFUSED_UNPROVEN, NOW))
                .isFalse();
        assertThat(recorded("a")).isZero();
        assertThat(journal.settle("a", answer(402), Verdict.REFUSED, NOW)).isTrue();
        assertThat(journal.settle("a", answer(404), Verdict.REFUSED, NOW)).isFalse();
        assertThat(recorded("a")).isEqualTo(402);
        assertThat(journal.settle("a", answer(201), Verdict.DONE, NOW)).isTrue();
        assertThat(journal.settle("a", answer(200), Verdict.DONE, NOW)).isFalse();
        assertThat(recorded("a")).isEqualTo(201);
    }

    @Test
    @DisplayName("X5 of many senders that begin at once, at most one believes that it is alone")
    void alone() throws Exception {
        ExecutorService threads = Executors.newFixedThreadPool(8);
        journal.begin(call("a", "key-1", null));
        try (Journal other = open()) {
            List<Callable<Optional<JournaledCall>>> work = new ArrayList<>();
            for (int i = 0; i < 20; i++) {
                Journal one = i % 2 == 0 ? journal : other;
                work.add(() -> one.sending("a", NOW));
            }
            int alone = 0;
            for (Future<Optional<JournaledCall>> begun : threads.invokeAll(work)) {
                JournaledCall.Sent sent = begun.get().orElseThrow().progress().sent();
                alone += sent != null && sent.senders() == 1 ? 1 : 0;
            }
            assertThat(alone).isLessThan(2);
            assertThat(journal.find("a").orElseThrow().progress().sent())
                    .isEqualTo(new JournaledCall.Sent(NOW, NOW, 20));
        } finally {
            threads.shutdownNow();
        }
    }

    @Test
    @DisplayName("the expiry of a key is there after the journal is opened again, and the last one counts")
    void expiry() throws Exception {
        journal.begin(call("a", "key-1", NOW));
        assertThat(journal.find("a").orElseThrow().progress().keyExpiresAt()).isNull();
        journal.expires("a", NOW.plusSeconds(60));
        journal.expires("a", NOW.plusSeconds(90));
        journal.expires("nobody", NOW);
        try (Journal again = open()) {
            JournaledCall.Progress progress = again.find("a").orElseThrow().progress();
            assertThat(progress.keyExpiresAt()).isEqualTo(NOW.plusSeconds(90));
            assertThat(progress.sentAt()).isEqualTo(NOW);
            assertThat(again.find("nobody")).isEmpty();
        }
    }

    @Test
    @DisplayName("a forgotten call is gone; the next one with its id is a new one")
    void forgotten() {
        journal.begin(call("a", "key-1", NOW));
        assertThat(journal.forget("a")).isTrue();
        assertThat(journal.forget("a")).isFalse();
        assertThat(journal.settle("a", CREATED, Verdict.DONE, NOW)).isFalse();
        assertThat(journal.sending("a", NOW)).isEmpty();
        assertThat(journal.find("a")).isEmpty();
        assertThat(journal.begin(call("a", "key-2", NOW))).isEmpty();
    }

    @Test
    @DisplayName("a body in a file is kept as its path and digest")
    void file() throws Exception {
        Path file = Files.writeString(folder.resolve("body.json"), "{}");
        CallRequest request = new CallRequest("PUT", URI.create("http://localhost/x"), Map.of(), CallBody.file(file));
        journal.begin(new JournaledCall("a", "key", request, new JournaledCall.Progress(NOW, NOW)));
        assertThat(journal.find("a").orElseThrow().request().body()).isEqualTo(request.body());
    }

    @Test
    @DisplayName("X4 of many threads that begin one id, one wins, and all know its key")
    void race() throws Exception {
        ExecutorService threads = Executors.newFixedThreadPool(8);
        try (Journal other = open()) {
            List<Callable<Optional<JournaledCall>>> work = new ArrayList<>();
            for (int i = 0; i < 40; i++) {
                Journal one = i % 2 == 0 ? journal : other;
                String key = "key-" + i;
                work.add(() -> one.begin(call("a", key, NOW)));
            }
            int won = 0;
            List<String> seen = new ArrayList<>();
            for (Future<Optional<JournaledCall>> begun : threads.invokeAll(work)) {
                if (begun.get().isEmpty()) {
                    won++;
                } else {
                    seen.add(begun.get().get().key());
                }
            }
            String key = journal.find("a").orElseThrow().key();
            assertThat(won).isEqualTo(1);
            assertThat(seen).hasSize(39).containsOnly(key);
        } finally {
            threads.shutdownNow();
        }
    }

    @Test
    @DisplayName("answers are dropped after a while, open calls never")
    void retention() throws Exception {
        journal.begin(call("open", "key-0", NOW));
        journal.expires("open", NOW.plusSeconds(60));
        journal.begin(call("old", "key-1", NOW));
        journal.settle("old", CREATED, Verdict.DONE, time.now());
        time.advance(Duration.ofDays(31));
        byte[] body = new byte[16_000];
        for (int i = 0; i < 110; i++) {
            journal.begin(call("new-" + i, "key", NOW));
            journal.settle("new-" + i, new CallResponse(200, Map.of(), body, true), Verdict.DONE, time.now());
            if (i < 100) {
                journal.forget("new-" + i);
            }
        }
        assertThat(journal.find("old")).isEmpty();
        assertThat(journal.pending()).containsExactly("open");
        try (Journal again = open()) {
            JournaledCall open = again.find("open").orElseThrow();
            assertThat(open.key()).isEqualTo("key-0");
            assertThat(open.progress().keyExpiresAt()).isEqualTo(NOW.plusSeconds(60));
            assertThat(again.find("new-105").orElseThrow().progress().answer()).isNotNull();
        }
    }

    @Test
    @DisplayName("ids of 10,000 characters, control characters and broken UTF-16 are refused with a reason")
    void badIds() {
        for (String id : List.of("x".repeat(10_000), "", " ", "a\nb", "a\u0000b", "\ud800")) {
            assertThatThrownBy(() -> call(id, "key", NOW))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("1 to 255 characters");
        }
    }
}
