package dev.onlyonce.server;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@DisplayName("A gateway's log")
class LogsTest {
    private static final String KEY = "a-key-that-is-long-enough-to-be-a-secret";

    @TempDir
    Path folder;

    @Test
    @DisplayName("K5 is one JSON object a line where so configured, and never has a whole key")
    void json() throws Exception {
        Path log = folder.resolve("log");
        try (RawUpstream broken = new RawUpstream((head, socket) -> socket.close())) {
            Path config = Files.writeString(folder.resolve("gateway.yaml"), """
                    listen: {host: 127.0.0.1, port: 0}
                    admin: {port: 0}
                    upstreams: [{url: %s}]
                    observe: {logs: json}
                    """.formatted(broken.url()));
            try (GatewayProcess gateway = GatewayProcess.start(log, "--config", config.toString())) {
                HttpRequest request = HttpRequest.newBuilder(gateway.url("/payments"))
                        .header("Idempotency-Key", KEY)
                        .POST(HttpRequest.BodyPublishers.ofString("{}"))
                        .build();
                assertThat(HttpClient.newHttpClient()
                                .send(request, HttpResponse.BodyHandlers.discarding())
                                .statusCode())
                        .isEqualTo(504);
                assertThat(gateway.terminate()).isZero();
            }
        }
        List<JsonNode> lines = new ArrayList<>();
        for (String line : Files.readAllLines(log)) {
            assertThat(line).doesNotContain(KEY);
            lines.add(new ObjectMapper().readTree(line));
        }
        assertThat(lines).anySatisfy(line -> {
            assertThat(line.get("level").asText()).isEqualTo("WARN");
            assertThat(Instant.parse(line.get("time").asText()).toEpochMilli())
                    .isEqualTo(line.get("timestamp").asLong());
            assertThat(line.get("formattedMessage").asText()).contains("a-key-th…");
            assertThat(line.get("kvpList").toString()).contains("POST /**");
        });
    }
}
