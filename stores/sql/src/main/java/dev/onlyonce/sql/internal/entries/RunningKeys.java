package dev.onlyonce.sql.internal.entries;

import dev.onlyonce.Key;
import dev.onlyonce.Outcome;
import dev.onlyonce.Registry;
import dev.onlyonce.fingerprint.Fingerprint;
import dev.onlyonce.store.Entry;
import dev.onlyonce.store.EntryId;
import dev.onlyonce.store.OnLeaseLost;
import dev.onlyonce.store.SettleResult;
import dev.onlyonce.store.State;
import dev.onlyonce.store.Terms;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * The keys that this node is executing in transactions: a duplicate of one of them needs no connection to be told so.
 *
 * <ol>
 *   <li>Whoever is about to begin a transaction for a key enters it here. The first one runs; the others wait, no longer than they may.
 *   <li>A run that has committed answers those that wait with its result. After any other end, one of them is the next to run.
 *   <li>If the database answers twice that a key is in flight elsewhere, that is remembered, for 5 ms at first and for 100 in the end. It
 *       is asked again when that is over, by one of those that wait.
 * </ol>
 *
 * <p>Nobody executes because of what stands here: the database decides. Fingerprints are compared as they are with entries. Bounded by the
 * callers that run, and by constants. Safe for any number of threads.
 */
public final class RunningKeys {
    private static final long ELSEWHERE_FIRST_NANOS = TimeUnit.MILLISECONDS.toNanos(5);
    private static final long ELSEWHERE_LONGEST_NANOS = TimeUnit.MILLISECONDS.toNanos(100);
    /** After this, a key that is in flight elsewhere is another story. */
    private static final long ELSEWHERE_FORGOTTEN_NANOS = TimeUnit.SECONDS.toNanos(1);

    /** Some hundred bytes each. */
    private static final int ELSEWHERE_MAX = 10_000;

    /** Each of them is a caller's thread; as in the leased way. */
    private static final int WAITERS_MAX = 1_000;

    /** The shortest wait that a client is asked for. */
    private static final Duration RETRY_AFTER = Duration.ofMillis(100);

    /** Of no importance to an answer. */
    private static final Terms TERMS =
            new Terms(Terms.LEASE_MIN, OnLeaseLost.UNKNOWN, Duration.ofHours(1), Duration.ZERO);

    private final AtomicInteger waiters = new AtomicInteger();
    private final Map<EntryId, Run> runs = new HashMap<>();
    private final Map<EntryId, Elsewhere> elsewhere = new LinkedHashMap<>() {
        @Override
        protected boolean removeEldestEntry(Map.Entry<EntryId, Elsewhere> eldest) {
            return size() > ELSEWHERE_MAX;
        }
    };

    /** In flight elsewhere, until then; for how long that was remembered. */
    private record Elsewhere(long untilNanos, long spanNanos) {}

    /** A transaction of this node that executes a key. */
    public static final class Run {
        private final Key key;
        private final Fingerprint fingerprint;
        private final Thread thread = Thread.currentThread();
        private final CompletableFuture<Optional<Entry>> end = new CompletableFuture<>();
        private @Nullable Entry recorded;

        private Run(Key key, Fingerprint fingerprint) {
            this.key = key;
            this.fingerprint = fingerprint;
        }

        /** What this run has recorded; to be believed when it is committed. */
        public Optional<Entry> recorded() {
            return Optional.ofNullable(recorded);
        }

        private Entry entry(
                State state, @Nullable Instant settledAt, @Nullable Instant expiresAt, byte @Nullable [] result) {
            Instant at = settledAt == null ? Instant.EPOCH : settledAt;
            return new Entry(
                    key.entryId(),
                    key.operation(),
                    fingerprint,
                    state,
                    null,
                    "",
                    1,
                    TERMS,
                    at,
                    at,
                    settledAt,
                    expiresAt,
                    result,
                    at);
        }
    }

    /**
     * The caller's run, or the answer to it.
     *
     * @param run to be {@linkplain #end ended}
     */
    public record Entered(@Nullable Run run, @Nullable Outcome<byte[]> answer) {}

    /** Begins a run, or waits for the one that is under way until {@code untilNanos} and answers. An interrupt ends the wait. */
    public Entered enter(Key key, Fingerprint fingerprint, long untilNanos) {
        while (true) {
            Run other;
            long elsewhereNanos;
            synchronized (this) {
                other = runs.get(key.entryId());
                elsewhereNanos = other == null ? elsewhereNanos(key.entryId()) : 0;
                if (other == null && elsewhereNanos <= 0) {
                    Run mine = new Run(key, fingerprint);
                    runs.put(key.entryId(), mine);
                    return new Entered(mine, null);
                }
            }
            Outcome<byte[]> answer =
                    other == null ? elsewhere(elsewhereNanos, untilNanos) : answer(other, key, fingerprint, untilNanos);
            if (answer != null) {
                return new Entered(null, answer);
            }
        }
    }

    /**
     * For a caller whose transaction has begun already: waits for another thread's run of this key until {@code untilNanos}. Empty if there
     * is none, or it has ended: the database has the answer. The action of this thread's own run would wait for itself: its key is in flight.
     */
    public Optional<Outcome<byte[]>> await(Key key, Fingerprint fingerprint, long untilNanos) {
        Run other;
        synchronized (this) {
            other = runs.get(key.entryId());
        }
        if (other == null || (other.thread == Thread.currentThread() && other.recorded != null)) {
            return Optional.empty();
        }
        Outcome<byte[]> answer = answer(other, key, fingerprint, untilNanos);
        return answer instanceof Outcome.InFlight || answer instanceof Outcome.Mismatched
                ? Optional.of(answer)
                : Optional.empty();
    }

    /** Null if the run has ended without an answer. */
    private @Nullable Outcome<byte[]> answer(Run run, Key key, Fingerprint fingerprint, long untilNanos) {
        Outcome<byte[]> now =
                Registry.answer(key, fingerprint, run.entry(State.PROCESSING, null, null, null), RETRY_AFTER);
        if (now instanceof Outcome.Mismatched || run.thread == Thread.currentThread()) {
            return now;
        }
        boolean mayWait = waiters.incrementAndGet() <= WAITERS_MAX;
        try {
            long nanos = mayWait ? Math.max(0, untilNanos - System.nanoTime()) : 0;
            return run.end
                    .get(nanos, TimeUnit.NANOSECONDS)
                    .map(entry -> Registry.answer(key, fingerprint, entry, RETRY_AFTER))
                    .orElse(null);
        } catch (TimeoutException e) {
            return now;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return now;
        } catch (ExecutionException e) {
            throw new IllegalStateException(e);
        } finally {
            waiters.decrementAndGet();
        }
    }

    private long elsewhereNanos(EntryId id) {
        Elsewhere known = elsewhere.get(id);
        return known == null ? 0 : known.untilNanos - System.nanoTime();
    }

    /** Null if it is time to ask the database. */
    private static @Nullable Outcome<byte[]> elsewhere(long nanos, long untilNanos) {
        long left = untilNanos - System.nanoTime();
        if (left > 0 && !Thread.currentThread().isInterrupted()) {
            LockSupport.parkNanos(Math.min(nanos, left));
            return null;
        }
        return new Outcome.InFlight<>(false, RETRY_AFTER);
    }

    /** The transaction of this thread's run has recorded this, and is about to commit. */
    public void recorded(EntryId id, byte[] envelope, SettleResult.Settled settled) {
        Run run;
        synchronized (this) {
            run = runs.get(id);
        }
        if (run != null && run.thread == Thread.currentThread()) {
            run.recorded = run.entry(State.COMPLETED, settled.settledAt(), settled.expiresAt(), envelope);
        }
    }

    /**
     * Ends a run.
     *
     * @param outcome executed: it is committed. Null: it failed, or nobody knows
     */
    public void end(Run run, @Nullable Outcome<?> outcome) {
        EntryId id = run.key.entryId();
        synchronized (this) {
            runs.remove(id, run);
            if (outcome instanceof Outcome.InFlight) {
                remember(id);
            } else {
                elsewhere.remove(id);
            }
        }
        run.end.complete(outcome instanceof Outcome.Executed ? Optional.ofNullable(run.recorded) : Optional.empty());
    }

    private void remember(EntryId id) {
        long now = System.nanoTime();
        Elsewhere before = elsewhere.get(id);
        long span = before == null || now - before.untilNanos >= ELSEWHERE_FORGOTTEN_NANOS
                ? 0
                : Math.min(Math.max(2 * before.spanNanos, ELSEWHERE_FIRST_NANOS), ELSEWHERE_LONGEST_NANOS);
        elsewhere.put(id, new Elsewhere(now + span, span));
    }
}
