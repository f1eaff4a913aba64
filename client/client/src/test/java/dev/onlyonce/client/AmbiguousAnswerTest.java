package dev.onlyonce.client;

import static dev.onlyonce.client.ScriptedServer.hangUp;
import static dev.onlyonce.client.ScriptedServer.problem;
import static dev.onlyonce.client.ScriptedServer.status;
import static org.assertj.core.api.Assertions.assertThat;

import dev.onlyonce.client.CallResult.Done;
import dev.onlyonce.client.CallResult.InDoubt;
import dev.onlyonce.client.CallResult.Reason;
import dev.onlyonce.client.CallResult.Refused;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@DisplayName("An answer that can mean two things")
class AmbiguousAnswerTest extends ScriptedCalls {
    @ParameterizedTest
    @ValueSource(ints = {101, 102, 103, 199})
    @DisplayName("An interim answer is not an effect")
    void interim(int status) throws Exception {
        List<CallResponse> answers = new ArrayList<>(List.of(
                new CallResponse(status, Map.of(), new byte[0], true),
                new CallResponse(402, Map.of("Idempotent-Replayed", List.of("true")), new byte[0], true)));
        Transport scripted = (request, timeout) -> answers.remove(0);
        assertThat(client().send(ID, request(), scripted)).isInstanceOf(Refused.class);
        assertThat(answers).isEmpty();
    }

    @Test
    @DisplayName("A bare 409 after a lost answer is a request that is running, not a refusal")
    void conflictAfterDoubt() throws Exception {
        server.then(hangUp()).then(status(409, "{}")).then(status(409, "{}")).then(status(201, "{}"));
        assertThat(client().send(ID, request())).isInstanceOf(Done.class);
        assertOneKey(4);
    }

    @Test
    @DisplayName("A 409 that is replayed, or the first answer of all, is a refusal")
    void conflict() throws Exception {
        server.then(status(409, "{}")).then(hangUp()).then(status(409, "{}", "Idempotent-Replayed", "true"));
        assertThat(client().send(ID, request())).isInstanceOf(Refused.class);
        assertThat(client().send(ID, request())).as("from the journal").isInstanceOf(Refused.class);
        assertThat(client().send("order-43/pay", request())).isInstanceOf(Refused.class);
        assertThat(server.received()).hasSize(3);
    }

    @ParameterizedTest
    @ValueSource(ints = {404, 405, 413, 415, 421, 431, 451})
    @DisplayName("A refusal by something in front of the service says nothing about a lost answer")
    void refusedInFront(int status) throws Exception {
        server.then(hangUp()).then(status(status, "default backend"));
        InDoubt doubt = (InDoubt) client().send(ID, request());
        assertThat(doubt.reason()).isEqualTo(Reason.NOT_TAKEN);
        assertThat(doubt.mayHaveHappened()).isTrue();
        assertThat(client().resume(ID)).isInstanceOf(Done.class);
        assertOneKey(3);
    }

    @Test
    @DisplayName("A replayed 404 is the recorded refusal, also after a lost answer")
    void replayedRefusal() throws Exception {
        server.then(hangUp()).then(status(404, "{}", "Idempotent-Replayed", "true"));
        assertThat(client().send(ID, request())).isInstanceOf(Refused.class);
    }

    @Test
    @DisplayName("response_not_stored for a server error is doubt, not a refusal")
    void serverErrorNotStored() throws Exception {
        server.then(status(
                409,
                "{\"code\":\"response_not_stored\",\"originalStatus\":500}",
                "Content-Type",
                "application/problem+json",
                "Retry-After",
                "1"));
        InDoubt doubt = (InDoubt) client().send(ID, request());
        assertThat(doubt.reason()).isEqualTo(Reason.RECORDED_ERROR);
        assertThat(doubt.mayHaveHappened()).isTrue();
        assertThat(client().pending()).hasSize(1);
    }

    @Test
    @DisplayName("A recorded refusal whose body was too large to keep is never told as done")
    void largeRefusal() throws Exception {
        String large = "{\"code\":\"operation_failed\",\"detail\":\"" + "x".repeat(20_000) + "\"}";
        server.always(status(500, large, "Content-Type", "application/problem+json"));
        assertThat(client().send(ID, request())).isInstanceOf(Refused.class);
        assertThat(client().send(ID, request())).isInstanceOf(Refused.class);
        assertOneKey(2);
    }

    @Test
    @DisplayName("A deadline that passes just before sending is doubt, not an exception")
    void deadlineWhileSending() throws Exception {
        ClientTime leaping = new ClientTime() {
            private long nanos;

            @Override
            public java.time.Instant now() {
                return time.now();
            }

            @Override
            public synchronized long nanos() {
                nanos += Duration.ofSeconds(20).toNanos();
                return nanos;
            }

            @Override
            public void pause(Duration duration) {}
        };
        server.always(problem(409, "outcome_unknown"));
        InDoubt doubt = (InDoubt) client(builder(leaping)).send(ID, request());
        assertThat(doubt.reason()).isEqualTo(Reason.DEADLINE);
    }

    @Test
    @DisplayName("A clock in the far future stops in doubt")
    void farFuture() throws Exception {
        server.then(hangUp()).then(status(401, ""));
        assertThat(client().send(ID, request())).isInstanceOf(InDoubt.class);
        time.jump(Duration.ofDays(365_000));
        InDoubt doubt = (InDoubt) client().resume(ID);
        assertThat(doubt.reason()).isEqualTo(Reason.KEY_EXPIRED);
        assertThat(server.received()).hasSize(2);
    }

    @Test
    @DisplayName("Credentials by other names than Authorization do not get into the journal or into logs")
    void credentials() throws Exception {
        CallRequest secret = request();
        for (String name : List.of(
                "X-Shopify-Access-Token",
                "Private-Token",
                "X-Vault-Token",
                "Ocp-Apim-Subscription-Key",
                "apikey",
                "X-Goog-Api-Key",
                "X-Client-Secret",
                "X-Amz-Security-Token",
                "X-Session-Id",
                "Cookie2")) {
            secret = secret.header(name, "hunter2");
        }
        assertThat(secret.toString()).doesNotContain("hunter2");
        assertThat(client().send(ID, secret.header("X-Account", "kept"))).isInstanceOf(Done.class);
        assertThat(server.received().get(0).headers()).containsEntry("private-token", "hunter2");
        assertThat(journalText()).contains("kept").doesNotContain("hunter2");
        assertThat(secret.headers()).containsAllEntriesOf(Map.of("apikey", "hunter2"));
    }
}
