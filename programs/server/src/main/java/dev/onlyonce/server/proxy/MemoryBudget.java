package dev.onlyonce.server.proxy;

import java.util.concurrent.atomic.AtomicLong;
import java.util.function.IntConsumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The memory that all clients together may pin: bodies that are on their way, and answers that are not read yet. Thread-safe.
 *
 * <p>Whoever needs memory reserves it, and refuses its client if there is none. While memory is short, clients that send or
 * read too slowly give way: their connections are cut off.
 */
public final class MemoryBudget {
    /** Slower clients are cut off while memory is short. */
    public static final int BYTES_PER_SECOND_MIN = 16 << 10;

    /** Nobody is called slow sooner: a client may pause for a moment. */
    public static final long PATIENCE_NANOS = 2_000_000_000L;

    private static final Logger log = LoggerFactory.getLogger(MemoryBudget.class);

    private final long bytesMax;
    private final IntConsumer onCut;
    private final AtomicLong reserved = new AtomicLong();
    private volatile boolean refused;

    /**
     * Nothing is reserved yet.
     *
     * @param bytesMax the budget
     * @param onCut receives how many clients were cut off
     */
    public MemoryBudget(long bytesMax, IntConsumer onCut) {
        this.bytesMax = bytesMax;
        this.onCut = onCut;
    }

    /** Reserves bytes; returns false and reserves nothing if over budget. */
    public boolean reserve(long bytes) {
        if (reserved.addAndGet(bytes) <= bytesMax) {
            return true;
        }
        reserved.addAndGet(-bytes);
        refused = true;
        return false;
    }

    /**
     * Reserves bytes even over budget, for what is pinned already and for small answers that must not be lost. A negative number
     * gives bytes back.
     */
    public void force(long bytes) {
        reserved.addAndGet(bytes);
    }

    /** Gives reserved bytes back. */
    public void release(long bytes) {
        if (reserved.addAndGet(-bytes) < bytesMax / 2) {
            refused = false;
        }
    }

    /** How much is reserved now. */
    public long reserved() {
        return reserved.get();
    }

    /** Whether slow clients must give way: less than a quarter is left, or somebody was refused and half is not free yet. */
    public boolean isShort() {
        // The second read: a refusal after the last release would stand for good.
        return reserved.get() > bytesMax / 4 * 3 || (refused && reserved.get() >= bytesMax / 2);
    }

    /** Reports clients that were cut off. */
    public void cut(int clients) {
        if (clients > 0) {
            log.warn(
                    "Cut off {} slow clients: they did not send or read in time, or memory is short ({} of {} bytes are in use)",
                    clients,
                    reserved.get(),
                    bytesMax);
            onCut.accept(clients);
        }
    }
}
