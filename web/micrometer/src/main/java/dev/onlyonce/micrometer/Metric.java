package dev.onlyonce.micrometer;

import java.util.List;

/**
 * Every published metric: the one list for the gateway, the starter and the payments system. {@code docs/reference/metrics.md},
 * the dashboard and the alerts are compared with it by a test.
 */
public enum Metric {
    /** Claimed for the first time. */
    RESERVE_CREATED("reserve.created", Kind.COUNTER, Tag.BOTH, "Requests that claimed a new key"),
    /** Answered from the record. */
    RESERVE_REPLAY("reserve.replay", Kind.COUNTER, Tag.BOTH, "Duplicates that were answered from the record"),
    /** Somebody else is executing it. */
    RESERVE_IN_PROGRESS(
            "reserve.in_progress", Kind.COUNTER, Tag.BOTH, "Duplicates that came while the first request was running"),
    /** The key was used for another request. */
    RESERVE_KEY_MISUSE("reserve.key_misuse", Kind.COUNTER, Tag.BOTH, "Requests whose key was used for another request"),
    /** Claimed again after a proven non-execution. */
    RESERVE_FAILED_RETRY(
            "reserve.failed_retry",
            Kind.COUNTER,
            Tag.BOTH,
            "Retries that were executed because the attempt before had no effect"),
    /** The outcome is unknown. */
    RESERVE_UNKNOWN("reserve.unknown", Kind.COUNTER, Tag.BOTH, "Retries of a request whose outcome is unknown"),
    /** Past retention, with a tombstone. */
    RESERVE_EXPIRED("reserve.expired", Kind.COUNTER, Tag.BOTH, "Requests whose key is past its retention"),

    /** The store failed. */
    STORE_ERROR("store.error", Kind.COUNTER, Tag.NONE, "Calls of the store that failed"),
    /** The store must not be used. */
    STORE_REFUSED(
            "store.refused",
            Kind.GAUGE,
            Tag.NONE,
            "1 while this node refuses the store: it would forget, has lost its entries, or is another one"),
    /** A lease lapsed. */
    ZOMBIE_KEY("zombie_key", Kind.COUNTER, Tag.BOTH, "Leases that lapsed: the owner died or hung"),
    /** An owner found that its claim was gone. */
    CLAIM_LOST("claim_lost", Kind.COUNTER, Tag.BOTH, "Owners that were alive and found that they had lost their claim"),
    /** Expired entries were removed. */
    TTL_PRUNED("ttl_pruned", Kind.COUNTER, Tag.NONE, "Expired entries that were removed or made tombstones"),

    /** The shared cache had the answer. */
    CACHE_REPLAYED("cache.replayed", Kind.READ_COUNTER, Tag.NONE, "Duplicates that the shared cache answered"),
    /** The shared cache had a mark of the running claim. */
    CACHE_SHED(
            "cache.shed",
            Kind.READ_COUNTER,
            Tag.NONE,
            "Duplicates of running requests that the shared cache kept from the store"),
    /** The shared cache had nothing. */
    CACHE_MISSED("cache.missed", Kind.READ_COUNTER, Tag.NONE, "Claims for which the shared cache had nothing fresh"),
    /** The shared cache did not answer. */
    CACHE_FAILED(
            "cache.failed", Kind.READ_COUNTER, Tag.NONE, "Claims for which the shared cache did not answer in time"),
    /** Somebody has tampered with the shared cache, or nodes have different keys. */
    CACHE_REFUSED(
            "cache.refused",
            Kind.READ_COUNTER,
            Tag.NONE,
            "Values in the shared cache that were not sealed with the nodes' key"),

    /** An entry became unknown. */
    RECONCILE_SCHEDULED("reconcile.scheduled", Kind.COUNTER, Tag.BOTH, "Entries whose outcome became unknown"),
    /** An unknown entry was settled. */
    RECONCILE_RESOLVED("reconcile.resolved", Kind.COUNTER, Tag.BOTH, "Unknown entries that were settled"),
    /** An operator has to decide. */
    RECONCILE_FAILED("reconcile.failed", Kind.COUNTER, Tag.BOTH, "Unknown entries that an operator has to decide"),
    /** Unknown entries now. */
    RECONCILE_BACKLOG("reconcile.backlog", Kind.GAUGE, Tag.NONE, "Entries whose outcome is unknown now, at most 1000"),
    /** The oldest of them. */
    RECONCILE_OLDEST("reconcile.oldest", Kind.GAUGE_SECONDS, Tag.NONE, "How long the oldest of them has been unknown"),

    /** The provider answered. */
    OUTBOX_DELIVERED("outbox.delivered", Kind.COUNTER, Tag.BOTH, "Calls of the outbox that the provider answered"),
    /** It will be tried again. */
    OUTBOX_RETRIED("outbox.retried", Kind.COUNTER, Tag.BOTH, "Calls of the outbox that will be tried again"),
    /** It was given up. */
    OUTBOX_DEAD("outbox.dead", Kind.COUNTER, Tag.BOTH, "Calls of the outbox that were given up"),
    /** It did not come back, and was interrupted. */
    OUTBOX_HUNG("outbox.hung", Kind.COUNTER, Tag.BOTH, "Calls of the outbox that did not return and were interrupted"),
    /** Calls that wait now. */
    OUTBOX_WAITING("outbox.waiting", Kind.GAUGE, Tag.NONE, "Calls that the outbox has to deliver now, at most 1000"),
    /** The oldest of them. */
    OUTBOX_OLDEST("outbox.oldest", Kind.GAUGE_SECONDS, Tag.NONE, "How long the oldest of them has waited"),
    /** Dead letters now. */
    OUTBOX_DEAD_LETTERS("outbox.dead_letters", Kind.GAUGE, Tag.NONE, "Dead letters in the outbox now, at most 1000"),

    /** A consumer applied a message. */
    MESSAGES_APPLIED("messages.applied", Kind.COUNTER, Tag.MESSAGES, "Messages that consumers applied"),
    /** A consumer recognised a message. */
    MESSAGES_REPEATED(
            "messages.repeated", Kind.COUNTER, Tag.MESSAGES, "Messages that consumers recognised as repeated"),
    /** A consumer tries a message again. */
    MESSAGES_RETRIED("messages.retried", Kind.COUNTER, Tag.MESSAGES, "Failures of messages that are tried again"),
    /** A consumer gave up a message. */
    MESSAGES_DEAD("messages.dead", Kind.COUNTER, Tag.DEAD_MESSAGES, "Messages that consumers gave up, by reason"),
    /** A handler of a message took too long. */
    MESSAGES_HUNG(
            "messages.hung",
            Kind.COUNTER,
            Tag.MESSAGES,
            "Handlers of messages that took too long and were interrupted"),

    /** Differences of the latest comparison. */
    LEDGER_DIFFERENCES(
            "ledger.differences",
            Kind.GAUGE,
            Tag.KIND,
            "Differences between the own ledger and the provider's, in the latest comparison"),

    /** Asking the store for the claim. */
    CLAIM_DURATION(
            "claim.duration", Kind.TIMER, Tag.OPERATION, "From asking the store for a claim until it was granted"),
    /** The action. */
    EXECUTE_DURATION(
            "execute.duration", Kind.TIMER, Tag.OPERATION, "From asking for a claim until the action had ended"),
    /** Recording the outcome. */
    SETTLE_DURATION("settle.duration", Kind.TIMER, Tag.OPERATION, "From the end of the action until it was recorded");

    /** What every name begins with. */
    public static final String PREFIX = "api.idempotency.";

    /** What it measures with. */
    public enum Kind {
        /** Only grows. */
        COUNTER("_total"),
        /** Only grows, and is counted elsewhere. */
        READ_COUNTER("_total"),
        /** A number now. */
        GAUGE(""),
        /** A duration now. */
        GAUGE_SECONDS("_seconds"),
        /** A histogram of durations. */
        TIMER("_seconds");

        private final String suffix;

        Kind(String suffix) {
            this.suffix = suffix;
        }

        /** The name of a meter of this kind in Prometheus. */
        String prometheusName(String meterName) {
            return meterName.replace('.', '_') + suffix;
        }
    }

    /** What it is broken down by. */
    public enum Tag {
        /** Nothing. */
        NONE(""),
        /** The operation. */
        OPERATION("operation"),
        /** The operation and the tenant. */
        BOTH("operation tenant"),
        /** The consumer group and the topic. */
        MESSAGES("group topic"),
        /** The consumer group, the reason of the dead letter and the topic. */
        DEAD_MESSAGES("group reason topic"),
        /** The kind of difference. */
        KIND("kind");

        private final String names;

        Tag(String names) {
            this.names = names;
        }

        /** The tags' names. */
        public List<String> names() {
            return names.isEmpty() ? List.of() : List.of(names.split(" ", -1));
        }
    }

    private final String name;
    private final Kind kind;
    private final Tag tags;
    private final String description;

    Metric(String name, Kind kind, Tag tags, String description) {
        this.name = PREFIX + name;
        this.kind = kind;
        this.tags = tags;
        this.description = description;
    }

    /** Its name in Micrometer. */
    public String meterName() {
        return name;
    }

    /** Its name in Prometheus; a timer has it with {@code _bucket}, {@code _count} and {@code _sum} behind. */
    public String prometheusName() {
        return kind.prometheusName(name);
    }

    /** What it measures with. */
    public Kind kind() {
        return kind;
    }

    /** What it is broken down by. */
    public Tag tags() {
        return tags;
    }

    /** What it means. */
    public String description() {
        return description;
    }
}
