package dev.onlyonce.client;

import static dev.onlyonce.client.ScriptedServer.hangUp;
import static dev.onlyonce.client.ScriptedServer.problem;
import static dev.onlyonce.client.ScriptedServer.status;
import static org.assertj.core.api.Assertions.assertThat;

import dev.onlyonce.client.CallResult.Done;
import dev.onlyonce.client.CallResult.InDoubt;
import dev.onlyonce.client.CallResult.Reason;
import dev.onlyonce.client.CallResult.Refused;
import dev.onlyonce.client.ScriptedServer.Received;
import java.net.ServerSocket;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("A client that retries")
class ClientRetriesTest extends ScriptedCalls {
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
        for (int status : new int[] {200, 204, 400, 402, 404, 409, 410, 413, 422}) {
            server.then(status(status, status == 204 ? "" : "{}", "Location", "/x"));
            CallResult result = client.send("call-" + status, request());
            assertThat(result).as("%d", status).isInstanceOf(status < 400 ? Done.class : Refused.class);
        }
        assertThat(server.received()).hasSize(9);
        assertThat(client.pending()).isEmpty();
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
}
