package dev.onlyonce.sql.outbox;

import dev.onlyonce.Policy;
import dev.onlyonce.Registry;
import dev.onlyonce.sql.internal.entries.StoredEntry;
import dev.onlyonce.store.OnLeaseLost;
import dev.onlyonce.store.Terms;
import dev.onlyonce.store.Time;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The configuration of an outbox. */
record OutboxSettings(
        Registry registry, Duration pendingMax, Map<String, DeliveryHandler> handlers, Tries tries, Load load) {

    /** How late a row that is due may be taken by a busy worker. */
    private static final Duration RETENTION_MARGIN = Duration.ofMinutes(1);

    private static final Logger log = LoggerFactory.getLogger(OutboxSettings.class);

    /** The longest lifetime that can be added to a time. */
    private static final Duration LIFETIME_MAX = Duration.ofDays(36_500);

    record Tries(int max, Duration backoffFirst, Duration backoffLongest, Duration parkFor) {}

    record Load(
            int concurrency,
            int rowsMax,
            Duration pollEvery,
            Duration closeWaitMax,
            int payloadBytesMax,
            long bytesMax) {}

    String name() {
        return registry.name();
    }

    Time time() {
        return registry.time();
    }

    /** The lease of rows. No operation has a shorter one, so its heartbeats keep the entries too. */
    Duration lease() {
        return registry.shortestLease();
    }

    Policy policy(TakenRow row) {
        return policy(row.stored().row().key().operation());
    }

    Policy policy(String operation) {
        return registry.policy(operation);
    }

    /** A worker that dies during a call leaves an unknown outcome behind, whatever the policy says. */
    Terms claimTerms(String operation) {
        Terms terms = policy(operation).terms();
        return new Terms(terms.lease(), OnLeaseLost.UNKNOWN, terms.retention(), terms.tombstone());
    }

    /**
     * The terms of an entry that waits for a worker.
     *
     * @throws IllegalArgumentException if the retention is too short: a retryable entry expires, and its row with it, so the
     *     next try must come before that, wherever it is due
     */
    Terms acceptTerms(Policy policy) {
        Terms terms = policy.terms();
        Duration longest = tries.backoffLongest.compareTo(tries.parkFor) < 0 ? tries.parkFor : tries.backoffLongest;
        Duration needed = longest.plus(terms.lease()).plus(RETENTION_MARGIN);
        if (terms.retention().compareTo(needed) < 0) {
            throw new IllegalArgumentException("the retention of " + terms.retention()
                    + " is shorter than the longest pause between two tries, the lease and " + RETENTION_MARGIN
                    + " together, " + needed + ": rows would be forgotten before they are tried again");
        }
        return new Terms(pendingMax, OnLeaseLost.UNKNOWN, terms.retention(), terms.tombstone());
    }

    int triesMax() {
        return tries.max;
    }

    Duration parkFor() {
        return tries.parkFor;
    }

    int concurrency() {
        return load.concurrency;
    }

    int rowsMax() {
        return load.rowsMax;
    }

    /** How many bytes of payloads and answers a node has in hand at most; one row of each topic always. */
    long bytesMax() {
        return load.bytesMax;
    }

    /**
     * How many rows are taken ahead. All of them are in doubt if the node dies. Where no provider honours a key, nobody could
     * ask again: then no more is taken than is called at once.
     */
    int rowsAhead() {
        boolean asks =
                handlers.keySet().stream().allMatch(topic -> keyLifetime(topic).compareTo(lease()) > 0);
        return asks ? load.rowsMax : Math.min(load.rowsMax, load.concurrency);
    }

    Duration pollEvery() {
        return load.pollEvery;
    }

    Duration closeWaitMax() {
        return load.closeWaitMax;
    }

    DeliveryHandler handler(TakenRow held) {
        String topic = held.topic();
        DeliveryHandler handler = handlers.get(topic);
        if (handler == null) {
            throw new IllegalStateException("no handler for topic " + topic);
        }
        return handler;
    }

    /**
     * Whether the call may be made again: the provider still honours the key, for a whole lease from now, and there were
     * not too many tries.
     *
     * @param tried how often it was tried
     */
    boolean canAsk(StoredRow row, int tried) {
        return tried < tries.max && askLeftUs(row) > 0;
    }

    /** For how long after it was taken a call may begin that lasts no longer than a lease. */
    long askLeftUs(StoredRow row) {
        long sentAt = row.firstSentAt() == null ? row.takenAt() : row.firstSentAt();
        return sentAt
                + StoredEntry.micros(keyLifetime(row.row().topic()))
                - row.takenAt()
                - StoredEntry.micros(lease());
    }

    /** A handler that cannot tell promises nothing. */
    private Duration keyLifetime(String topic) {
        DeliveryHandler handler = handlers.get(topic);
        try {
            Duration lifetime = handler == null ? Duration.ZERO : handler.keyLifetime();
            return lifetime.compareTo(LIFETIME_MAX) < 0 ? lifetime : LIFETIME_MAX;
        } catch (Throwable e) {
            log.error("A handler failed to give its key lifetime, so no call is repeated: {}", topic, e);
            return Duration.ZERO;
        }
    }

    /** Doubles with every try; half of it is chance, so that rows that failed together do not come back together. */
    long backoffUs(int tried) {
        long first = StoredEntry.micros(tries.backoffFirst);
        long longest = StoredEntry.micros(tries.backoffLongest);
        long full = Math.min(longest, first << Math.min(Math.max(tried - 1, 0), 20));
        return full / 2 + ThreadLocalRandom.current().nextLong(full / 2 + 1);
    }
}
