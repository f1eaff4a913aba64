package dev.onlyonce.spring.transactions;

import dev.onlyonce.store.StoreUnavailable;
import dev.onlyonce.store.Time;
import java.time.Duration;
import java.util.function.Supplier;

/**
 * Keeps requests from waiting in vain for a connection: pools do so for half a minute by default, in which every thread of a
 * server would get stuck although most requests need no database. Any number of threads.
 *
 * <ol>
 *   <li>While connections are handed out, everybody may wait for one, however long the line is.
 *   <li>When none was handed out for as long as a request may wait for the store, new requests are refused at once.
 *   <li>After somebody got none, one at a time may try, until one gets one.
 * </ol>
 */
final class Admission {
    private final Time time;
    private final long waitMaxNanos;
    private int waiting;
    /** When a connection was handed out last, or when somebody began to wait for the next one. */
    private long sinceNanos;

    private boolean doubted;

    Admission(Time time, Duration waitMax) {
        this.time = time;
        this.waitMaxNanos = waitMax.toNanos();
    }

    /**
     * Takes something from the pool.
     *
     * @throws StoreUnavailable at once, if that would be in vain
     */
    <T> T take(Supplier<T> taking) {
        enter();
        boolean taken = false;
        try {
            T result = taking.get();
            taken = true;
            return result;
        } finally {
            leave(taken);
        }
    }

    private synchronized void enter() {
        long now = time.nanos();
        if (waiting > 0 && (doubted || now - sinceNanos >= waitMaxNanos)) {
            throw new StoreUnavailable("The database has given no connection for a while", null);
        }
        if (waiting == 0) {
            sinceNanos = now;
        }
        waiting++;
    }

    private synchronized void leave(boolean taken) {
        waiting--;
        doubted = !taken;
        if (taken) {
            sinceNanos = time.nanos();
        }
    }
}
