package dev.onlyonce;

import dev.onlyonce.store.EntryId;
import dev.onlyonce.store.StoreException;
import dev.onlyonce.store.Transition;
import org.jspecify.annotations.Nullable;

/**
 * Something that operators count or keep. The metrics begin with {@code api.idempotency.}; {@code
 * docs/reference/metrics.md} lists them.
 */
public sealed interface Event {

    /** The answer to a request. Each is counted under {@code api.idempotency.reserve.<name>}. */
    enum Decision {
        /** Claimed for the first time. */
        CREATED,
        /** Answered from the record. */
        REPLAY,
        /** Somebody else is executing it. */
        IN_PROGRESS,
        /** The key was used for another request. */
        KEY_MISUSE,
        /** Claimed again after a proven non-execution. */
        FAILED_RETRY,
        /** The outcome is unknown. */
        UNKNOWN,
        /** Past retention, with a tombstone. */
        EXPIRED;

        /** The decision that an outcome counts as; an execution counts as the first one. */
        public static Decision of(Outcome<?> outcome) {
            if (outcome instanceof Outcome.Executed) {
                return CREATED;
            } else if (outcome instanceof Outcome.InFlight) {
                return IN_PROGRESS;
            } else if (outcome instanceof Outcome.Mismatched) {
                return KEY_MISUSE;
            } else if (outcome instanceof Outcome.Unknown) {
                return UNKNOWN;
            }
            return outcome instanceof Outcome.Expired ? EXPIRED : REPLAY;
        }
    }

    /** A request was decided. */
    record Decided(Key key, Decision decision) implements Event {}

    /** A tenant, alone or together with all others, is over a limit: its new keys are refused. Not a metric of its own: the answers are 429. */
    record Limited(String tenant) implements Event {}

    /** An entry changed its state through this node. */
    record Changed(Transition transition) implements Event {}

    /**
     * This node swept an entry whose lease had lapsed: its owner, on this or another node, died or hung; counted as {@code
     * zombie_key}. Once for each lapsed lease, besides {@link Changed}.
     */
    record LeaseLapsed(Transition transition) implements Event {}

    /** An owner on this node found that it had lost its claim; counted as {@code claim_lost}. */
    record ClaimLost(Key key, int attempt) implements Event {}

    /** How long a part of an execution took; timed as {@code <part>.duration}. */
    record Took(String operation, Part part, long nanos) implements Event {
        /** What was timed. */
        public enum Part {
            /** From asking the store for the claim until it was granted. */
            CLAIM,
            /** From asking for the claim until the action had ended. */
            EXECUTE,
            /** From the end of the action until the store had recorded it. */
            SETTLE
        }
    }

    /** A ledger was compared with a provider's; the gauges {@code ledger.differences} show the latest comparison. */
    record LedgerCompared(int missing, int extra, int different) implements Event {}

    /** The store failed; counted as {@code store.error}. */
    record StoreFailed(StoreException failure) implements Event {}

    /** The reconciler took up, resolved, or gave up an unknown entry; counted as {@code reconcile.<name>}. */
    record Reconciled(EntryId id, String operation, Progress progress) implements Event {
        /** How far it got. */
        public enum Progress {
            /** It is unknown, and its reconciler will be asked. */
            SCHEDULED,
            /** Its outcome was found. */
            RESOLVED,
            /** Many tries found nothing: an operator has to decide. The reconciler is still asked now and then. */
            FAILED
        }
    }

    /** A worker ended or put off an accepted entry's call; counted as {@code outbox.<name>}. */
    record Delivery(EntryId id, String operation, Fate fate) implements Event {
        /** How the delivery went. */
        public enum Fate {
            /** The provider answered, and the answer is recorded. */
            DELIVERED,
            /** It will be tried again. */
            RETRIED,
            /** It was given up, or waits for the reconciler or an operator. */
            DEAD,
            /** It has not come back within its policy's {@code heldMax}: the worker has interrupted it, and its outcome is in doubt. */
            HUNG
        }
    }

    /**
     * A consumer is done with a message of a broker, or puts it off; counted as {@code messages.<name>}.
     *
     * @param group the consumer group
     * @param topic the topic or queue
     * @param reason why it is dead, as its dead letter says; null for others
     */
    record Consumed(
            String group, String topic, End end, @Nullable String reason) implements Event {
        /** How it ended. */
        public enum End {
            /** It took effect now. */
            APPLIED,
            /** It was recognised, and left alone. */
            REPEATED,
            /** It failed, and will be tried again. */
            RETRIED,
            /** It is a dead letter. */
            DEAD,
            /** Its handler took too long and was interrupted; how the message ends is another event. */
            HUNG
        }
    }

    /**
     * A consumer has given up a message, which is now among its broker's dead letters; besides {@link Consumed}.
     *
     * @param group the consumer group
     * @param topic the topic or queue
     * @param coordinates the broker's own name for the message, unique within the topic
     * @param reason as the dead letter says
     * @param text the reason in words
     * @param tries how often it failed
     * @param body may be confidential. Not copied: do not modify it
     */
    record GivenUp(String group, String topic, String coordinates, String reason, String text, int tries, byte[] body)
            implements Event {}

    /** Expired entries were removed or made tombstones; counted as {@code ttl_pruned}. */
    record Purged(int entries) implements Event {}
}
