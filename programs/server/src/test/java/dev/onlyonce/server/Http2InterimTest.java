package dev.onlyonce.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.DataInputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.net.Socket;
import java.net.http.HttpResponse;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@DisplayName("A gateway in front of a service that speaks HTTP/2 and sends interim answers")
class Http2InterimTest {
    private static final int DATA = 0;
    private static final int HEADERS = 1;
    private static final int SETTINGS = 4;
    private static final int END_STREAM = 1;
    private static final int ACK = 1;
    private static final int END_HEADERS = 4;
    private static final int PRIORITY = 32;

    @TempDir
    Path folder;

    private final AtomicInteger effects = new AtomicInteger();

    /** How a service answers. */
    @FunctionalInterface
    private interface Answer {
        void to(Socket socket, int stream) throws IOException;
    }

    private RawUpstream service(Answer answer) {
        return new RawUpstream((head, socket) -> {
            // The rest of what a client of HTTP/2 begins with.
            socket.getInputStream().readNBytes("SM\r\n\r\n".length());
            frame(socket, SETTINGS, 0, 0, new byte[0]);
            DataInputStream in = new DataInputStream(socket.getInputStream());
            while (true) {
                int lengthAndType = in.readInt();
                int flags = in.readUnsignedByte();
                int stream = in.readInt();
                in.readNBytes(lengthAndType >>> 8);
                int type = lengthAndType & 0xff;
                if (type == SETTINGS && flags == 0) {
                    frame(socket, SETTINGS, ACK, 0, new byte[0]);
                } else if ((type == DATA || type == HEADERS) && (flags & END_STREAM) != 0) {
                    answer.to(socket, stream);
                }
            }
        });
    }

    private void answer(Socket socket, int stream) throws IOException {
        frame(socket, HEADERS, END_HEADERS, stream, status("201"));
        String body = "effect " + effects.incrementAndGet();
        frame(socket, DATA, END_STREAM, stream, body.getBytes(StandardCharsets.US_ASCII));
    }

    /** A header block with nothing but a status: a literal with the eighth name of the static table. */
    private static byte[] status(String status) {
        return ("\b\3" + status).getBytes(StandardCharsets.US_ASCII);
    }

    private static void frame(Socket socket, int type, int flags, int stream, byte[] payload) throws IOException {
        OutputStream out = socket.getOutputStream();
        out.write(ByteBuffer.allocate(9 + payload.length)
                .putInt(payload.length << 8 | type)
                .put((byte) flags)
                .putInt(stream)
                .put(payload)
                .array());
        out.flush();
    }

    private Running gateway(RawUpstream upstream) {
        return Running.start(folder, upstream.url(), "upstreams: [{url: %s, http2: true}]".formatted(upstream.url()));
    }

    @ParameterizedTest
    @ValueSource(strings = {"103", "102", "102 103 102", "100", "199"})
    @DisplayName("records only the final one, and passes only that on")
    void interim(String statuses) throws Exception {
        try (RawUpstream upstream = service((socket, stream) -> {
                    for (String status : statuses.split(" ")) {
                        frame(socket, HEADERS, END_HEADERS, stream, status(status));
                        // The same with a priority, which begins with five bytes of its own.
                        frame(
                                socket,
                                HEADERS,
                                END_HEADERS | PRIORITY,
                                stream,
                                ByteBuffer.allocate(10).put(5, status(status)).array());
                    }
                    answer(socket, stream);
                });
                Running gateway = gateway(upstream)) {
            for (int i = 0; i < 2; i++) {
                HttpResponse<String> answer = gateway.post("/payments", "k1", "{}");
                assertThat(answer.statusCode()).isEqualTo(201);
                assertThat(answer.body()).isEqualTo("effect 1");
            }
            HttpResponse<String> unprotected = gateway.get("/things");
            assertThat(unprotected.statusCode()).isEqualTo(201);
            assertThat(unprotected.body()).isEqualTo("effect 2");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"101", "102", "1xx", "099", "600", "999"})
    @DisplayName("D4 knows no outcome when nothing but them or what is no status comes, and goes on")
    void nothingAfter(String status) throws Exception {
        try (RawUpstream upstream = service((socket, stream) -> {
                    if (effects.get() == 0) {
                        effects.incrementAndGet();
                        frame(socket, HEADERS, END_HEADERS | END_STREAM, stream, status(status));
                    } else {
                        answer(socket, stream);
                    }
                });
                Running gateway = gateway(upstream)) {
            HttpResponse<String> first = gateway.post("/payments", "k1", "{}");
            assertThat(first.statusCode()).isEqualTo(504);
            assertThat(first.body()).contains("outcome_unknown");
            HttpResponse<String> retry = gateway.post("/payments", "k1", "{}");
            assertThat(retry.statusCode()).isEqualTo(409);
            assertThat(retry.body()).contains("outcome_unknown");
            assertThat(gateway.post("/payments", "k2", "{}").body()).isEqualTo("effect 2");
        }
    }
}
