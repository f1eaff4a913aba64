package dev.onlyonce.check.wire;

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.SSLSocketFactory;
import org.jspecify.annotations.Nullable;

/** One connection for one HTTP/1.1 request. Not for several threads at once. */
public final class Wire implements AutoCloseable {
    /** More than any API answers; a server that never stops does not fill the memory. */
    static final int BODY_BYTES_MAX = 16 << 20;

    private static final int LINE_BYTES_MAX = 64 << 10;
    private static final int LINES_MAX = 1000;
    private static final int PIECE_BYTES = 16 << 10;

    private final Socket plain;
    private final Socket socket;
    private final Duration patience;
    private final InputStream in;

    private Wire(Socket plain, Socket socket, Duration patience) throws IOException {
        this.plain = plain;
        this.socket = socket;
        this.patience = patience;
        this.in = new BufferedInputStream(new BoundedInput(socket, patience));
    }

    /** Connects; an answer must be complete this long after the first attempt to read it. */
    public static Wire open(URI url, Duration patience) throws IOException {
        boolean tls = "https".equalsIgnoreCase(url.getScheme());
        int port = url.getPort() > 0 ? url.getPort() : tls ? 443 : 80;
        String host = url.getHost().replaceAll("^\\[|]$", "");
        Socket plain = new Socket();
        try {
            plain.connect(new InetSocketAddress(host, port), (int) patience.toMillis());
            plain.setSoTimeout((int) patience.toMillis());
            plain.setTcpNoDelay(true);
            return new Wire(plain, tls ? secure(plain, host, port) : plain, patience);
        } catch (IOException | RuntimeException e) {
            plain.close();
            throw e;
        }
    }

    private static Socket secure(Socket plain, String host, int port) throws IOException {
        SSLSocketFactory factory = (SSLSocketFactory) SSLSocketFactory.getDefault();
        SSLSocket socket = (SSLSocket) factory.createSocket(plain, host, port, true);
        SSLParameters parameters = socket.getSSLParameters();
        parameters.setEndpointIdentificationAlgorithm("HTTPS");
        socket.setSSLParameters(parameters);
        socket.startHandshake();
        return socket;
    }

    /** Sends a request and returns its answer. */
    public static RawAnswer exchange(RawRequest request, Duration patience) throws IOException {
        try (Wire wire = open(request.url(), patience)) {
            wire.writeAll(request);
            return wire.read(request.method());
        }
    }

    /** Sends everything, unless the server answers or breaks off before: then its answer is what counts. */
    public void writeAll(RawRequest request) throws IOException {
        write(request.headBytes());
        byte[] body = request.bodyBytes();
        bounded(() -> {
            for (int from = 0; from < body.length && in.available() == 0; from += PIECE_BYTES) {
                try {
                    socket.getOutputStream().write(body, from, Math.min(PIECE_BYTES, body.length - from));
                } catch (IOException e) {
                    return;
                }
            }
        });
    }

    /** Sends everything but the last byte, so that {@link #writeLast} completes the request at once. */
    public void writeAllButLast(RawRequest request) throws IOException {
        byte[] all = all(request);
        write(all, 0, all.length - 1);
    }

    /** Completes what {@link #writeAllButLast} began. */
    public void writeLast(RawRequest request) throws IOException {
        byte[] all = all(request);
        write(all, all.length - 1, 1);
    }

    /** Sends the head and the first half of the body. */
    public void writeHalf(RawRequest request) throws IOException {
        write(request.headBytes());
        byte[] body = request.bodyBytes();
        write(body, 0, body.length / 2);
    }

    /** Sends the other half. */
    public void writeOtherHalf(RawRequest request) throws IOException {
        byte[] body = request.bodyBytes();
        write(body, body.length / 2, body.length - body.length / 2);
    }

    private static byte[] all(RawRequest request) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        bytes.writeBytes(request.headBytes());
        bytes.writeBytes(request.bodyBytes());
        return bytes.toByteArray();
    }

    private void write(byte[] bytes) throws IOException {
        write(bytes, 0, bytes.length);
    }

    private void write(byte[] bytes, int from, int length) throws IOException {
        bounded(() -> socket.getOutputStream().write(bytes, from, length));
    }

    @FunctionalInterface
    private interface Write {
        void run() throws IOException;
    }

    /** Sockets have no time-out for writes: a server that reads nothing would hold us up forever. */
    private void bounded(Write write) throws IOException {
        CompletableFuture<Boolean> written = new CompletableFuture<>();
        var unused = written.orTimeout(patience.toNanos(), TimeUnit.NANOSECONDS).exceptionally(late -> abort());
        IOException failure = null;
        try {
            write.run();
        } catch (IOException e) {
            failure = e;
        }
        if (!written.complete(true)) {
            throw new SocketTimeoutException("the server does not read the request");
        }
        if (failure != null) {
            throw failure;
        }
    }

    private boolean abort() {
        try {
            // A TLS socket would first try to say good-bye.
            plain.close();
        } catch (IOException ignored) {
            // It is gone either way.
        }
        return false;
    }

    /** Reads the final answer to a request with this method. */
    public RawAnswer read(String method) throws IOException {
        while (true) {
            String[] parts = line().split(" ", 3);
            if (parts.length < 2 || !parts[0].startsWith("HTTP/1.") || !parts[1].matches("[1-9][0-9][0-9]")) {
                throw new IOException("the answer does not begin like HTTP/1.1");
            }
            int status = Integer.parseInt(parts[1]);
            List<HeaderLine> headers = headers();
            if (status >= 200) {
                return body(new RawAnswer(status, headers, new byte[0]), method);
            }
        }
    }

    private List<HeaderLine> headers() throws IOException {
        List<HeaderLine> headers = new ArrayList<>();
        for (String line = line(); !line.isEmpty(); line = line()) {
            int colon = line.indexOf(':');
            if (colon < 1 || headers.size() == LINES_MAX) {
                throw new IOException("the answer has a broken head");
            }
            headers.add(new HeaderLine(
                    line.substring(0, colon), line.substring(colon + 1).strip()));
        }
        return headers;
    }

    private RawAnswer body(RawAnswer head, String method) throws IOException {
        if (method.equals("HEAD") || head.status() == 204 || head.status() == 304) {
            return head;
        }
        String encoding = head.header("Transfer-Encoding");
        byte[] body;
        if (encoding != null && encoding.toLowerCase(Locale.ROOT).contains("chunked")) {
            body = chunks();
        } else {
            body = counted(head.header("Content-Length"));
        }
        return new RawAnswer(head.status(), head.headers(), body);
    }

    private byte[] counted(@Nullable String length) throws IOException {
        long expected = length == null ? BODY_BYTES_MAX : number(length, 10);
        byte[] body = in.readNBytes((int) expected);
        if (length != null && body.length < expected) {
            throw new EOFException("the answer ends in the middle of its body");
        }
        return body;
    }

    private byte[] chunks() throws IOException {
        ByteArrayOutputStream body = new ByteArrayOutputStream();
        while (true) {
            int size = (int) number(line().split(";", 2)[0].strip(), 16);
            if (size == 0) {
                headers();
                return body.toByteArray();
            }
            body.writeBytes(counted(Integer.toString(size)));
            if (body.size() > BODY_BYTES_MAX || !line().isEmpty()) {
                throw new IOException("the chunks of the answer are broken or too many");
            }
        }
    }

    private static long number(String text, int radix) throws IOException {
        try {
            long number = Long.parseLong(text.strip(), radix);
            if (number >= 0 && number <= BODY_BYTES_MAX) {
                return number;
            }
        } catch (NumberFormatException e) {
            throw new IOException("the answer has a broken length", e);
        }
        throw new IOException("the answer is larger than " + (BODY_BYTES_MAX >> 20) + " MiB");
    }

    private String line() throws IOException {
        ByteArrayOutputStream line = new ByteArrayOutputStream();
        for (int next = in.read(); next != '\n'; next = in.read()) {
            if (next < 0) {
                throw new EOFException("the server closed the connection without an answer");
            }
            if (line.size() == LINE_BYTES_MAX) {
                throw new IOException("the answer has a line without end");
            }
            line.write(next);
        }
        String text = line.toString(StandardCharsets.ISO_8859_1);
        return text.endsWith("\r") ? text.substring(0, text.length() - 1) : text;
    }

    /** Hangs up, whatever is under way. */
    @Override
    public void close() throws IOException {
        socket.close();
    }
}
