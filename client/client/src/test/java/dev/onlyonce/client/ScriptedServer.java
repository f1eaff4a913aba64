package dev.onlyonce.client;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Queue;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;

/** A server on a real socket that gives the next reply of a script to each request, whatever bytes these are. */
public final class ScriptedServer implements AutoCloseable {
    private final ServerSocket listener;
    private final Queue<Reply> script = new ConcurrentLinkedQueue<>();
    private final List<Received> received = new CopyOnWriteArrayList<>();
    private volatile Reply standard = status(201, "{\"ok\":true}");

    /** What came. */
    public record Received(String line, Map<String, String> headers, byte[] body) {
        String key() {
            return headers.getOrDefault("idempotency-key", "");
        }
    }

    /** What to do when a request has come. */
    public interface Reply {
        void to(OutputStream out) throws IOException, InterruptedException;
    }

    public ScriptedServer() {
        try {
            listener = new ServerSocket(0, 100, InetAddress.getLoopbackAddress());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        start(this::accept);
    }

    public URI url(String path) {
        return URI.create("http://127.0.0.1:" + listener.getLocalPort() + path);
    }

    ScriptedServer then(Reply reply) {
        script.add(reply);
        return this;
    }

    ScriptedServer always(Reply reply) {
        standard = reply;
        return this;
    }

    public List<Received> received() {
        return received;
    }

    static Reply status(int status, String body, String... headers) {
        byte[] bytes = body.getBytes(StandardCharsets.UTF_8);
        StringBuilder head = new StringBuilder(
                "HTTP/1.1 " + status + " X\r\nConnection: close\r\nContent-Length: " + bytes.length + "\r\n");
        if (!List.of(headers).contains("Content-Type")) {
            head.append("Content-Type: application/json\r\n");
        }
        for (int i = 0; i < headers.length; i += 2) {
            head.append(headers[i]).append(": ").append(headers[i + 1]).append("\r\n");
        }
        return raw(head + "\r\n" + body);
    }

    static Reply problem(int status, String code, String... headers) {
        String[] all = Arrays.copyOf(headers, headers.length + 2);
        all[headers.length] = "Content-Type";
        all[headers.length + 1] = "application/problem+json";
        return status(status, "{\"code\":\"" + code + "\",\"title\":\"x\"}", all);
    }

    static Reply raw(String text) {
        return out -> out.write(text.getBytes(StandardCharsets.ISO_8859_1));
    }

    /** Closes the connection without a word. */
    static Reply hangUp() {
        return out -> {};
    }

    private void accept() {
        while (true) {
            try {
                Socket socket = listener.accept();
                start(() -> serve(socket));
            } catch (IOException e) {
                return;
            }
        }
    }

    private void serve(Socket socket) {
        try (socket) {
            received.add(read(socket.getInputStream()));
            Reply reply = script.poll();
            (reply == null ? standard : reply).to(socket.getOutputStream());
            socket.getOutputStream().flush();
        } catch (IOException e) {
            // The client has gone, which is its right.
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static Received read(InputStream in) throws IOException {
        ByteArrayOutputStream head = new ByteArrayOutputStream();
        while (!head.toString(StandardCharsets.ISO_8859_1).endsWith("\r\n\r\n")) {
            int next = in.read();
            if (next < 0) {
                throw new IOException("the head is not complete");
            }
            head.write(next);
        }
        String[] lines = head.toString(StandardCharsets.ISO_8859_1).split("\r\n");
        Map<String, String> headers = new TreeMap<>();
        for (int i = 1; i < lines.length; i++) {
            int colon = lines[i].indexOf(':');
            headers.put(
                    lines[i].substring(0, colon).toLowerCase(Locale.ROOT),
                    lines[i].substring(colon + 1).strip());
        }
        int length = Integer.parseInt(headers.getOrDefault("content-length", "0"));
        byte[] body = in.readNBytes(length);
        if (body.length < length) {
            throw new IOException("the body is not complete");
        }
        return new Received(lines[0], headers, body);
    }

    private static void start(Runnable work) {
        Thread thread = new Thread(work, "scripted-server");
        thread.setDaemon(true);
        thread.start();
    }

    @Override
    public void close() {
        try {
            listener.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
