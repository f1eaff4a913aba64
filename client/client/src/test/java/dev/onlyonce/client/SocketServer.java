package dev.onlyonce.client;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;

/** Accepts connections and gives each a thread, until it is closed. */
final class SocketServer implements AutoCloseable {
    private final ServerSocket listener;

    /** What to do with a connection, which is closed afterwards. */
    interface Service {
        void serve(Socket socket) throws IOException;
    }

    SocketServer(Service service) {
        try {
            listener = new ServerSocket(0, 100, InetAddress.getLoopbackAddress());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        start(() -> {
            while (true) {
                Socket socket = listener.accept();
                start(() -> {
                    try (socket) {
                        service.serve(socket);
                    }
                });
            }
        });
    }

    int port() {
        return listener.getLocalPort();
    }

    /** The bytes up to the empty line. */
    static String head(InputStream in) throws IOException {
        ByteArrayOutputStream head = new ByteArrayOutputStream();
        while (!head.toString(StandardCharsets.ISO_8859_1).endsWith("\r\n\r\n")) {
            int next = in.read();
            if (next < 0) {
                throw new IOException("the head is not complete");
            }
            head.write(next);
        }
        return head.toString(StandardCharsets.ISO_8859_1);
    }

    /** Work that ends when its connection does. */
    interface Work {
        void run() throws IOException;
    }

    static Thread start(Work work) {
        Thread thread = new Thread(
                () -> {
                    try {
                        work.run();
                    } catch (IOException e) {
                        // One side has gone, which is its right.
                    }
                },
                "socket-server");
        thread.setDaemon(true);
        thread.start();
        return thread;
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
