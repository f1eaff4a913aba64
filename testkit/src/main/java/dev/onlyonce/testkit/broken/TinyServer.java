package dev.onlyonce.testkit.broken;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/** HTTP/1.1 on a port of loopback, one request for each connection. */
final class TinyServer implements AutoCloseable {
    private static final long PAUSE_NANOS = Duration.ofMillis(1).toNanos();
    /** Shorter than a client's patience. */
    private static final long WAIT_NANOS = Duration.ofSeconds(1).toNanos();

    private final ServerSocket listener;
    /** Connections whose request the application does not know yet. */
    private final Set<Socket> unknown = ConcurrentHashMap.newKeySet();

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
                unknown.add(socket);
                threads.execute(() -> serve(socket));
            }
        } catch (IOException | RejectedExecutionException e) {
            // Closed.
            return;
        }
    }

    private void serve(Socket socket) {
        try (socket) {
            TinyAnswer answer = app.handle(TinyRequest.read(socket, () -> unknown.remove(socket)));
            socket.getOutputStream().write(answer.bytes());
        } catch (IOException e) {
            // The client is gone; closing is all that is left.
            return;
        } finally {
            unknown.remove(socket);
        }
    }

    /** Waits until the application knows of every request whose head was sent before. */
    void awaitHeads() throws IOException {
        // Connections are accepted in the order in which they were opened: when this one is, the others are.
        try (Socket last = new Socket(listener.getInetAddress(), listener.getLocalPort())) {
            last.shutdownOutput();
            last.setSoTimeout((int) Duration.ofNanos(WAIT_NANOS).toMillis());
            last.getInputStream().readAllBytes();
        }
        await(unknown::isEmpty);
    }

    /** Waits, but not forever: some clients finish a request only after the answer to another one. */
    static void await(BooleanSupplier condition) {
        long deadline = System.nanoTime() + WAIT_NANOS;
        while (!condition.getAsBoolean() && System.nanoTime() - deadline < 0) {
            LockSupport.parkNanos(PAUSE_NANOS);
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
