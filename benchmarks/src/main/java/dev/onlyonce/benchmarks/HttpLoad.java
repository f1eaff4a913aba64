package dev.onlyonce.benchmarks;

import java.io.EOFException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import java.util.Locale;
import java.util.function.Supplier;

/**
 * Kept-alive connections that send the next request as soon as the last one is answered, all on one thread that does as
 * little as possible: what is measured is the server.
 */
final class HttpLoad implements AutoCloseable {
    private static final int BUFFER_BYTES = 8192;
    private static final byte[] BEFORE_KEY =
            ascii("POST /payments HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                    + "Content-Length: 13\r\nIdempotency-Key: ");
    private static final byte[] AFTER_KEY = ascii("\r\n\r\n{\"amount\":10}");

    private final Selector selector;
    private final List<Connection> connections = new ArrayList<>();
    private long[] latencies = new long[1 << 16];
    private int answers;

    HttpLoad(int port, int connections) throws IOException {
        selector = Selector.open();
        for (int i = 0; i < connections; i++) {
            this.connections.add(new Connection(port));
        }
    }

    /** Sends every key once. */
    static void once(int port, List<String> keys) throws IOException {
        try (HttpLoad load = new HttpLoad(port, 1)) {
            Iterator<String> rest = keys.iterator();
            load.connections.get(0).send(rest.next());
            load.serve(rest, Long.MAX_VALUE);
        }
    }

    /** Sends until the time is over, and waits for the last answers; throws unless all are 201. */
    Measured run(Supplier<String> keys, Duration duration) throws IOException {
        answers = 0;
        long cpuBefore = Load.cpuNanosOfServers();
        long begun = System.nanoTime();
        for (Connection connection : connections) {
            connection.send(keys.get());
        }
        serve(endless(keys), begun + duration.toNanos());
        long took = System.nanoTime() - begun;
        long cpu = Load.cpuNanosOfServers() - cpuBefore;
        return Measured.of(List.of(Arrays.copyOf(latencies, answers)), took, cpu);
    }

    private static Iterator<String> endless(Supplier<String> keys) {
        return new Iterator<>() {
            @Override
            public boolean hasNext() {
                return true;
            }

            @Override
            public String next() {
                return keys.get();
            }
        };
    }

    private void serve(Iterator<String> keys, long untilNanos) throws IOException {
        int open = (int) connections.stream().filter(Connection::isWaiting).count();
        while (open > 0) {
            selector.select();
            for (SelectionKey ready : selector.selectedKeys()) {
                Connection connection = (Connection) ready.attachment();
                if (connection.receive()) {
                    long now = System.nanoTime();
                    add(now - connection.sentNanos);
                    if (now < untilNanos && keys.hasNext()) {
                        connection.send(keys.next());
                    } else {
                        open--;
                    }
                }
            }
            selector.selectedKeys().clear();
        }
    }

    private void add(long nanos) {
        if (answers == latencies.length) {
            latencies = Arrays.copyOf(latencies, answers * 2);
        }
        latencies[answers++] = nanos;
    }

    private static byte[] ascii(String text) {
        return text.getBytes(StandardCharsets.US_ASCII);
    }

    @Override
    public void close() throws IOException {
        for (Connection connection : connections) {
            connection.channel.close();
        }
        selector.close();
    }

    /** One client. */
    private final class Connection {
        private final SocketChannel channel;
        private final ByteBuffer out = ByteBuffer.allocateDirect(BUFFER_BYTES);
        private final ByteBuffer in = ByteBuffer.allocateDirect(BUFFER_BYTES);
        private final byte[] received = new byte[BUFFER_BYTES];
        private boolean waiting;
        private long sentNanos;

        Connection(int port) throws IOException {
            channel = SocketChannel.open(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
            channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
            channel.configureBlocking(false);
            channel.register(selector, SelectionKey.OP_READ, this);
        }

        boolean isWaiting() {
            return waiting;
        }

        void send(String key) throws IOException {
            out.clear();
            out.put(BEFORE_KEY).put(ascii(key)).put(AFTER_KEY).flip();
            in.clear();
            waiting = true;
            sentNanos = System.nanoTime();
            channel.write(out);
            if (out.hasRemaining()) {
                throw new IOException("the socket does not take a request of " + out.limit() + " bytes");
            }
        }

        /** Whether the answer is there, all of it. */
        boolean receive() throws IOException {
            if (channel.read(in) < 0) {
                throw new EOFException("the server closed the connection");
            }
            int length = in.position();
            in.get(0, received, 0, length);
            String answer = new String(received, 0, length, StandardCharsets.ISO_8859_1);
            int head = answer.indexOf("\r\n\r\n");
            if (head < 0 || !isComplete(answer, head)) {
                return false;
            }
            if (!answer.startsWith("HTTP/1.1 201")) {
                throw new IOException("the server answered " + answer);
            }
            waiting = false;
            return true;
        }

        private static boolean isComplete(String answer, int head) {
            String headers = answer.substring(0, head + 2).toLowerCase(Locale.ROOT);
            int field = headers.indexOf("content-length: ");
            if (field < 0) {
                return answer.endsWith("\r\n0\r\n\r\n");
            }
            int from = field + "content-length: ".length();
            int body = Integer.parseInt(headers.substring(from, headers.indexOf('\r', from)));
            return answer.length() == head + 4 + body;
        }
    }
}
