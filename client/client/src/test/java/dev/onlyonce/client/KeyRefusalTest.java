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
import java.time.Duration;
import java.time.LocalTime;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@DisplayName("A client whose key or credentials are refused")
class KeyRefusalTest extends ScriptedCalls {
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
        assertThat(journalText()).doesNotContain("Bearer");
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

    @ParameterizedTest
    @CsvSource({"00:06, false", "00:04, true"})
    @DisplayName("Idempotency-Key-Expires holds after a restart too, however long the policy expects keys to live")
    void expiresAfterRestart(LocalTime later, boolean sent) throws Exception {
        server.then(status(
                500,
                "",
                "Date",
                "Thu, 01 Jan 2026 00:00:00 GMT",
                "Idempotency-Key-Expires",
                "Thu, 01 Jan 2026 00:05:00 GMT"));
        RetryPolicy once = RetryPolicy.builder().attemptsMax(1).build();
        assertThat(client(builder().policy(once)).send(ID, request())).isInstanceOf(InDoubt.class);
        time.advance(Duration.between(LocalTime.MIN, later));
        CallResult result = client().resume(ID);
        if (sent) {
            assertThat(result).isInstanceOf(Done.class);
        } else {
            assertThat(((InDoubt) result).reason()).isEqualTo(Reason.KEY_EXPIRED);
        }
        assertOneKey(sent ? 2 : 1);
    }
}
