package dev.onlyonce.testservers;

import dev.onlyonce.faults.TcpProxy;
import dev.onlyonce.faults.TcpProxy.Fate;
import java.net.InetSocketAddress;
import java.net.URI;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;

/**
 * A network between a client and a server that can be frozen, slowed down and cut, also at an exact point of the
 * conversation: before the n-th request reaches the server, or before the n-th answer reaches the client. In the second case
 * the server has done what it was asked, and the client cannot know.
 *
 * <p>Requests and answers of all connections are counted together, from the call that asks for the cut; {@link
 * TcpProxy.Rule#decide} says what they are. All methods may be called by any thread.
 */
public final class ScriptedNetwork implements AutoCloseable {
    /** Instead of a delay: the connection is to be cut. */
    private static final Duration CUT = Duration.ofNanos(-1);

    private final TcpProxy proxy;

    // Guarded by this.
    private boolean frozen;
    private boolean down;
    private Duration delay = Duration.ZERO;
    private int requestsUntilCut;
    private int answersUntilCut;

    private ScriptedNetwork(InetSocketAddress target) {
        proxy = TcpProxy.open(0, target, new Script());
    }

    /** Opens a network to the server of a JDBC URL such as {@code jdbc:postgresql://127.0.0.1:5432/db?user=me}. */
    public static ScriptedNetwork to(String jdbcUrl) {
        URI server = URI.create(ServerUrl.of(jdbcUrl).server().substring("jdbc:".length()));
        if (server.getPort() < 0) {
            throw new IllegalArgumentException("The URL names no port");
        }
        return new ScriptedNetwork(new InetSocketAddress(server.getHost(), server.getPort()));
    }

    /** Returns the same JDBC URL by way of this network. */
    public String through(String jdbcUrl) {
        ServerUrl url = ServerUrl.of(jdbcUrl);
        String scheme = url.server().substring(0, url.server().indexOf("://"));
        return new ServerUrl(scheme + "://127.0.0.1:" + proxy.port(), url.database(), url.parameters())
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
        proxy.cut();
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

    /** Ends freezing, delay, being down and cuts that did not happen yet; data that was held back goes on. */
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
        return proxy.connections();
    }

    /** Resets all connections and accepts no more. */
    @Override
    public void close() {
        heal();
        proxy.close();
    }

    private synchronized boolean isDown() {
        return down;
    }

    private synchronized void wakeAll() {
        notifyAll();
    }

    /** Waits while frozen. Returns how long to hold the data back, or {@link #CUT}. */
    private synchronized Duration hold(TcpProxy.Link link, boolean fromClient, boolean begins)
            throws InterruptedException {
        while (frozen && link.isOpen()) {
            wait();
        }
        boolean cutRequest = begins && fromClient && requestsUntilCut > 0 && --requestsUntilCut == 0;
        boolean cutAnswer = begins && !fromClient && answersUntilCut > 0 && --answersUntilCut == 0;
        return cutRequest || cutAnswer ? CUT : delay;
    }

    private final class Script implements TcpProxy.Rule {
        @Override
        public boolean accepts() {
            return !isDown();
        }

        @Override
        public Fate decide(TcpProxy.Link link, boolean fromClient, boolean begins) {
            Duration wait;
            try {
                wait = hold(link, fromClient, begins);
            } catch (InterruptedException e) {
                return Fate.RESET;
            }
            long end = System.nanoTime() + wait.toNanos();
            for (long left = wait.toNanos(); left > 0; left = end - System.nanoTime()) {
                LockSupport.parkNanos(left);
            }
            return wait.isNegative() || !link.isOpen() ? Fate.RESET : Fate.PASS;
        }

        @Override
        public void ended() {
            wakeAll();
        }
    }
}
