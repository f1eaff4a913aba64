package dev.onlyonce;

import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Passes events to the listeners. An exception or error in one must not cost a caller its claim or its answer. */
final class Events {
    private static final Logger log = LoggerFactory.getLogger(Events.class);

    private final List<Listener> listeners;

    Events(List<Listener> listeners) {
        this.listeners = List.copyOf(listeners);
    }

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
