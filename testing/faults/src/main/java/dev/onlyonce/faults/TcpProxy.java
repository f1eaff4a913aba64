package dev.onlyonce.faults;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * A port that leads to a server, over a network with faults. It works on the bytes of connections, so clients see what a bad
 * network does. Before each piece of data, a {@link Rule} decides what happens to it. Thread-safe.
 */
public final class TcpProxy implements AutoCloseable {
    private static final int BACKLOG = 1_000;
    private static final int BUFFER_BYTES = 64 << 10;

    private final InetSocketAddress target;
    private final ServerSocket listener;
    private final Rule rule;
    private final Set<Link> links = ConcurrentHashMap.newKeySet();

    /** What happens to a piece of data. */
    public enum Fate {
        /** It is passed on. */
        PASS,
        /** It is lost, and the connection is reset. */
        RESET,
        /** It is lost, and the connection is closed in order. */
        CLOSE,
        /** Its first half is passed on, then the connection is reset. */
        CUT
    }

    /** The faults of a network. Threads of all connections call it. */
    public interface Rule {
        /** Whether a new connection is let through; otherwise it is reset. */
        default boolean accepts() {
            return true;
        }

        /**
         * Decides about a piece of data; may block. A request is what a client sends until the server answers; an answer begins
         * with the first bytes that the server sends after it.
         *
         * @param begins whether the piece begins a request or an answer
         */
        Fate decide(Link link, boolean fromClient, boolean begins);

        /** A connection has ended: {@link #decide} need not block for it any longer. */
        default void ended() {}
    }

    private TcpProxy(InetSocketAddress target, ServerSocket listener, Rule rule) {
        this.target = target;
        this.listener = listener;
        this.rule = rule;
    }

    /** Opens a port on the loopback interface (0: any free one) that leads to the target. */
    public static TcpProxy open(int port, InetSocketAddress target, Rule rule) {
        try {
            ServerSocket listener = new ServerSocket(port, BACKLOG, InetAddress.getLoopbackAddress());
            TcpProxy proxy = new TcpProxy(target, listener, rule);
            start("proxy-accept", proxy::accept);
            return proxy;
        } catch (IOException e) {
            throw new UncheckedIOException("Cannot listen on port " + port + ": " + e.getMessage(), e);
        }
    }

    /** The port to connect to. */
    public int port() {
        return listener.getLocalPort();
    }

    /** How many connections are open. */
    public int connections() {
        return links.size();
    }

    /** Resets all connections; new ones are accepted. */
    public void cut() {
        links.forEach(link -> link.end(true));
    }

    /** Resets the connection that the server sees as coming from this port of ours. */
    public void reset(int ourPort) {
        for (Link link : links) {
            if (link.server.getLocalPort() == ourPort) {
                link.end(true);
            }
        }
    }

    /** Resets all connections and accepts no more. */
    @Override
    public void close() {
        try {
            listener.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } finally {
            cut();
        }
    }

    private void accept() {
        for (int number = 1; ; number++) {
            try {
                Link link = new Link(listener.accept(), number);
                links.add(link);
                start("proxy-connect", link::connect);
            } catch (IOException e) {
                return;
            }
        }
    }

    private static void start(String name, Runnable work) {
        Thread thread = new Thread(work, name);
        thread.setDaemon(true);
        thread.start();
    }

    /** A client's connection and its continuation to the server. */
    public final class Link {
        private final Socket client;
        private final Socket server = new Socket();
        private final int number;

        // Guarded by this.
        private boolean clientSpokeLast;
        private int requests;

        private Link(Socket client, int number) {
            this.client = client;
            this.number = number;
        }

        /** Counts the connections of the proxy, from 1. */
        public int number() {
            return number;
        }

        /** How many requests have begun on this connection. */
        public synchronized int requests() {
            return requests;
        }

        /** Whether it has not ended. */
        public boolean isOpen() {
            return links.contains(this);
        }

        private void connect() {
            try {
                if (!rule.accepts()) {
                    end(true);
                    return;
                }
                server.connect(target);
                client.setTcpNoDelay(true);
                server.setTcpNoDelay(true);
                start("proxy-answers", () -> pump(server, client, false));
                pump(client, server, true);
            } catch (IOException e) {
                end(true);
            }
        }

        private void pump(Socket from, Socket to, boolean fromClient) {
            byte[] buffer = new byte[BUFFER_BYTES];
            try {
                InputStream in = from.getInputStream();
                OutputStream out = to.getOutputStream();
                for (int length = in.read(buffer); length >= 0; length = in.read(buffer)) {
                    Fate fate = rule.decide(this, fromClient, begins(fromClient));
                    if (fate == Fate.PASS || fate == Fate.CUT) {
                        out.write(buffer, 0, fate == Fate.PASS ? length : length / 2);
                    }
                    if (fate != Fate.PASS) {
                        end(fate != Fate.CLOSE);
                        return;
                    }
                }
                end(false);
            } catch (IOException e) {
                end(true);
            }
        }

        private synchronized boolean begins(boolean fromClient) {
            if (clientSpokeLast == fromClient) {
                return false;
            }
            clientSpokeLast = fromClient;
            requests += fromClient ? 1 : 0;
            return true;
        }

        /** Closes both sides, once. */
        private void end(boolean reset) {
            if (!links.remove(this)) {
                return;
            }
            rule.ended();
            for (Socket socket : new Socket[] {client, server}) {
                try (socket) {
                    if (reset) {
                        socket.setSoLinger(true, 0);
                    }
                } catch (IOException e) {
                    // It is gone already, which is what we want.
                }
            }
        }
    }
}
