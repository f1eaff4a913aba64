package dev.onlyonce;

import dev.onlyonce.internal.ForOthers;
import dev.onlyonce.store.Store;
import dev.onlyonce.store.Time;
import java.time.Duration;

/**
 * The things that all parts of a node share.
 *
 * @param name the node's name, for entries and the audit
 * @param store the store itself; {@link dev.onlyonce.internal.GroupingStore} groups the calls of requests
 */
record Parts(String name, Store store, Time time, Callbacks callbacks) {
    long nanos() {
        return time.nanos();
    }

    /** Whether there is a listener: what every request tells need not be made for nobody. */
    boolean isHeard() {
        return callbacks.isHeard();
    }

    /** Passes an event to the listeners. No listener can cost a caller its claim or its answer. */
    void tell(Event event) {
        callbacks.tell(event);
    }

    /** Runs background work after the delay. Code of the application does not run on its thread. */
    Time.Scheduled schedule(Duration delay, Runnable work) {
        return time.schedule(delay, () -> ForOthers.run(work));
    }
}
