package dev.onlyonce.redis;

import dev.onlyonce.store.CacheCounts;
import dev.onlyonce.store.ClaimRequest;
import dev.onlyonce.store.ClaimResult;
import dev.onlyonce.store.Entry;
import dev.onlyonce.store.EntryId;
import dev.onlyonce.store.State;
import dev.onlyonce.store.Store;
import dev.onlyonce.store.StoreException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/**
 * The entries in Redis: what may be put there, and for how long it counts.
 *
 * <p>An entry counts from when the store read it, by the store's clock, which is sealed with it. So it does not matter when it was put
 * into Redis, or put back there by somebody. An answer counts for {@code freshFor}, and not in the last moments of its retention; the
 * mark of a running claim for a second, and not after its lease.
 */
final class CachedEntries {
    /** Requests that wait longer than this for a claim to end are better answered by the store. */
    private static final Duration MARK_FOR = Duration.ofSeconds(1);
    /** Redis forgets entries this much earlier than readers do, so that one of them asks the store for all. */
    private static final Duration FORGET_BEFORE = Duration.ofMillis(100);
    /** How far the clocks of the store's servers may differ. */
    private static final Duration SKEW = Duration.ofSeconds(1);
    /** A larger value holds up everybody else on the connection. */
    private static final int RESULT_BYTES_MAX = 1 << 20;
    /** The note of a caller that asks the store holds for this many time-outs, in case it dies. */
    private static final int NOTE_TIMEOUTS = 4;

    private static final int NOTE = '?';

    private final CacheConnection redis;
    private final CacheSeal seal;
    private final StoreClock clock;
    private final Duration freshFor;
    private final LongAdder replayed = new LongAdder();
    private final LongAdder shed = new LongAdder();
    private final LongAdder missed = new LongAdder();
    private final LongAdder failed = new LongAdder();
    private final LongAdder refused = new LongAdder();

    CachedEntries(CacheConnection redis, CacheSeal seal, StoreClock clock, Duration freshFor) {
        this.redis = redis;
        this.seal = seal;
        this.clock = clock;
        this.freshFor = freshFor;
    }

    /**
     * What Redis has for a request.
     *
     * @param result null if the store has to be asked, sooner or later
     */
    record Found(boolean isAskedFor, @Nullable ClaimResult result) {
        /** Nothing that counts: ask the store. */
        static final Found ABSENT = new Found(false, null);
        /** Another caller asks the store. */
        static final Found ASKED_FOR = new Found(true, null);
    }

    /** Reads the store's clock, if it has one that can be read. */
    void readClock(Store store) {
        long asked = clock.nanos();
        try {
            store.now().ifPresent(now -> clock.read(now, asked));
        } catch (StoreException e) {
            // The first entry that is read from the store tells it, too.
        }
    }

    /** One answer for each request, in their order. */
    List<Found> ask(List<ClaimRequest> requests) {
        List<byte[]> keys =
                requests.stream().map(request -> seal.key(request.id())).toList();
        Optional<List<Optional<byte[]>>> values =
                redis.ask(keys, redis.timeout().multipliedBy(NOTE_TIMEOUTS));
        if (values.isEmpty()) {
            failed.add(requests.size());
            return requests.stream().map(request -> Found.ABSENT).toList();
        }
        List<Found> found = new ArrayList<>();
        for (int i = 0; i < requests.size(); i++) {
            found.add(found(requests.get(i), values.get().get(i)));
        }
        return found;
    }

    private Found found(ClaimRequest request, Optional<byte[]> value) {
        if (value.isPresent() && value.get().length == 1 && value.get()[0] == NOTE) {
            return Found.ASKED_FOR;
        }
        Instant now = clock.latestNow();
        Optional<Entry> opened = value.flatMap(bytes -> open(request.id(), bytes));
        if (now == null || opened.isEmpty() || !counts(opened.get(), request, now)) {
            missed.increment();
            return Found.ABSENT;
        }
        Entry entry = opened.get();
        (entry.state() == State.PROCESSING ? shed : replayed).increment();
        return new Found(false, new ClaimResult.Existing(CachedEntry.at(entry, now)));
    }

    private Optional<Entry> open(EntryId id, byte[] bytes) {
        Optional<Entry> entry = seal.open(id, bytes);
        if (entry.isEmpty()) {
            refused.increment();
        }
        return entry;
    }

    private boolean counts(Entry entry, ClaimRequest request, Instant now) {
        // A repeated claim of the request that runs: the store tells that it is the caller's already.
        boolean own = request.token().equals(entry.token());
        boolean fromTheFuture = entry.readAt().isAfter(now.plus(SKEW));
        return !own && !fromTheFuture && now.isBefore(countsUntil(entry));
    }

    /** Until when an entry counts, by the store's clock; not at all if it is of no use to others. */
    private Instant countsUntil(Entry entry) {
        if (entry.state().isAnswered() && entry.expiresAt() != null) {
            return earlier(entry.readAt().plus(freshFor), entry.expiresAt().minus(SKEW));
        }
        return entry.state() == State.PROCESSING
                ? earlier(entry.readAt().plus(MARK_FOR), entry.leaseUntil())
                : Instant.MIN;
    }

    private static Instant earlier(Instant a, Instant b) {
        return a.isBefore(b) ? a : b;
    }

    /** Keeps what the store has answered; takes back the notes of the other requests. */
    void keep(List<ClaimRequest> requests, List<ClaimResult> results, long askedNanos) {
        List<Request> writes = new ArrayList<>();
        for (int i = 0; i < requests.size(); i++) {
            Optional<Request> kept = results.get(i) instanceof ClaimResult.Existing existing
                    ? write(existing.entry(), askedNanos)
                    : Optional.empty();
            byte[] key = seal.key(requests.get(i).id());
            writes.add(kept.orElseGet(() -> CacheConnection.delete(key)));
        }
        redis.write(writes);
    }

    /** Keeps entries that were read. */
    void keep(List<Entry> entries, long askedNanos) {
        redis.write(entries.stream()
                .flatMap(entry -> write(entry, askedNanos).stream())
                .toList());
    }

    private Optional<Request> write(Entry entry, long askedNanos) {
        clock.read(entry, askedNanos);
        Instant until = countsUntil(entry);
        if (!until.isAfter(entry.readAt()) || (entry.result() != null && entry.result().length > RESULT_BYTES_MAX)) {
            return Optional.empty();
        }
        Duration ttl = Duration.between(entry.readAt(), until)
                .minusNanos(clock.nanos() - askedNanos)
                .minus(FORGET_BEFORE);
        return ttl.toMillis() < 1
                ? Optional.empty()
                : Optional.of(CacheConnection.set(seal.key(entry.id()), seal.seal(entry), ttl));
    }

    /** Deletes what Redis has of entries that have changed. */
    void drop(List<EntryId> ids) {
        redis.write(ids.stream().map(id -> CacheConnection.delete(seal.key(id))).toList());
    }

    CacheCounts counts() {
        return new CacheCounts(redis.isWell(), replayed.sum(), shed.sum(), missed.sum(), failed.sum(), refused.sum());
    }
}
