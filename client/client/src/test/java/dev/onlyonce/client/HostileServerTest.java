package dev.onlyonce.client;

import static dev.onlyonce.client.ScriptedServer.raw;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.onlyonce.client.CallResult.Done;
import dev.onlyonce.client.CallResult.InDoubt;
import dev.onlyonce.client.ScriptedServer.Reply;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@DisplayName("A server that misbehaves")
class HostileServerTest extends ScriptedCalls {
    private RetryingClient client;

    @BeforeEach
    void open() {
        client = client(Duration.ofSeconds(2));
    }

    private RetryingClient client(Duration attemptTimeout) {
        RetryPolicy policy =
                RetryPolicy.builder().attemptTimeout(attemptTimeout).build();
        return client(builder().policy(policy));
    }

    private CallResult send() throws InterruptedException {
        return client.send(ID, request());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "garbage\r\n\r\n",
                "HTTP/1.1 abc OK\r\n\r\n",
                "HTTP/1.1 201 Created\r\nContent-Length: 100\r\n\r\nonly this",
                "HTTP/1.1 201 Created\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
                "HTTP/1.1 201 Crea"
            })
    @DisplayName("that answers garbage or breaks off gets the same key again")
    void garbage(String answer) throws Exception {
        server.then(raw(answer));
        assertThat(send()).isInstanceOf(Done.class);
        assertOneKey(2);
    }

    @Test
    @DisplayName("that only ever answers garbage leaves the call in doubt, with one key")
    void onlyGarbage() throws Exception {
        server.always(raw("SSH-2.0-OpenSSH_9.6\r\n"));
        InDoubt doubt = (InDoubt) send();
        assertThat(doubt.mayHaveHappened()).isTrue();
        assertThat(doubt.attempts()).hasSize(8);
        assertOneKey(8);
    }

    @Test
    @DisplayName("that drips its answer is given up after the time for an attempt")
    void drips() throws Exception {
        CountDownLatch never = new CountDownLatch(1);
        server.then(out -> {
            out.write("HTTP/1.1 201 Created\r\nContent-Length: 100000\r\n\r\n"
                    .getBytes(java.nio.charset.StandardCharsets.US_ASCII));
            for (int i = 0; i < 1000; i++) {
                out.write('x');
                out.flush();
                boolean told = never.await(20, java.util.concurrent.TimeUnit.MILLISECONDS);
                assertThat(told).isFalse();
            }
        });
        CallResult result = send();
        assertThat(result).isInstanceOf(Done.class);
        assertThat(result.attempts().get(0).what()).contains("no whole answer", "not known");
        assertOneKey(2);
    }

    @Test
    @DisplayName("that answers more than anybody wants is done, and the rest is not read")
    void huge() throws Exception {
        Reply endless = out -> {
            out.write("HTTP/1.1 201 Created\r\n\r\n".getBytes(java.nio.charset.StandardCharsets.US_ASCII));
            byte[] block = new byte[1 << 16];
            for (int i = 0; i < 1000; i++) {
                out.write(block);
            }
        };
        server.then(endless);
        // A slow machine does not read 16 MB in two seconds.
        client = client(Duration.ofMinutes(1));
        Done done = (Done) send();
        assertThat(done.response().isWhole()).isFalse();
        assertThat(done.response().body()).hasSize(CallResponse.BODY_BYTES_MAX);
        assertOneKey(1);
        assertThat(((Done) send()).response().isWhole()).isFalse();
        assertOneKey(1);
    }

    @Test
    @DisplayName("X6 whose answer was cut short, though the HTTP client says that it is whole, gets the same key again")
    void cutShort() throws Exception {
        List<Integer> lengths = new ArrayList<>(List.of(0, 6, 7));
        Transport cutting = (request, timeout) -> new CallResponse(
                201,
                Map.of("Content-Length", List.of("7")),
                "{\"a\":1}".substring(0, lengths.remove(0)).getBytes(UTF_8),
                true);
        CallResult result = client.send(ID, request(), cutting);
        assertThat(result).isInstanceOf(Done.class);
        assertThat(result.attempts()).hasSize(3);
        assertThat(result.attempts().get(1).what()).contains("cut short: 6 of 7 bytes", "not known");
    }

    @Test
    @DisplayName("that sends interim answers first is understood, or asked again with the same key")
    void interim() throws Exception {
        server.then(raw(
                "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 201 Created\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"));
        server.then(
                raw("HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 201 Created\r\nContent-Length: 0\r\n\r\n"));
        assertThat(send()).isInstanceOf(Done.class);
        assertThat(client.send("order-2", request())).isInstanceOf(Done.class);
    }

    @Test
    @DisplayName("that sends JSON to choke on is read by its status")
    void json() throws Exception {
        server.then(ScriptedServer.status(409, "[".repeat(60_000)))
                .then(ScriptedServer.status(422, "{\"code\":\"key_reu"))
                .then(ScriptedServer.status(400, "{\"code\":{\"code\":\"in_progress\"}}"));
        for (int i = 0; i < 3; i++) {
            assertThat(client.send("order-" + i, request())).isInstanceOf(CallResult.Refused.class);
        }
    }
}
