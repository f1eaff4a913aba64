package dev.onlyonce;

import dev.onlyonce.store.Entry;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Finds out what became of an operation whose outcome is unknown, by asking whoever would know: the provider, by
 * {@linkplain DownstreamKey the key that was sent to it}. Called on background threads, by several nodes at once, again and
 * again until it can tell; it must only look, never act.
 */
@FunctionalInterface
public interface Reconciler {

    /** What was found out. */
    sealed interface Finding {
        /**
         * The effect happened.
         *
         * @param result the operation's result as its {@link Codec} encodes it; empty if it cannot be known any more
         */
        record Found(byte @Nullable [] result) implements Finding {
            /** Without a result. */
            public Found() {
                this(null);
            }
        }

        /**
         * The effect did not happen and will not: the entry becomes retryable. Believed only after
         * {@link #absentAfter()}, because a request that is still on its way may yet arrive.
         *
         * @param proof for the audit
         */
        record Absent(String proof) implements Finding {}

        /**
         * Nobody knows yet.
         *
         * @param why for the operator
         */
        record CannotTell(String why) implements Finding {}
    }

    /** What a round of questions came to. */
    record Round(int asked, int found, int absent, int undecided) {}

    /** Looks. An exception counts as {@link Finding.CannotTell}. */
    Finding reconcile(Entry unknown) throws Exception;

    /** How long after an entry has become unknown an absence is believed. */
    default Duration absentAfter() {
        return Duration.ofMinutes(1);
    }
}
