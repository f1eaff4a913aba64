package dev.onlyonce.client;

import static dev.onlyonce.client.ScriptedServer.hangUp;
import static dev.onlyonce.client.ScriptedServer.status;
import static org.assertj.core.api.Assertions.assertThat;

import dev.onlyonce.client.CallResult.Done;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("Trace headers")
class TracedAttemptsTest extends ScriptedCalls {
    private static final String TRACE = "4bf92f3577b34da6a3ce929d0e0e4736";

    private final AtomicLong spans = new AtomicLong();

    private Map<String, String> headers(CallRequest request) {
        return Map.of("traceparent", "00-%s-%016x-01".formatted(TRACE, spans.incrementAndGet()));
    }

    @Test
    @DisplayName("are made for each attempt, also after a redirect and a restart, and are not stored")
    void everyAttempt() throws Exception {
        List<Attempt> ended = new ArrayList<>();
        CallListener listener = new CallListener() {
            @Override
            public void attempted(String id, Attempt attempt) {
                ended.add(attempt);
            }
        };
        server.then(hangUp())
                .then(status(307, "", "Location", "/there"))
                .then(status(401, ""))
                .then(status(201, "{}"));
        assertThat(client(listener).send(ID, request())).isInstanceOf(CallResult.InDoubt.class);
        assertThat(ended).hasSize(2);
        assertThat(client(listener).resume(ID)).isInstanceOf(Done.class);
        assertThat(server.received())
                .extracting(received -> received.headers().get("traceparent"))
                .containsExactly(
                        "00-" + TRACE + "-0000000000000001-01",
                        "00-" + TRACE + "-0000000000000002-01",
                        "00-" + TRACE + "-0000000000000003-01",
                        "00-" + TRACE + "-0000000000000004-01");
        assertOneKey(4);
        assertThat(journalText()).contains(ID).doesNotContain(TRACE);
    }

    private RetryingClient client(CallListener listener) {
        return client(builder().attemptHeaders(this::headers).listener(listener));
    }
}
