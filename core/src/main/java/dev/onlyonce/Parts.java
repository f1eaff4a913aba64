package dev.onlyonce;

import dev.onlyonce.store.Store;
import dev.onlyonce.store.Time;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The things that all parts of a node share.
 *
 * @param name the node's name, for entries and the audit
 * @param store the store itself; {@link dev.onlyonce.internal.GroupingStore} groups the calls of requests
 */
record Parts(String name, Store store, Time time, List<Listener> listeners) {
    private static final Logger log = LoggerFactory.getLogger(Parts.class);

    Parts {
        listeners = List.copyOf(listeners);
    }

    long nanos() {
        return time.nanos();
    }

    /** Passes an event to the listeners. An exception or error in one must not cost a caller its claim or its answer. */
    void tell(Event event) {
        for (Listener listener : listeners) {
            try {
                listener.on(event);
            } catch (RuntimeException | Error e) {
                log.warn("A listener failed on {}", event.getClass().getSimpleName(), e);
            }
        }
    }
}
