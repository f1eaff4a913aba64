package dev.onlyonce.payments.faults;

import dev.onlyonce.faults.TcpProxy;
import dev.onlyonce.faults.TcpProxy.Fate;
import java.net.InetSocketAddress;
import java.util.EnumMap;
import java.util.Map;
import java.util.concurrent.atomic.LongAdder;

/**
 * A port that leads to a server, over a network that fails by chance: once for each request, decided when the client begins
 * to speak. Thread-safe.
 */
public final class FaultyNetwork implements AutoCloseable {
    private final TcpProxy proxy;
    private final Map<NetworkFault, LongAdder> counts = new EnumMap<>(NetworkFault.class);
    private volatile Chances<NetworkFault> chances;

    private FaultyNetwork(int port, InetSocketAddress target, Chances<NetworkFault> chances) {
        this.chances = chances;
        for (NetworkFault fault : NetworkFault.values()) {
            counts.put(fault, new LongAdder());
        }
        // Last: connections may come at once.
        this.proxy = TcpProxy.open(port, target, this::decide);
    }

    /** Opens a port on the loopback interface (0: any free one) that leads to the target. */
    public static FaultyNetwork open(int port, InetSocketAddress target, Chances<NetworkFault> chances) {
        return new FaultyNetwork(port, target, chances);
    }

    /** The port to connect to. */
    public int port() {
        return proxy.port();
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
        proxy.reset(ourPort);
    }

    /** Resets all connections and accepts no more. */
    @Override
    public void close() {
        proxy.close();
    }

    private Fate decide(TcpProxy.Link link, boolean fromClient, boolean begins) {
        if (!begins) {
            return Fate.PASS;
        }
        if (fromClient) {
            return strikes(NetworkFault.RESET_REQUEST, link) ? Fate.RESET : Fate.PASS;
        }
        if (strikes(NetworkFault.CUT_ANSWER, link)) {
            return Fate.CUT;
        }
        if (strikes(NetworkFault.RESET_ANSWER, link)) {
            return Fate.RESET;
        }
        return strikes(NetworkFault.DROP_ANSWER, link) ? Fate.CLOSE : Fate.PASS;
    }

    private boolean strikes(NetworkFault fault, TcpProxy.Link link) {
        boolean strikes = chances.strikes(fault, "link " + link.number(), link.requests());
        LongAdder count = counts.get(fault);
        if (strikes && count != null) {
            count.increment();
        }
        return strikes;
    }
}
