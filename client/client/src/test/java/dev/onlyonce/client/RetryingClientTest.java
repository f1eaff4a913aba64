package dev.onlyonce.client;

import static dev.onlyonce.client.ScriptedServer.hangUp;
import static dev.onlyonce.client.ScriptedServer.status;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onlyonce.client.CallResult.Done;
import dev.onlyonce.client.CallResult.InDoubt;
import dev.onlyonce.client.CallResult.Reason;
import dev.onlyonce.client.journal.SqliteJournal;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("The client")
class RetryingClientTest extends ScriptedCalls {
    @Test
    @DisplayName("X1 writes key and bytes to the journal before the first byte is sent")
    void journalFirst() throws Exception {
        List<String> atArrival = new ArrayList<>();
        server.then(out -> {
            try (Journal other = SqliteJournal.open(journal())) {
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

        RetryingClient next =
                client(builder().attemptHeaders(server.url("/"), request -> Map.of("Authorization", "Bearer new")));
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
    @DisplayName("X4 reports a call that is damaged in the journal, sends nothing for it, and goes on with the others")
    void damagedCall() throws Exception {
        RetryPolicy once = RetryPolicy.builder().attemptsMax(1).build();
        server.then(status(503, "")).then(status(503, "")).then(status(503, "")).always(status(201, "{}"));
        try (RetryingClient client = builder().policy(once).build()) {
            for (String id : List.of("a", "b", "c")) {
                assertThat(client.send(id, request())).isInstanceOf(InDoubt.class);
            }
        }
        try (Connection connection = DriverManager.getConnection("jdbc:sqlite:" + journal());
                Statement statement = connection.createStatement()) {
            statement.execute("UPDATE onlyonce_client_call SET idempotency_key = 'another' WHERE id = 'b'");
        }
        List<String> heard = new ArrayList<>();
        RetryingClient next = client(builder().listener(new CallListener() {
            @Override
            public void journalFailed(JournalException failure) {
                heard.add(String.valueOf(failure.getMessage()));
            }
        }));
        assertThat(next.pending()).extracting(JournaledCall::id).containsExactlyInAnyOrder("a", "c");
        Map<String, CallResult> results = next.resume();
        assertThat(results).containsOnlyKeys("a", "b", "c");
        assertThat(results.get("a")).isInstanceOf(Done.class);
        assertThat(results.get("c")).isInstanceOf(Done.class);
        assertThat(results.get("b")).asString().contains("b is in doubt").contains("restore the journal from a copy");
        assertThat(heard).hasSize(2).allSatisfy(message -> assertThat(message).contains("The call b"));
        assertThat(server.received()).hasSize(5);
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
    @DisplayName("A prepared call is sent after the commit, by resume")
    void prepared() throws Exception {
        RetryingClient client = client();
        JournaledCall call = client.prepare(ID, request());
        try (Journal journal = SqliteJournal.open(journal())) {
            journal.begin(call);
        }
        time.advance(Duration.ofDays(3));
        assertThat(client.resume(ID)).isInstanceOf(Done.class);
        assertThat(keys()).containsExactly(call.key());
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
    @DisplayName("orElseThrow gives the response, or the explanation")
    void orElseThrow() throws Exception {
        server.then(status(402, "{}"));
        CallResult refused = client().send(ID, request());
        assertThatThrownBy(refused::orElseThrow)
                .isInstanceOfSatisfying(
                        CallFailed.class, e -> assertThat(e.result()).isEqualTo(refused))
                .hasMessageContaining("402");
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
}
