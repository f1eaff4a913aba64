package dev.onlyonce.testkit.broken;

import dev.onlyonce.check.wire.HeaderLine;
import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** The head of a request, read without any opinion on what is in it, and its body on demand. */
final class TinyRequest {
    private static final int SLOW_MILLIS = 150;
    private static final int GONE_MILLIS = 250;
    private static final int PATIENCE_MILLIS = 30_000;

    private final Socket socket;
    private final Runnable known;
    private final InputStream in;
    private final String method;
    private final String target;
    private final List<HeaderLine> headers = new ArrayList<>();
    private boolean slow;

    private TinyRequest(Socket socket, Runnable known) throws IOException {
        this.socket = socket;
        this.known = known;
        this.in = new BufferedInputStream(socket.getInputStream());
        String[] start = line().split(" ");
        if (start.length != 3) {
            throw new IOException("not HTTP");
        }
        method = start[0];
        target = start[1];
        for (String line = line(); !line.isEmpty(); line = line()) {
            int colon = line.indexOf(':');
            headers.add(new HeaderLine(
                    line.substring(0, Math.max(0, colon)),
                    line.substring(colon + 1).strip()));
        }
    }

    /** Reads a head; {@code known} is called when the application asks for the body. */
    static TinyRequest read(Socket socket, Runnable known) throws IOException {
        socket.setSoTimeout(PATIENCE_MILLIS);
        return new TinyRequest(socket, known);
    }

    String method() {
        return method;
    }

    String path() {
        return target.split("\\?", 2)[0];
    }

    String query() {
        return target.contains("?") ? target.split("\\?", 2)[1] : "";
    }

    @Nullable
    String header(String name) {
        List<String> lines = lines(name);
        return lines.isEmpty() ? null : lines.get(0);
    }

    List<String> lines(String name) {
        return headers.stream()
                .filter(line -> line.is(name))
                .map(HeaderLine::value)
                .toList();
    }

    boolean isChunked() {
        return header("Transfer-Encoding") != null;
    }

    /** Whether the client took its time between the head and the body. Known after the body. */
    boolean isSlow() {
        return slow;
    }

    byte[] body() throws IOException {
        known.run();
        if (isChunked()) {
            ByteArrayOutputStream body = new ByteArrayOutputStream();
            for (int size = size(); size > 0; size = size()) {
                body.writeBytes(exactly(size));
                line();
            }
            return body.toByteArray();
        }
        String length = header("Content-Length");
        return exactly(length == null ? 0 : Integer.parseInt(length));
    }

    private int size() throws IOException {
        return Integer.parseInt(line().toLowerCase(Locale.ROOT), 16);
    }

    private byte[] exactly(int length) throws IOException {
        byte[] bytes = new byte[length];
        int have = 0;
        socket.setSoTimeout(SLOW_MILLIS);
        while (have < length) {
            try {
                int read = in.read(bytes, have, length - have);
                if (read < 0) {
                    throw new EOFException("the client hung up");
                }
                have += read;
            } catch (SocketTimeoutException e) {
                // The last byte alone may be late: racers hold it back.
                slow |= length - have > 1;
                socket.setSoTimeout(PATIENCE_MILLIS);
            }
        }
        socket.setSoTimeout(PATIENCE_MILLIS);
        return bytes;
    }

    /** Whether nobody waits for the answer. */
    boolean isClientGone() throws IOException {
        socket.setSoTimeout(GONE_MILLIS);
        try {
            return in.read() < 0;
        } catch (SocketTimeoutException e) {
            return false;
        }
    }

    private String line() throws IOException {
        ByteArrayOutputStream line = new ByteArrayOutputStream();
        for (int next = in.read(); next != '\n'; next = in.read()) {
            if (next < 0) {
                throw new EOFException("the client hung up");
            }
            if (next != '\r') {
                line.write(next);
            }
        }
        return line.toString(StandardCharsets.ISO_8859_1);
    }
}
