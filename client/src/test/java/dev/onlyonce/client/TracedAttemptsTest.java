package dev.onlyonce.client;

import static dev.onlyonce.client.ScriptedServer.hangUp;
import static dev.onlyonce.client.ScriptedServer.status;
import static org.assertj.core.api.Assertions.assertThat;

import dev.onlyonce.client.CallResult.Done;
import dev.onlyonce.client.journal.FileJournal;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@DisplayName("Trace headers")
class TracedAttemptsTest {
    private static final String TRACE = "4bf92f3577b34da6a3ce929d0e0e4736";

    @TempDir
    private Path folder;

    private final AtomicLong spans = new AtomicLong();

    private Map<String, String> headers(CallRequest request) {
        return Map.of("traceparent", "00-%s-%016x-01".formatted(TRACE, spans.incrementAndGet()));
    }

    @Test
    @DisplayName("are made for each attempt, also after a redirect and a restart, and are not stored")
    void everyAttempt() throws Exception {
        Path journal = folder.resolve("journal");
        List<Attempt> ended = new ArrayList<>();
        CallListener listener = new CallListener() {
            @Override
            public void attempted(String id, Attempt attempt) {
                ended.add(attempt);
            }
        };
        try (ScriptedServer server = new ScriptedServer()) {
            server.then(hangUp())
                    .then(status(307, "", "Location", "/there"))
                    .then(status(401, ""))
                    .then(status(201, "{}"));
            try (RetryingClient client = client(journal, listener)) {
                assertThat(client.send("order-1", CallRequest.post(server.url("/pay"), "{}")))
                        .isInstanceOf(CallResult.InDoubt.class);
                assertThat(ended).hasSize(2);
            }
            try (RetryingClient client = client(journal, listener)) {
                assertThat(client.resume("order-1")).isInstanceOf(Done.class);
            }
            assertThat(server.received())
                    .extracting(received -> received.headers().get("traceparent"))
                    .containsExactly(
                            "00-" + TRACE + "-0000000000000001-01",
                            "00-" + TRACE + "-0000000000000002-01",
                            "00-" + TRACE + "-0000000000000003-01",
                            "00-" + TRACE + "-0000000000000004-01");
            assertThat(server.received())
                    .extracting(ScriptedServer.Received::key)
                    .containsOnly(server.received().get(0).key());
        }
        assertThat(Files.readString(journal, StandardCharsets.ISO_8859_1))
                .contains("order-1")
                .doesNotContain(TRACE);
    }

    private RetryingClient client(Path journal, CallListener listener) {
        return RetryingClient.builder(FileJournal.open(journal))
                .time(new ManualClientTime())
                .attemptHeaders(this::headers)
                .listener(listener)
                .build();
    }
}
