package dev.onlyonce.benchmarks;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Locale;
import java.util.concurrent.ThreadLocalRandom;

/**
 * Connections that send the same request again and again, each as soon as its last one is answered. One thread that does
 * next to nothing for a request, so that on a small machine it is not the generator that is measured. Runs in a process of
 * its own: {@code port connections milliseconds kind}, line by line.
 */
final class RequestLoad {
    static final String CHILD = "http-load-child";

    /** What is sent. */
    enum Kind {
        /** A GET request, which no gateway protects. */
        PLAIN,
        /** A POST request with a new key each time. */
        FRESH,
        /** A POST request with a key of the connection's own. */
        REPLAY,
        /** {@link #STORM_KEYS} new keys, each in {@link #STORM_COPIES} POST requests at about the same time. */
        STORM
    }

    static final int STORM_KEYS = 500;
    static final int STORM_COPIES = 4;

    /** What came of it. */
    record Result(double perSecond, double p50Millis, double p99Millis, long failures) {
        static Result parse(String line) {
            String[] words = line.split(" ");
            return new Result(
                    Double.parseDouble(words[0]),
                    Double.parseDouble(words[1]),
                    Double.parseDouble(words[2]),
                    Long.parseLong(words[3]));
        }
    }

    private static final String BODY = "{\"amount\":100,\"currency\":\"EUR\",\"to\":\"bob\"}";
    private static final String KEY_START = "Idempotency-Key: ";
    private static final int KEY_CHARS = 16;
    private static final int ANSWER_BYTES_MAX = 16 << 10;
    private static final byte[] LAST_CHUNK = "\r\n0\r\n\r\n".getBytes(StandardCharsets.US_ASCII);
    private static final byte[] HEX = "0123456789abcdef".getBytes(StandardCharsets.US_ASCII);

    private final Selector selector;
    private final Kind kind;
    private long[] nanos = new long[1 << 16];
    private int count;
    private long failures;
    private boolean over;
    private final long stormSeed = ThreadLocalRandom.current().nextLong();
    private int stormSent;

    private RequestLoad(Selector selector, Kind kind) {
        this.selector = selector;
        this.kind = kind;
    }

    /** Takes orders until there are no more. */
    static void serve(PrintStream out) throws IOException {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            String[] words = line.split(" ");
            try (Selector selector = Selector.open()) {
                out.println(new RequestLoad(selector, Kind.valueOf(words[3]))
                        .run(Integer.parseInt(words[0]), Integer.parseInt(words[1]), Long.parseLong(words[2])));
            }
        }
    }

    private String run(int port, int connections, long millis) throws IOException {
        InetSocketAddress address = new InetSocketAddress(InetAddress.getLoopbackAddress(), port);
        for (int i = 0; i < connections; i++) {
            new Connection(address, port);
        }
        long begun = System.nanoTime();
        long until = begun + millis * 1_000_000;
        long took = 0;
        for (SelectionKey key : selector.keys()) {
            ((Connection) key.attachment()).send();
        }
        while (!over) {
            selector.select(key -> ((Connection) key.attachment()).receive(), 100);
            took = System.nanoTime() - begun;
            over = over || System.nanoTime() - until >= 0;
        }
        for (SelectionKey key : selector.keys()) {
            key.channel().close();
        }
        long[] sorted = Arrays.copyOf(nanos, count);
        Arrays.sort(sorted);
        return String.format(
                Locale.ROOT,
                "%.1f %.3f %.3f %d",
                count * 1e9 / took,
                count == 0 ? 0 : sorted[count / 2] / 1e6,
                count == 0 ? 0 : sorted[(int) (count * 0.99)] / 1e6,
                failures);
    }

    private final class Connection {
        private final SocketChannel channel;
        private final ByteBuffer request;
        private final int keyAt;
        private final ByteBuffer answer = ByteBuffer.allocate(ANSWER_BYTES_MAX);
        private long sentNanos;

        Connection(InetSocketAddress address, int port) throws IOException {
            channel = SocketChannel.open(address);
            channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
            channel.configureBlocking(false);
            channel.register(selector, SelectionKey.OP_READ, this);
            String host = " HTTP/1.1\r\nHost: 127.0.0.1:" + port + "\r\n";
            String text = kind == Kind.PLAIN
                    ? "GET /payments/1" + host + "\r\n"
                    : "POST /payments" + host + KEY_START + "0".repeat(KEY_CHARS)
                            + "\r\nContent-Type: application/json\r\nContent-Length: " + BODY.length() + "\r\n\r\n"
                            + BODY;
            request = ByteBuffer.wrap(text.getBytes(StandardCharsets.US_ASCII));
            keyAt = text.indexOf(KEY_START) + KEY_START.length();
            if (kind == Kind.REPLAY) {
                key(ThreadLocalRandom.current().nextLong());
            }
        }

        private void key(long random) {
            for (int i = 0; i < KEY_CHARS; i++) {
                request.put(keyAt + i, HEX[(int) (random >>> (4 * i)) & 15]);
            }
        }

        void send() throws IOException {
            if (kind == Kind.FRESH) {
                key(ThreadLocalRandom.current().nextLong());
            } else if (kind == Kind.STORM) {
                if (stormSent == STORM_KEYS * STORM_COPIES) {
                    return;
                }
                key(stormSeed + stormSent++ / STORM_COPIES);
            }
            request.rewind();
            sentNanos = System.nanoTime();
            channel.write(request);
            if (request.hasRemaining()) {
                throw new IOException("a request of " + request.capacity() + " bytes did not fit into the socket");
            }
        }

        void receive() {
            try {
                if (channel.read(answer) < 0) {
                    throw new IOException("the connection was closed");
                }
                if (isWhole()) {
                    note(System.nanoTime() - sentNanos);
                    failures += answer.get(9) == '2' ? 0 : 1;
                    answer.clear();
                    over = over || (kind == Kind.STORM && count == STORM_KEYS * STORM_COPIES);
                    if (!over) {
                        send();
                    }
                }
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }

        /** Whether head and body are there. A body without a length comes in chunks. */
        private boolean isWhole() {
            int end = answer.position();
            byte[] bytes = answer.array();
            for (int i = 3; i < end; i++) {
                if (bytes[i] == '\n' && bytes[i - 1] == '\r' && bytes[i - 2] == '\n') {
                    int length = contentLength(bytes, i);
                    return length >= 0 ? end >= i + 1 + length : isLastChunk(bytes, end);
                }
            }
            return false;
        }

        private int contentLength(byte[] bytes, int headEnd) {
            int line = 0;
            for (int i = 0; i < headEnd; i++) {
                if (bytes[i] == '\n') {
                    line = i + 1;
                    // content-length, in any case: no other field has these letters there.
                    if ((bytes[line] | 32) == 'c' && (bytes[line + 8] | 32) == 'l' && bytes[line + 14] == ':') {
                        int length = 0;
                        for (int at = line + 15; bytes[at] != '\r'; at++) {
                            length = bytes[at] == ' ' ? length : length * 10 + bytes[at] - '0';
                        }
                        return length;
                    }
                }
            }
            return -1;
        }

        private boolean isLastChunk(byte[] bytes, int end) {
            return end >= LAST_CHUNK.length
                    && Arrays.equals(bytes, end - LAST_CHUNK.length, end, LAST_CHUNK, 0, LAST_CHUNK.length);
        }
    }

    private void note(long took) {
        if (count == nanos.length) {
            nanos = Arrays.copyOf(nanos, count * 2);
        }
        nanos[count++] = took;
    }
}
