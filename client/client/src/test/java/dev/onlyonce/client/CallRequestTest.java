package dev.onlyonce.client;

import static dev.onlyonce.client.ScriptedServer.hangUp;
import static dev.onlyonce.client.ScriptedServer.status;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onlyonce.client.CallResult.Done;
import dev.onlyonce.client.CallResult.InDoubt;
import dev.onlyonce.client.CallResult.Reason;
import dev.onlyonce.client.CallResult.Refused;
import dev.onlyonce.client.ScriptedServer.Received;
import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("A request")
class CallRequestTest extends ScriptedCalls {
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
    @DisplayName("Without TLS it goes over HTTP/1.1, and asks for no upgrade to HTTP/2")
    void noUpgrade() throws Exception {
        assertThat(client().send(ID, request())).isInstanceOf(Done.class);
        Received received = server.received().get(0);
        assertThat(received.line()).endsWith(" HTTP/1.1");
        assertThat(received.headers()).doesNotContainKeys("upgrade", "http2-settings");
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
    @DisplayName("X6 307 and 308 keep method, body and key; credentials do not go to another origin")
    void redirects() throws Exception {
        try (ScriptedServer other = new ScriptedServer()) {
            server.then(status(307, "", "Location", "/elsewhere"))
                    .then(status(308, "", "Location", other.url("/there").toString()));
            RetryingClient client = client(builder()
                    .attemptHeaders(server.url("/any"), request -> Map.of("X-Auth-Token", "secret"))
                    .attemptHeaders(request -> Map.of("X-Trace", "7")));
            CallResult result = client.send(ID, request().header("Authorization", "Bearer secret"));
            assertThat(result).isInstanceOf(Done.class);
            assertThat(server.received().get(1).line()).isEqualTo("POST /elsewhere HTTP/1.1");
            assertThat(server.received().get(1).headers()).containsKeys("authorization", "x-auth-token");
            Received last = other.received().get(0);
            assertThat(last.line()).isEqualTo("POST /there HTTP/1.1");
            assertThat(last.body()).asString(StandardCharsets.UTF_8).isEqualTo("{\"cents\":990}");
            assertThat(last.key()).isEqualTo(keys().get(0));
            assertThat(last.headers()).containsKey("x-trace").doesNotContainKeys("authorization", "x-auth-token");
        }
    }

    @Test
    @DisplayName(
            "X6 credentials go to the origin that they are bound to, and to no other that the journal has a call to")
    void origins() throws Exception {
        try (ScriptedServer other = new ScriptedServer()) {
            server.then(hangUp());
            other.then(hangUp());
            RetryPolicy once = RetryPolicy.builder().attemptsMax(1).build();
            RetryingClient first = client(builder().policy(once));
            first.send("a", request());
            first.send("b", CallRequest.post(other.url("/pay"), "{}"));
            Map<String, String> token = Map.of("Authorization", "Bearer secret");
            assertThatThrownBy(() ->
                            client(builder().attemptHeaders(request -> token)).resume())
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("Authorization looks like a credential");
            assertThat(server.received()).hasSize(1);
            assertThat(client(builder().attemptHeaders(server.url("/"), request -> token))
                            .resume())
                    .hasSize(2);
            assertThat(server.received().get(1).headers()).containsEntry("authorization", "Bearer secret");
            assertThat(other.received().get(1).headers()).doesNotContainKey("authorization");
        }
    }

    @Test
    @DisplayName("Other redirects, loops and redirects to nowhere are not followed")
    void refusedRedirects() throws Exception {
        RetryingClient client = client();
        for (int status : new int[] {301, 302, 304}) {
            server.then(status(status, "", "Location", "/elsewhere"));
            assertThat(client.send("call-" + status, request())).isInstanceOf(InDoubt.class);
        }
        assertThat(server.received()).hasSize(3);
        server.always(status(307, "", "Location", "/pay"));
        assertThat(client.send("loop", request())).isInstanceOf(Refused.class);
        assertThat(server.received()).hasSize(3 + 6);
        for (String location : List.of("ftp://example.com/", "http://[broken", "http://user:pw@127.0.0.1/")) {
            server.always(status(307, "", "Location", location));
            assertThat(client.send("to " + location, request())).isInstanceOf(Refused.class);
        }
        assertThat(client.pending()).hasSize(3);
    }
}
