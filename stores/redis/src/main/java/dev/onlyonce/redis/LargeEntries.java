package dev.onlyonce.redis;

import dev.onlyonce.store.StoreException;
import dev.onlyonce.store.StoreUnavailable;
import io.lettuce.core.protocol.CommandType;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Reads entries with large results, on connections of their own: on those of all others, everybody would wait until their bytes have
 * travelled. Two at a time, each with a command of its own, so that a bounded number of bytes is under way. Connects with the first
 * one. Any number of threads.
 */
final class LargeEntries implements AutoCloseable {
    /** Each may be as large as results can be. */
    private static final int AT_ONCE = 2;

    private final Supplier<Link> opening;
    private final Function<Link, Pipeline> sending;
    private final Duration timeout;
    private final Semaphore turns = new Semaphore(AT_ONCE, true);
    private @Nullable Link link;
    private boolean isClosed;

    /**
     * Opens nothing yet.
     *
     * @param timeout for a turn
     */
    LargeEntries(Supplier<Link> opening, Function<Link, Pipeline> sending, Duration timeout) {
        this.opening = opening;
        this.sending = sending;
        this.timeout = timeout;
    }

    /** What is stored at this key; its only value is null for nothing. */
    Reply read(byte[] key) {
        try {
            if (!turns.tryAcquire(timeout.toNanos(), TimeUnit.NANOSECONDS)) {
                return failed(new StoreUnavailable("Other large results are being read from Redis: try again", null));
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return failed(new StoreUnavailable("Interrupted before a large result was read", e));
        }
        try {
            Pipeline pipeline = sending.apply(opened());
            return pipeline.send(List.of(Request.command(CommandType.GET, key))).get(0);
        } catch (StoreException e) {
            return failed(e);
        } finally {
            turns.release();
        }
    }

    private static Reply failed(StoreException failure) {
        return new Reply(List.of(), failure);
    }

    private synchronized Link opened() {
        if (isClosed) {
            throw new StoreUnavailable("The store is closed", null);
        }
        Link open = link;
        if (open == null) {
            open = opening.get();
            // A cluster's servers are connected now: the first command for each would be refused meanwhile.
            var unused = open.masters();
            link = open;
        }
        return open;
    }

    @Override
    public synchronized void close() {
        isClosed = true;
        if (link != null) {
            link.close();
        }
    }
}
