package dev.onlyonce.server;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A service that does with a connection what a test says, byte by byte. */
final class RawUpstream implements AutoCloseable {
    private static final Pattern LENGTH = Pattern.compile("(?i)\r\ncontent-length: *([0-9]+)");

    private final ServerSocket listening;
    private final Behaviour behaviour;
    private final ExecutorService threads = Executors.newCachedThreadPool();
    private final List<Socket> open = new CopyOnWriteArrayList<>();
    private final List<String> heads = new CopyOnWriteArrayList<>();

    /** What to do with a connection after the head of its request, which was read. */
    @FunctionalInterface
    interface Behaviour {
        void with(String head, Socket socket) throws Exception;
    }

    RawUpstream(Behaviour behaviour) {
        this.behaviour = behaviour;
        try {
            listening = new ServerSocket(0, 1000, InetAddress.getLoopbackAddress());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        threads.execute(this::accept);
    }

    URI url() {
        return URI.create("http://127.0.0.1:" + listening.getLocalPort());
    }

    /** The heads of all requests that came, as they came. */
    List<String> heads() {
        return heads;
    }

    /** How many connections were opened. */
    int connections() {
        return open.size();
    }

    private void accept() {
        try {
            while (true) {
                Socket socket = listening.accept();
                open.add(socket);
                threads.execute(() -> serve(socket));
            }
        } catch (IOException e) {
            // Closed.
        }
    }

    private void serve(Socket socket) {
        try (socket) {
            while (true) {
                String head = head(socket.getInputStream());
                if (head.isEmpty()) {
                    return;
                }
                heads.add(head);
                behaviour.with(head, socket);
            }
        } catch (Exception e) {
            // The test sees what the gateway makes of it.
        }
    }

    /** Reads up to the empty line; the empty string at the end of the stream. */
    static String head(InputStream in) throws IOException {
        ByteArrayOutputStream head = new ByteArrayOutputStream();
        int end = 0;
        while (end < 4) {
            int b = in.read();
            if (b < 0) {
                return "";
            }
            head.write(b);
            end = b == (end % 2 == 0 ? '\r' : '\n') ? end + 1 : b == '\r' ? 1 : 0;
        }
        return head.toString(StandardCharsets.ISO_8859_1);
    }

    /** Reads the body that a head announces by its length. */
    static void body(String head, Socket socket) throws IOException {
        Matcher length = LENGTH.matcher(head);
        if (length.find()) {
            socket.getInputStream().readNBytes(Integer.parseInt(length.group(1)));
        }
    }

    /** Lines of a head, and the empty one after them. */
    static String lines(String... lines) {
        return String.join("\r\n", lines) + "\r\n\r\n";
    }

    static void write(Socket socket, String text) throws IOException {
        socket.getOutputStream().write(text.getBytes(StandardCharsets.ISO_8859_1));
        socket.getOutputStream().flush();
    }

    @Override
    public void close() {
        try {
            listening.close();
            for (Socket socket : open) {
                socket.close();
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        threads.shutdownNow();
    }
}
