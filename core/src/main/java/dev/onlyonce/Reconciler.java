package dev.onlyonce;

import dev.onlyonce.store.Entry;
import java.time.Duration;
import java.time.Instant;
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
         * The effect did not happen and will not: the entry becomes retryable. That must be true of every attempt: of a request
         * in a queue, and of an owner that was paused just before its call (a stopped process, a frozen virtual machine)
         * and makes it when it goes on. If the provider honours the {@link DownstreamKey}, neither does harm. Otherwise time
         * is the proof: an absence is believed only after {@link #absentAfter()}.
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

    /**
     * How far one node has come with an unknown entry.
     *
     * @param tries how often the reconciler was asked
     * @param at when it was asked last, by the node's clock
     * @param lastWord why it could not tell
     * @param nextIn how long until it is asked again
     */
    record Progress(int tries, Instant at, String lastWord, Duration nextIn) {}

    /** The result of a round over all unknown entries. */
    record Round(int asked, int found, int absent, int undecided) {}

    /** Looks. An exception counts as {@link Finding.CannotTell}. */
    Finding reconcile(Entry unknown) throws Exception;

    /**
     * How long after an entry has become unknown an absence is believed: at least the {@linkplain Policy#callMax() longest
     * time that a call may take}, the owner's pauses included, and what the provider needs to show an effect. Less than
     * {@code callMax} is refused at start-up.
     */
    default Duration absentAfter() {
        return Duration.ofMinutes(1);
    }
}
