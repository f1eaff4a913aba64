package dev.onlyonce.testservers;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.LockSupport;

/**
 * A network between a client and a server that can be frozen, slowed down and cut, also at an exact point of the
 * conversation: before the n-th request reaches the server, or before the n-th answer reaches the client. In the second case
 * the server has done what it was asked, and the client cannot know.
 *
 * <p>A request is what a client sends until the server says something; an answer begins with the first bytes that the server
 * sends after it. Requests and answers of all connections are counted together, from the call that asks for the cut. All
 * methods may be called by any thread.
 */
public final class TcpProxy implements AutoCloseable {
    private final InetSocketAddress target;
    private final ServerSocket listener;
    private final Set<Link> links = ConcurrentHashMap.newKeySet();

    // Guarded by this.
    private boolean frozen;
    private boolean down;
    private Duration delay = Duration.ZERO;
    private int requestsUntilCut;
    private int answersUntilCut;

    private TcpProxy(InetSocketAddress target, ServerSocket listener) {
        this.target = target;
        this.listener = listener;
    }

    /** Opens a proxy to the server of a JDBC URL such as {@code jdbc:postgresql://127.0.0.1:5432/db?user=me}. */
    public static TcpProxy to(String jdbcUrl) {
        URI server = URI.create(ServerUrl.of(jdbcUrl).server().substring("jdbc:".length()));
        if (server.getPort() < 0) {
            throw new IllegalArgumentException("The URL names no port");
        }
        try {
            ServerSocket listener = new ServerSocket(0, 500, InetAddress.getLoopbackAddress());
            TcpProxy proxy = new TcpProxy(new InetSocketAddress(server.getHost(), server.getPort()), listener);
            start("proxy-accept", proxy::accept);
            return proxy;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Returns the same JDBC URL by way of this proxy. */
    public String through(String jdbcUrl) {
        ServerUrl url = ServerUrl.of(jdbcUrl);
        String scheme = url.server().substring(0, url.server().indexOf("://"));
        return new ServerUrl(scheme + "://127.0.0.1:" + listener.getLocalPort(), url.database(), url.parameters())
                .with(url.database());
    }

    /** Holds everything back, in both directions, until {@link #heal()}. Connections stay open. */
    public synchronized void freeze() {
        frozen = true;
    }

    /** Holds each piece of data back for this long, in each direction. */
    public synchronized void delay(Duration delay) {
        this.delay = delay;
    }

    /** Resets all connections now; new ones are accepted. */
    public void cut() {
        links.forEach(Link::reset);
    }

    /** Resets all connections now and every new one, until {@link #heal()}. */
    public void down() {
        synchronized (this) {
            down = true;
        }
        cut();
    }

    /** Resets the connection that sends the n-th request from now, which the server then does not get. */
    public synchronized void cutBeforeRequest(int n) {
        requestsUntilCut = n;
    }

    /** Resets the connection that gets the n-th answer from now, which the client then does not get. */
    public synchronized void cutBeforeAnswer(int n) {
        answersUntilCut = n;
    }

    /** Ends freezing, delay, being down and cuts that did not happen yet; what was held back goes on. */
    public synchronized void heal() {
        frozen = false;
        down = false;
        delay = Duration.ZERO;
        requestsUntilCut = 0;
        answersUntilCut = 0;
        notifyAll();
    }

    /** Returns how many connections are open. */
    public int connections() {
        return links.size();
    }

    /** Resets all connections and accepts no more. */
    @Override
    public void close() {
        try {
            listener.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } finally {
            heal();
            cut();
        }
    }

    private void accept() {
        while (true) {
            try {
                Link link = new Link(listener.accept());
                links.add(link);
                start("proxy-connect", link::connect);
            } catch (IOException e) {
                return;
            }
        }
    }

    /** Waits as told; returns false if the connection is to be cut instead of passing the data on. */
    private boolean mayPass(Link link, boolean fromClient) {
        Duration wait;
        synchronized (this) {
            while (frozen && links.contains(link)) {
                try {
                    wait();
                } catch (InterruptedException e) {
                    return false;
                }
            }
            if (link.clientSpokeLast != fromClient) {
                link.clientSpokeLast = fromClient;
                if (fromClient && requestsUntilCut > 0 && --requestsUntilCut == 0) {
                    return false;
                }
                if (!fromClient && answersUntilCut > 0 && --answersUntilCut == 0) {
                    return false;
                }
            }
            wait = delay;
        }
        for (long end = System.nanoTime() + wait.toNanos(), left = wait.toNanos();
                left > 0;
                left = end - System.nanoTime()) {
            LockSupport.parkNanos(left);
        }
        return links.contains(link);
    }

    private synchronized boolean isDown() {
        return down;
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

        /** Guarded by the proxy. */
        private boolean clientSpokeLast;

        Link(Socket client) {
            this.client = client;
        }

        void connect() {
            try {
                if (isDown()) {
                    reset();
                    return;
                }
                server.connect(target);
                client.setTcpNoDelay(true);
                server.setTcpNoDelay(true);
                start("proxy-answers", () -> pump(server, client, false));
                pump(client, server, true);
            } catch (IOException e) {
                reset();
            }
        }

        private void pump(Socket from, Socket to, boolean fromClient) {
            byte[] buffer = new byte[64 * 1024];
            try {
                InputStream in = from.getInputStream();
                OutputStream out = to.getOutputStream();
                for (int length = in.read(buffer); length >= 0; length = in.read(buffer)) {
                    if (!mayPass(this, fromClient)) {
                        reset();
                        return;
                    }
                    out.write(buffer, 0, length);
                }
                end(false);
            } catch (IOException e) {
                reset();
            }
        }

        void reset() {
            end(true);
        }

        private void end(boolean reset) {
            if (!links.remove(this)) {
                return;
            }
            synchronized (TcpProxy.this) {
                TcpProxy.this.notifyAll();
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
        }
    }
}
