package dev.onlyonce;

/**
 * Receives events, for metrics and audit. Runs on the thread that causes the event, so it must be quick and thread-safe;
 * an exception is logged and otherwise ignored.
 */
@FunctionalInterface
public interface Listener {
    /** Something happened. */
    void on(Event event);
}
