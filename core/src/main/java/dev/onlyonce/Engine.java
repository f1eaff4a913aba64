package dev.onlyonce;

import dev.onlyonce.Event.Decision;
import dev.onlyonce.fingerprint.Fingerprint;
import dev.onlyonce.internal.Futures;
import dev.onlyonce.internal.GroupingStore;
import dev.onlyonce.store.ClaimRequest;
import dev.onlyonce.store.ClaimResult;
import dev.onlyonce.store.Entry;
import dev.onlyonce.store.EntryId;
import dev.onlyonce.store.Envelope;
import dev.onlyonce.store.Failure;
import dev.onlyonce.store.Resolution;
import dev.onlyonce.store.SettleResult;
import dev.onlyonce.store.Settlement;
import dev.onlyonce.store.State;
import dev.onlyonce.store.StoreBusy;
import dev.onlyonce.store.StoreException;
import dev.onlyonce.store.StoreOutcomeUnknown;
import dev.onlyonce.store.StoreUnavailable;
import dev.onlyonce.store.Time;
import dev.onlyonce.store.Transition;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The leased way to execute.
 *
 * <ol>
 *   <li>An answered entry in the cache is replayed: one that this node has just settled, or read.
 *   <li>Otherwise the key is claimed, by one atomic statement. The winner executes.
 *   <li>Everybody else is told what stands there: a mismatch before anything else, then by state.
 *   <li>A duplicate of a running claim may wait, within a bound, until that one ends: woken at once if it runs on this
 *       node, by polling with backoff otherwise.
 *   <li>The winner's settlement is durable before anybody hears of it. If the store does not take it, it is tried again in
 *       the background, see {@link LateSettlements}; the caller waits for that within a bound.
 *   <li>Whatever goes wrong on the way, a claim is in one of three hands: its holder's, the late settlements', or nobody's,
 *       and then it is not renewed and its lease lapses.
 * </ol>
 */
final class Engine implements LiveClaim.Settling {
    /** How long a caller that has made its effect waits for a store that does not take the record. */
    static final Duration SETTLE_WAIT_MAX = Duration.ofSeconds(5);
    /** A claim may find its entry released and taken again; so many rounds of bad luck mean that it is in flight. */
    static final int CLAIM_ROUNDS_MAX = 8;
    /** What a client is told to wait at least. */
    static final Duration RETRY_AFTER_MIN = Duration.ofMillis(100);
    /** What a client is told to wait for an operation that this node has never seen end: most are done by then. */
    static final Duration RETRY_AFTER_GUESS = Duration.ofSeconds(1);

    private static final String GIVEN_UP = "its caller gave up before the action ran";

    private final GroupingStore store;
    private final Claims claims;
    private final LateSettlements late;
    private final @Nullable ReplayCache cache;
    private final Waiting waiting;
    private final Time time;
    private final Events events;
    private final Tokens tokens;
    private final String node;
    private final LatencyAverage usual = new LatencyAverage();

    Engine(Parts parts, GroupingStore store, Claims claims, LateSettlements late) {
        this.store = store;
        this.claims = claims;
        this.late = late;
        this.cache = parts.cache();
        this.time = parts.time();
        this.events = parts.events();
        this.node = parts.node();
        this.tokens = new Tokens();
        this.waiting = new Waiting(parts.time(), parts.waitersMax());
    }

    /** What every part of a node shares. */
    record Parts(
            String node,
            Time time,
            Events events,
            int waitersMax,
            @Nullable ReplayCache cache) {}

    /** See {@link Onlyonce#begin}. */
    Begun begin(Key key, Fingerprint fingerprint, Policy policy) {
        Optional<Outcome<byte[]>> cached = cached(key, fingerprint);
        if (cached.isPresent()) {
            return new Begun.Answered(cached.get());
        }
        Asking first = ask(key, fingerprint, policy);
        return claim(first, () -> store.claim(request(first)));
    }

    /** The same without blocking; if it turns out that it must, the rest goes to the executor. */
    CompletableFuture<Begun> begin(Key key, Fingerprint fingerprint, Policy policy, Executor blocking) {
        CompletableFuture<Begun> begun = new CompletableFuture<>();
        Optional<Outcome<byte[]>> cached;
        try {
            cached = cached(key, fingerprint);
        } catch (StoreException e) {
            begun.completeExceptionally(e);
            return begun;
        }
        if (cached.isPresent()) {
            begun.complete(new Begun.Answered(cached.get()));
            return begun;
        }
        Asking first = ask(key, fingerprint, policy);
        var unused = store.claimAsync(request(first)).whenComplete((result, failure) -> {
            Runnable rest = () -> hand(begun, () -> claim(first, () -> Futures.get(result, failure)));
            if (!mayBlock(policy, result)) {
                rest.run();
            } else {
                go(
                        blocking,
                        // A caller that has given up meanwhile needs no claim.
                        () -> {
                            if (!begun.isDone()) {
                                rest.run();
                            }
                        },
                        e -> begun.completeExceptionally(
                                new StoreUnavailable("There is no thread to wait for the running request", e)));
            }
        });
        return begun;
    }

    /** Hands out what was begun. A claim whose caller gave up meanwhile has no holder: the action did not run. */
    private static void hand(CompletableFuture<Begun> to, Supplier<Begun> code) {
        Begun begun;
        try {
            begun = code.get();
        } catch (RuntimeException | Error e) {
            to.completeExceptionally(e);
            return;
        }
        if (!to.complete(begun) && begun instanceof Begun.Claimed mine) {
            // Nobody waits for it: what the store does not take at once is recorded in the background.
            var unused = mine.claim().settle(new Ending.Retryable(GIVEN_UP), wait -> {});
        }
    }

    /** Whether {@link #claim} may wait or ask the store again after this answer. */
    private static boolean mayBlock(Policy policy, @Nullable ClaimResult result) {
        if (!(result instanceof ClaimResult.Existing existing)) {
            return false;
        }
        State state = existing.entry().state();
        return state == State.RETRYABLE
                || (Waiting.isRunning(state) && !policy.waitMax().isZero());
    }

    private static void go(Executor executor, Runnable work, Consumer<Throwable> rejected) {
        try {
            executor.execute(work);
        } catch (RuntimeException | Error e) {
            // Rejected, or there was no thread to be had.
            rejected.accept(e);
        }
    }

    Optional<Outcome<byte[]>> cached(Key key, Fingerprint fingerprint) {
        Entry cached = cache == null ? null : cache.get(key.entryId());
        if (cached == null) {
            return Optional.empty();
        }
        Outcome<byte[]> outcome = answer(key, fingerprint, cached);
        answered(key, outcome);
        return Optional.of(outcome);
    }

    /** One try to claim a key. */
    private record Asking(Key key, Fingerprint fingerprint, Policy policy, UUID token, long sinceNanos) {}

    private Asking ask(Key key, Fingerprint fingerprint, Policy policy) {
        return new Asking(key, fingerprint, policy, tokens.next(), time.nanos());
    }

    private ClaimRequest request(Asking asking) {
        Key key = asking.key();
        return new ClaimRequest(
                key.entryId(),
                key.operation(),
                asking.fingerprint(),
                asking.token(),
                node,
                asking.policy().terms(),
                State.PROCESSING);
    }

    /** Goes on from the store's answer to the first try; blocks only if {@link #mayBlock} says so of that. */
    private Begun claim(Asking first, Supplier<ClaimResult> answerToFirst) {
        try (Waiting.Turn turn = waiting.turn(first.policy().waitMax())) {
            return claim(first, answerToFirst, turn);
        }
    }

    private Begun claim(Asking first, Supplier<ClaimResult> answerToFirst, Waiting.Turn turn) {
        Key key = first.key();
        Asking asking = first;
        Supplier<ClaimResult> answer = answerToFirst;
        for (int round = 1; ; round++) {
            ClaimResult result;
            try {
                result = answer.get();
            } catch (StoreBusy e) {
                return answered(key, new Outcome.InFlight<>(false, RETRY_AFTER_MIN));
            } catch (StoreOutcomeUnknown e) {
                // It may arrive yet: for as long as a call can be under way.
                long lostFrom = asking.sinceNanos()
                        + 2 * asking.policy().terms().lease().toNanos();
                throw abandon(asking, lostFrom, "The claim could not be confirmed, so the action did not run", e);
            }
            if (result instanceof ClaimResult.Claimed claimed) {
                return claimed(asking, claimed.attempt());
            }
            Entry entry = ((ClaimResult.Existing) result).entry();
            remember(entry, asking.sinceNanos());
            Fingerprint asked = asking.fingerprint();
            Outcome<byte[]> outcome = answer(key, asked, entry);
            if (outcome instanceof Outcome.InFlight) {
                Optional<Entry> ended = turn.await(entry, claims.get(entry.token()), this::find);
                if (ended.isPresent()) {
                    entry = ended.get();
                    outcome = answer(key, asked, entry);
                }
            }
            boolean free = entry.state() == State.RETRYABLE && !(outcome instanceof Outcome.Mismatched);
            if (!free || round == CLAIM_ROUNDS_MAX) {
                return answered(key, outcome);
            }
            Asking next = ask(key, asked.in(entry.fingerprint().version()).orElseThrow(), first.policy());
            asking = next;
            answer = () -> store.claim(request(next));
        }
    }

    private Begun claimed(Asking asking, int attempt) {
        Key key = asking.key();
        LiveClaim claim = new LiveClaim(
                this, key, asking.fingerprint(), asking.policy(), asking.token(), attempt, asking.sinceNanos());
        if (!claim.isStartable(time.nanos())) {
            String why = "The claim was confirmed only when its lease had all but lapsed, so the action did not run";
            throw abandon(asking, time.nanos(), why, null);
        }
        claims.add(claim);
        events.tell(new Event.Decided(key, attempt == 1 ? Decision.CREATED : Decision.FAILED_RETRY));
        events.tell(new Event.Took(key.operation(), Event.Took.Part.CLAIM, time.nanos() - asking.sinceNanos()));
        State from = attempt == 1 ? null : State.RETRYABLE;
        events.tell(new Event.Changed(
                new Transition(key.entryId(), key.operation(), from, State.PROCESSING, attempt, node, "claimed")));
        return new Begun.Claimed(claim);
    }

    /** The claim may stand, but the action has not run: release it as soon as the store can be reached. */
    private StoreUnavailable abandon(
            Asking asking, long lostFromNanos, String why, @Nullable StoreOutcomeUnknown cause) {
        Settlement release = new Settlement(asking.key().entryId(), asking.token(), State.RETRYABLE, null, why);
        var unused = late.add(release, lostFromNanos);
        return new StoreUnavailable(why, cause);
    }

    private Begun answered(Key key, Outcome<byte[]> outcome) {
        events.tell(new Event.Decided(key, Decision.of(outcome)));
        return new Begun.Answered(outcome);
    }

    /** What a request is told about an entry that stands there. */
    Outcome<byte[]> answer(Key key, Fingerprint fingerprint, Entry entry) {
        return Answer.of(key, fingerprint, entry, retryAfter(entry));
    }

    private Duration retryAfter(Entry entry) {
        Duration left = entry.leaseLeft();
        Duration seen = usual.of(entry.operation());
        Duration often = seen == null ? RETRY_AFTER_GUESS : seen;
        Duration shorter = often.compareTo(left) < 0 ? often : left;
        return shorter.compareTo(RETRY_AFTER_MIN) < 0 ? RETRY_AFTER_MIN : shorter;
    }

    /** What stands in the store, past what the cache says. */
    Optional<Entry> findStored(EntryId id) {
        forget(id);
        return find(id);
    }

    Optional<Entry> find(EntryId id) {
        Entry cached = cache == null ? null : cache.get(id);
        if (cached != null) {
            return Optional.of(cached);
        }
        long begun = time.nanos();
        Optional<Entry> found = store.find(id);
        found.ifPresent(entry -> remember(entry, begun));
        return found;
    }

    private void remember(Entry entry, long readNanos) {
        if (cache != null) {
            cache.put(entry, readNanos);
        }
    }

    void forget(EntryId id) {
        if (cache != null) {
            cache.drop(id);
        }
    }

    /** See {@link Operator#resolve}. */
    SettleResult resolve(Resolution resolution, String operation) {
        forget(resolution.id());
        Resolution wrapped = resolution.withResult(envelope(resolution));
        SettleResult result = store.resolve(List.of(wrapped)).get(0);
        if (result instanceof SettleResult.Settled) {
            events.tell(new Event.Changed(new Transition(
                    resolution.id(),
                    operation,
                    State.UNKNOWN,
                    resolution.to(),
                    resolution.attempt(),
                    resolution.who(),
                    resolution.reason())));
        }
        return result;
    }

    private static byte @Nullable [] envelope(Resolution resolution) {
        if (resolution.to() != State.COMPLETED) {
            return null;
        }
        byte[] result = resolution.result();
        if (result != null && result.length <= Policy.RESULT_BYTES_MAX) {
            return Envelope.value(result);
        }
        String why = result == null ? "is not known" : "was too large to be stored";
        return Envelope.failure(new Failure(Failure.RESULT_NOT_STORED, "The effect was found; its result " + why));
    }

    /** See {@link Operator#evict}. */
    boolean evict(EntryId id, String who, String reason) {
        Optional<Transition> evicted = store.evict(id, who, reason);
        forget(id);
        evicted.ifPresent(transition -> events.tell(new Event.Changed(transition)));
        return evicted.isPresent();
    }

    @Override
    public long nanos() {
        return time.nanos();
    }

    @Override
    public SettleResult settle(LiveClaim claim, Settlement settlement) {
        long deadline = time.nanos() + SETTLE_WAIT_MAX.toNanos();
        SettleResult result;
        try {
            result = store.settle(settlement);
        } catch (RuntimeException | Error e) {
            return await(recordLater(claim, settlement), deadline, claim, e);
        }
        settled(claim, settlement, result);
        return result;
    }

    @Override
    public CompletableFuture<SettleResult> settle(LiveClaim claim, Settlement settlement, Executor blocking) {
        long deadline = time.nanos() + SETTLE_WAIT_MAX.toNanos();
        CompletableFuture<SettleResult> settled = new CompletableFuture<>();
        var unused = store.settleAsync(settlement).whenComplete((result, failure) -> {
            if (failure == null) {
                Futures.complete(settled, () -> {
                    settled(claim, settlement, result);
                    return result;
                });
                return;
            }
            CompletableFuture<SettleResult> taken = recordLater(claim, settlement);
            Runnable wait = () -> Futures.complete(settled, () -> await(taken, deadline, claim, failure));
            go(blocking, wait, rejected -> settled.completeExceptionally(notRecorded(claim, failure)));
        });
        return settled;
    }

    /**
     * Goes on in the background. What the store has rejected is tried there once more: it may have been this thread's
     * connection that was wrong, and not the settlement.
     */
    private CompletableFuture<SettleResult> recordLater(LiveClaim claim, Settlement settlement) {
        CompletableFuture<SettleResult> taken = late.add(settlement);
        return taken.whenComplete((result, refused) -> {
            if (refused == null) {
                settled(claim, settlement, result);
            } else {
                // Nobody will settle it: let the lease lapse, and the entry end as its terms say.
                claims.remove(claim);
            }
        });
    }

    /** Waits for a settlement that goes on in the background. */
    private SettleResult await(
            CompletableFuture<SettleResult> taken, long deadline, LiveClaim claim, Throwable failure) {
        try {
            long left = Math.max(0, deadline - time.nanos());
            if (taken.isDone() || time.await(taken, Duration.ofNanos(left))) {
                return taken.join();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (CompletionException e) {
            // The effect has happened, whatever the store thinks of its record.
            throw notRecorded(claim, e.getCause());
        }
        throw notRecorded(claim, failure);
    }

    private static StoreOutcomeUnknown notRecorded(LiveClaim claim, @Nullable Throwable cause) {
        return new StoreOutcomeUnknown("The store did not take the record of " + claim.key() + " in time", cause);
    }

    private void settled(LiveClaim claim, Settlement settlement, SettleResult result) {
        try {
            if (result instanceof SettleResult.Settled settled) {
                if (cache != null) {
                    // Cache first, then wake the waiters. Its time counts from when it certainly was not settled yet.
                    cache.put(claim.entry(settlement, settled, node), claim.begunNanos());
                }
                usual.took(claim.key().operation(), time.nanos() - claim.begunNanos());
                tellDurations(claim);
                events.tell(new Event.Changed(new Transition(
                        settlement.id(),
                        claim.key().operation(),
                        State.PROCESSING,
                        settlement.to(),
                        claim.attempt(),
                        node,
                        settlement.reason())));
            } else {
                events.tell(new Event.ClaimLost(claim.key(), claim.attempt()));
            }
        } finally {
            claims.remove(claim);
        }
    }

    private void tellDurations(LiveClaim claim) {
        String operation = claim.key().operation();
        long ended = claim.actionEndedNanos();
        events.tell(new Event.Took(operation, Event.Took.Part.EXECUTE, ended - claim.begunNanos()));
        events.tell(new Event.Took(operation, Event.Took.Part.SETTLE, time.nanos() - ended));
    }
}
