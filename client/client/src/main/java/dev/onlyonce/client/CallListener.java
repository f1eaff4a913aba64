package dev.onlyonce.client;

import java.time.Duration;

/**
 * Receives what a client does, for metrics and logs. Called by the thread that sends; whatever a listener throws is logged
 * and does no harm.
 */
public interface CallListener {
    /** An attempt has ended. */
    default void attempted(String id, Attempt attempt) {}

    /** The client waits before the next attempt. */
    default void waiting(String id, Duration pause) {}

    /** A call has ended. */
    default void finished(CallResult result, Duration took) {}

    /** The journal could not be read or written. */
    default void journalFailed(JournalException failure) {}
}
