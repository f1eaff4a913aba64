package dev.onlyonce.client;

import java.io.IOException;
import java.io.OutputStream;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

/** Reads a body only after it has said 100 (Continue), or refuses it and reads what comes nevertheless. */
final class ContinueServer implements AutoCloseable {
    private final BlockingQueue<String> bodies = new LinkedBlockingQueue<>();
    private final AtomicBoolean refuse = new AtomicBoolean();
    private final SocketServer server = new SocketServer(this::serve);

    URI url() {
        return URI.create("http://127.0.0.1:" + server.port() + "/pay");
    }

    void refuseNext() {
        refuse.set(true);
    }

    /** The body of the next request; empty if none came until the client closed the connection. */
    String nextBody() throws InterruptedException {
        return String.valueOf(bodies.poll(60, TimeUnit.SECONDS));
    }

    private void serve(Socket socket) throws IOException {
        String head = SocketServer.head(socket.getInputStream()).toLowerCase(Locale.ROOT);
        if (!head.contains("expect: 100-continue")) {
            throw new IOException("the client does not ask");
        }
        OutputStream out = socket.getOutputStream();
        if (socket.getInputStream().available() > 0) {
            throw new IOException("the client does not wait");
        }
        if (refuse.getAndSet(false)) {
            out.write(ascii("HTTP/1.1 413 Too Large\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"));
            socket.shutdownOutput();
            bodies.add(new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8));
            return;
        }
        out.write(ascii("HTTP/1.1 100 Continue\r\n\r\n"));
        int length = Integer.parseInt(head.replaceAll("(?s).*content-length: (\\d+).*", "$1"));
        bodies.add(new String(socket.getInputStream().readNBytes(length), StandardCharsets.UTF_8));
        out.write(ascii("HTTP/1.1 201 Created\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"));
    }

    private static byte[] ascii(String text) {
        return text.getBytes(StandardCharsets.US_ASCII);
    }

    @Override
    public void close() {
        server.close();
    }
}
