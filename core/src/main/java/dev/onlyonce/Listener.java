package dev.onlyonce;

/**
 * Receives events, for metrics and audit. It must be quick and thread-safe: events that a caller causes come on the caller's own
 * thread. Those of background work come in order, on a thread for this listener; if it is too slow for them, some are dropped,
 * and the log says so. What it throws is logged and otherwise ignored.
 */
@FunctionalInterface
public interface Listener {
    /** Something happened. */
    void on(Event event);
}
