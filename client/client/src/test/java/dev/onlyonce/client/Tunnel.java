package dev.onlyonce.client;

import java.io.IOException;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;

/** A proxy that knows CONNECT alone, and refuses the first ones. */
final class Tunnel implements AutoCloseable {
    private final List<String> heads = new CopyOnWriteArrayList<>();
    private final AtomicInteger refusals;
    private final SocketServer server = new SocketServer(this::serve);

    Tunnel(int refusals) {
        this.refusals = new AtomicInteger(refusals);
    }

    int port() {
        return server.port();
    }

    /** What it was asked. */
    List<String> heads() {
        return heads;
    }

    private void serve(Socket client) throws IOException {
        String head = SocketServer.head(client.getInputStream());
        heads.add(head);
        if (refusals.getAndDecrement() > 0) {
            say(client, "HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n");
            return;
        }
        String[] target = head.split(" ", -1)[1].split(":", -1);
        try (Socket upstream = new Socket(target[0], Integer.parseInt(target[1]))) {
            say(client, "HTTP/1.1 200 Connected\r\n\r\n");
            SocketServer.start(() -> {
                upstream.getInputStream().transferTo(client.getOutputStream());
                client.close();
            });
            client.getInputStream().transferTo(upstream.getOutputStream());
        }
    }

    private static void say(Socket client, String text) throws IOException {
        client.getOutputStream().write(text.getBytes(StandardCharsets.US_ASCII));
        client.getOutputStream().flush();
    }

    @Override
    public void close() {
        server.close();
    }
}
