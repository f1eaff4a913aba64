package dev.onlyonce.testkit.broken;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;

/** HTTP/1.1 on a port of loopback, one request for each connection. */
final class TinyServer implements AutoCloseable {
    private final ServerSocket listener;
    private final ExecutorService threads = Executors.newCachedThreadPool(task -> {
        Thread thread = new Thread(task, "tiny-server");
        thread.setDaemon(true);
        return thread;
    });
    private final App app;

    /** Answers requests. */
    @FunctionalInterface
    interface App {
        TinyAnswer handle(TinyRequest request) throws IOException;
    }

    private TinyServer(App app, ServerSocket listener) {
        this.app = app;
        this.listener = listener;
    }

    static TinyServer start(App app) {
        try {
            TinyServer server = new TinyServer(app, new ServerSocket(0, 100, InetAddress.getLoopbackAddress()));
            server.threads.execute(server::accept);
            return server;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    URI url(String path) {
        return URI.create("http://127.0.0.1:" + listener.getLocalPort() + path);
    }

    private void accept() {
        try {
            while (true) {
                Socket socket = listener.accept();
                threads.execute(() -> serve(socket));
            }
        } catch (IOException | RejectedExecutionException e) {
            // Closed.
            return;
        }
    }

    private void serve(Socket socket) {
        try (socket) {
            TinyAnswer answer = app.handle(TinyRequest.read(socket));
            socket.getOutputStream().write(answer.bytes());
        } catch (IOException e) {
            // The client is gone; closing is all that is left.
            return;
        }
    }

    @Override
    public void close() {
        try {
            listener.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        threads.shutdownNow();
    }
}
