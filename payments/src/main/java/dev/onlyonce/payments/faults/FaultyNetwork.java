package dev.onlyonce.payments.faults;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.EnumMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;

/**
 * A port that leads to a server, over a network that fails by chance: once for each request, decided when the client begins
 * to speak. Works on the bytes of connections, so what clients see is what a bad network does. Thread-safe.
 */
public final class FaultyNetwork implements AutoCloseable {
    private static final int BACKLOG = 1_000;

    private final InetSocketAddress target;
    private final ServerSocket listener;
    private final Set<Link> links = ConcurrentHashMap.newKeySet();
    private final AtomicInteger numbers = new AtomicInteger();
    private final Map<NetworkFault, LongAdder> counts = new EnumMap<>(NetworkFault.class);
    private volatile Chances<NetworkFault> chances;

    private FaultyNetwork(ServerSocket listener, InetSocketAddress target, Chances<NetworkFault> chances) {
        this.listener = listener;
        this.target = target;
        this.chances = chances;
        for (NetworkFault fault : NetworkFault.values()) {
            counts.put(fault, new LongAdder());
        }
    }

    /** Opens a port on the loopback interface (0: any free one) that leads to the target. */
    public static FaultyNetwork open(int port, InetSocketAddress target, Chances<NetworkFault> chances) {
        try {
            ServerSocket listener = new ServerSocket(port, BACKLOG, InetAddress.getLoopbackAddress());
            FaultyNetwork network = new FaultyNetwork(listener, target, chances);
            start("network-accept", network::accept);
            return network;
        } catch (IOException e) {
            throw new UncheckedIOException("Cannot listen on port " + port + ": " + e.getMessage(), e);
        }
    }

    /** The port to connect to. */
    public int port() {
        return listener.getLocalPort();
    }

    /** Changes the chances from the next request on. */
    public void faults(Chances<NetworkFault> chances) {
        this.chances = chances;
    }

    /** How often each fault has struck. */
    public Map<NetworkFault, Long> counts() {
        Map<NetworkFault, Long> sums = new EnumMap<>(NetworkFault.class);
        counts.forEach((fault, count) -> sums.put(fault, count.sum()));
        return sums;
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
            links.forEach(link -> link.end(true));
        }
    }

    private void accept() {
        while (true) {
            try {
                Link link = new Link(listener.accept(), "link " + numbers.incrementAndGet());
                links.add(link);
                start("network-link", link::connect);
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
    private final class Link {
        private final Socket client;
        private final Socket server = new Socket();
        private final String name;

        // Guarded by this.
        private boolean clientSpokeLast;
        private int requests;

        Link(Socket client, String name) {
            this.client = client;
            this.name = name;
        }

        void connect() {
            try {
                server.connect(target);
                client.setTcpNoDelay(true);
                server.setTcpNoDelay(true);
                start("network-answers", () -> pump(server, client, false));
                pump(client, server, true);
            } catch (IOException e) {
                end(true);
            }
        }

        private void pump(Socket from, Socket to, boolean fromClient) {
            byte[] buffer = new byte[16 * 1024];
            try {
                InputStream in = from.getInputStream();
                OutputStream out = to.getOutputStream();
                for (int length = in.read(buffer); length >= 0; length = in.read(buffer)) {
                    if (struck(fromClient, buffer, length)) {
                        return;
                    }
                    out.write(buffer, 0, length);
                }
                end(false);
            } catch (IOException e) {
                end(true);
            }
        }

        /** Lets the fault happen that is due at the start of a request or of an answer, if any. */
        private boolean struck(boolean fromClient, byte[] buffer, int length) throws IOException {
            int request;
            synchronized (this) {
                if (clientSpokeLast == fromClient) {
                    return false;
                }
                clientSpokeLast = fromClient;
                request = fromClient ? ++requests : requests;
            }
            if (fromClient) {
                return strikes(NetworkFault.RESET_REQUEST, request) && end(true);
            }
            if (strikes(NetworkFault.CUT_ANSWER, request)) {
                client.getOutputStream().write(buffer, 0, length / 2);
                return end(true);
            }
            return (strikes(NetworkFault.RESET_ANSWER, request) && end(true))
                    || (strikes(NetworkFault.DROP_ANSWER, request) && end(false));
        }

        private boolean strikes(NetworkFault fault, int request) {
            boolean strikes = chances.strikes(fault, name, request);
            if (strikes) {
                count(fault);
            }
            return strikes;
        }

        private void count(NetworkFault fault) {
            LongAdder count = counts.get(fault);
            if (count != null) {
                count.increment();
            }
        }

        /** Closes both sides, once; always true. */
        private boolean end(boolean reset) {
            if (!links.remove(this)) {
                return true;
            }
            for (Socket socket : new Socket[] {client, server}) {
                try (socket) {
                    if (reset) {
                        socket.setSoLinger(true, 0);
                    }
                } catch (IOException e) {
                    // It is gone already, which is what we want.
                }
            }
            return true;
        }
    }
}
