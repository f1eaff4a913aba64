package dev.onlyonce;

/**
 * Takes events for metrics and audit. Called on the threads that make them, so it must be quick and thread-safe; what it
 * throws is logged and otherwise ignored.
 */
@FunctionalInterface
public interface Listener {
    /** Something happened. */
    void on(Event event);
}
