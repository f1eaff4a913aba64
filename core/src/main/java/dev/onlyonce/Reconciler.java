package dev.onlyonce;

import dev.onlyonce.store.Entry;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Finds out whether an operation with an unknown outcome took effect: it asks the provider, by {@linkplain DownstreamKey the
 * key that was sent to it}. Background threads of several nodes call it, repeatedly, until it can tell. It must only look,
 * never act.
 */
@FunctionalInterface
public interface Reconciler {

    /** The answer of a reconciler. */
    sealed interface Finding {
        /**
         * The effect happened.
         *
         * @param result the operation's result as its {@link Codec} encodes it; empty if it is lost
         */
        record Found(byte @Nullable [] result) implements Finding {
            /** Without a result. */
            public Found() {
                this(null);
            }
        }

        /**
         * The effect did not happen and will not: the entry becomes retryable. Believed only after
         * {@link #absentAfter()}, because a request may still be on its way.
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

    /** The result of a round over all unknown entries. */
    record Round(int asked, int found, int absent, int undecided) {}

    /** Looks. An exception counts as {@link Finding.CannotTell}. */
    Finding reconcile(Entry unknown) throws Exception;

    /** How long after an entry has become unknown an absence is believed. */
    default Duration absentAfter() {
        return Duration.ofMinutes(1);
    }
}
