package dev.onlyonce.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onlyonce.server.cli.Cli;
import java.io.ByteArrayOutputStream;
import java.io.InputStream;
import java.net.Socket;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("In the first hour with a gateway")
class FirstHourTest extends AdminFixture {

    @Test
    @DisplayName("an operator may leave out the scheme of the admin API's address")
    void adminWithoutScheme() {
        String address = gateway.admin("").toString().substring("http://".length());
        Result stats =
                runAlone("stats", "--admin", address, "--data", gateway.data().toString());
        assertThat(stats.err()).isEmpty();
        assertThat(stats.exitCode()).isEqualTo(Cli.OK);
        for (String wrong : List.of("ftp://a", "a b:1", "/v1")) {
            Result refused =
                    runAlone("stats", "--admin", wrong, "--data", gateway.data().toString());
            assertThat(refused.exitCode()).as(wrong).isEqualTo(Cli.USAGE);
            assertThat(refused.err()).contains("write for example 127.0.0.1:8091");
        }
    }

    @Test
    @DisplayName("D6 an operator learns how many unknown keys nothing asks about")
    void withoutLookUp() throws Exception {
        assertThat(gateway.post("/broken", "one", "{}").statusCode()).isEqualTo(504);
        assertThat(gateway.post("/broken", "two", "{}").statusCode()).isEqualTo(504);
        assertThat(run("reconcile", "run").out())
                .contains("Asked about 0:", "2 more have no look-up", "onlyonce keys resolve");
    }

    @Test
    @DisplayName("every metric says what it is")
    void help() throws Exception {
        assertThat(gateway.post("/orders", "one", "{}").statusCode()).isLessThan(300);
        String metrics =
                gateway.send(HttpRequest.newBuilder(gateway.admin("/metrics"))).body();
        assertThat(metrics.lines().filter(line -> line.startsWith("# HELP")))
                .isNotEmpty()
                .allMatch(line -> line.split(" ", 4).length == 4 && !line.split(" ", 4)[3].isBlank());
    }

    @Test
    @DisplayName("a client that speaks HTTP/2 without TLS gets an answer in HTTP/2 that asks for HTTP/1.1")
    void priorKnowledge() throws Exception {
        byte[] preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".getBytes(StandardCharsets.US_ASCII);
        // Whole, and byte by byte.
        for (int size : List.of(preface.length, 1)) {
            try (Socket socket = gateway.connect()) {
                socket.setTcpNoDelay(true);
                for (int i = 0; i < preface.length && (size > 1 || i < "PRI * HTTP/2.0".length()); i += size) {
                    socket.getOutputStream().write(preface, i, size);
                    socket.getOutputStream().flush();
                }
                ByteBuffer answer = ByteBuffer.wrap(all(socket.getInputStream()));
                assertThat(frame(answer)).as("settings").isEqualTo(4);
                assertThat(frame(answer)).as("goaway").isEqualTo(7);
                assertThat(answer.getInt()).as("last stream").isZero();
                assertThat(answer.getInt()).as("HTTP_1_1_REQUIRED").isEqualTo(0xd);
                assertThat(StandardCharsets.US_ASCII.decode(answer).toString()).contains("HTTP/1.1 only");
            }
        }
        assertThat(gateway.post("/orders", "still", "{}").statusCode()).isLessThan(300);
    }

    @Test
    @DisplayName("F1 R1 naming the operations that were protected by default makes no retry of an older key a mismatch")
    void named() throws Exception {
        String first = gateway.post("/orders", "older", "{}").body();
        gateway.close();
        gateway = Running.start(folder, upstream.url(), """
                operations:
                  - {method: POST, path: /orders, name: order, formerly: ["POST /**"]}
                """);
        for (int i = 0; i < 2; i++) {
            HttpResponse<String> retry = gateway.post("/orders", "older", "{}");
            assertThat(retry.statusCode()).isLessThan(300);
            assertThat(retry.body()).isEqualTo(first);
        }
        assertThat(gateway.post("/orders", "older", "{\"other\":1}").statusCode())
                .isEqualTo(422);
        assertThat(upstream.effects("older")).isEqualTo(1);
        assertThat(gateway.post("/orders", "newer", "{}").statusCode()).isLessThan(300);
        assertThat(run("keys", "list").out()).contains("order", "POST /**");
    }

    private static int frame(ByteBuffer in) {
        int type = in.getInt() & 0xff;
        in.get();
        in.getInt();
        return type;
    }

    private static byte[] all(InputStream in) throws Exception {
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        try {
            in.transferTo(all);
        } catch (java.net.SocketException reset) {
            // It closes with bytes of ours unread, after its answer.
        }
        return all.toByteArray();
    }
}
