package dev.onlyonce;

import dev.onlyonce.Event.Decision;
import dev.onlyonce.fingerprint.Fingerprint;
import dev.onlyonce.internal.Futures;
import dev.onlyonce.internal.GroupingStore;
import dev.onlyonce.store.ClaimResult;
import dev.onlyonce.store.Entry;
import dev.onlyonce.store.EntryId;
import dev.onlyonce.store.Envelope;
import dev.onlyonce.store.Failure;
import dev.onlyonce.store.Resolution;
import dev.onlyonce.store.SettleResult;
import dev.onlyonce.store.State;
import dev.onlyonce.store.StoreBusy;
import dev.onlyonce.store.StoreException;
import dev.onlyonce.store.StoreOutcomeUnknown;
import dev.onlyonce.store.StoreUnavailable;
import dev.onlyonce.store.Tokens;
import dev.onlyonce.store.Transition;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The leased way to execute.
 *
 * <ol>
 *   <li>A request whose answer this node remembers is answered from memory. A mismatch with it is not: the store decides.
 *   <li>Otherwise the key is claimed, by one atomic statement. The winner executes.
 *   <li>Every other request is answered by the entry that exists: a mismatch before anything else, then by state.
 *   <li>A duplicate of a running claim may wait, within a bound, until that one ends: it is woken at once if the claim is
 *       this node's, and polls with backoff otherwise.
 *   <li>The winner's settlement is durable before anybody hears of it; see {@link Settlements}.
 *   <li>Whatever goes wrong, a claim is in one of three hands: its holder's, the late settlements', or nobody's. In the last
 *       case it is not renewed, and its lease lapses.
 * </ol>
 *
 * <p>Callers that block and callers that do not differ in how they get the store's first answer; {@link #goOn} is the same for
 * both. To join a future instead of calling the store costs a blocking caller about a fifth more processor time on the
 * in-memory store, so it calls.
 */
final class Engine {
    /** A claim may find its entry released and taken again; after this many rounds of bad luck it counts as in flight. */
    static final int CLAIM_ROUNDS_MAX = 8;
    /** The shortest Retry-After. */
    static final Duration RETRY_AFTER_MIN = Duration.ofMillis(100);
    /** The Retry-After of an operation that this node has never seen end: most take less. */
    static final Duration RETRY_AFTER_GUESS = Duration.ofSeconds(1);

    private static final String GIVEN_UP = "its caller gave up before the action ran";

    private final Parts parts;
    private final GroupingStore store;
    private final Claims claims;
    private final Settlements settlements;
    private final ReplayCache cache;
    private final Waiting waiting;
    private final HotKeys hot;

    Engine(
            Parts parts,
            GroupingStore store,
            Claims claims,
            Settlements settlements,
            ReplayCache cache,
            int waitersMax) {
        this.parts = parts;
        this.store = store;
        this.claims = claims;
        this.settlements = settlements;
        this.cache = cache;
        this.waiting = new Waiting(parts.time(), waitersMax);
        this.hot = claims.hot();
    }

    /** See {@link Onlyonce#execute}. */
    <T, X extends Exception> Outcome<T> execute(
            Key key, Fingerprint fingerprint, Policy policy, Codec<T> codec, Action<T, X> action) throws X {
        Begun begun = begin(key, fingerprint, policy);
        if (begun instanceof Begun.Answered answered) {
            return answered.outcome().map(codec::decode);
        }
        return Execution.run(((Begun.Claimed) begun).claim(), policy.failures(), codec, action);
    }

    /** See {@link Onlyonce#begin}. */
    Begun begin(Key key, Fingerprint fingerprint, Policy policy) {
        Optional<Outcome<byte[]>> cached = cached(key, fingerprint);
        return cached.isPresent() ? new Begun.Answered(cached.get()) : claim(key, fingerprint, policy);
    }

    /** Asks the store for the claim, past the cache; blocks. */
    Begun claim(Key key, Fingerprint fingerprint, Policy policy) {
        Asking first = asking(key, fingerprint, policy);
        return goOn(first, () -> ask(first));
    }

    /**
     * An attempt, and the question to the store that it waits for: its own, or that of a duplicate.
     *
     * @param attempt counts from that question, so that nothing is remembered for longer
     * @param running the same request, if this node is executing it
     */
    private record Asking(ClaimAttempt attempt, HotKeys.Question question, Optional<Entry> running) {
        boolean isOwn() {
            return question.isBy(attempt.token());
        }

        /** Answers those who wait for this question, if it is an own one that was not answered before. */
        void answered(Optional<Entry> entry) {
            if (isOwn()) {
                question.answered(entry);
            }
        }

        /** Hands on what the store has said. A claim that was won is handed on when it can be waited for. */
        void answered(@Nullable ClaimResult result) {
            if (!(result instanceof ClaimResult.Claimed)) {
                answered(
                        result instanceof ClaimResult.Existing existing
                                ? Optional.of(existing.entry())
                                : Optional.empty());
            }
        }
    }

    private Asking asking(Key key, Fingerprint fingerprint, Policy policy) {
        UUID token = Tokens.next();
        HotKeys.Question question = hot.ask(key.entryId(), token);
        ClaimAttempt attempt = new ClaimAttempt(key, fingerprint, policy, token, question.sinceNanos());
        Optional<Entry> running = question.running();
        if (running.isEmpty() || found(attempt, running.get()).outcome() instanceof Outcome.InFlight) {
            return new Asking(attempt, question, running);
        }
        // Only the store refuses.
        HotKeys.Question other = hot.askAsOther(key.entryId(), token);
        return new Asking(
                new ClaimAttempt(key, fingerprint, policy, token, other.sinceNanos()), other, Optional.empty());
    }

    /** Asks the store, unless this node is executing the key, or asking about it. */
    private ClaimResult ask(Asking asking) {
        Optional<Entry> known = asking.running.isPresent() || asking.isOwn() ? asking.running : asking.question.await();
        ClaimResult result = known.isPresent()
                ? new ClaimResult.Existing(known.get())
                : store.claim(asking.attempt.request(parts.name()));
        asking.answered(result);
        return result;
    }

    /** The same without blocking. */
    private CompletableFuture<ClaimResult> askAsync(Asking asking) {
        CompletableFuture<Optional<Entry>> known = asking.running.isPresent() || asking.isOwn()
                ? CompletableFuture.completedFuture(asking.running)
                : asking.question.awaitAsync();
        CompletableFuture<ClaimResult> answer = new CompletableFuture<>();
        var unused = known.thenAccept(entry -> {
            CompletableFuture<ClaimResult> result = entry.isPresent()
                    ? CompletableFuture.completedFuture(new ClaimResult.Existing(entry.get()))
                    : store.claimAsync(asking.attempt.request(parts.name()));
            var unusedResult = result.whenComplete((claimed, failure) -> {
                asking.answered(claimed);
                Futures.complete(answer, () -> Futures.get(claimed, failure));
            });
        });
        return answer;
    }

    /** See {@link Registry#cached}. */
    Optional<Outcome<byte[]>> cached(Key key, Fingerprint fingerprint) {
        Replay replay = cache.get(key.entryId());
        if (replay == null) {
            return Optional.empty();
        }
        Outcome<byte[]> outcome = Answer.of(key, fingerprint, replay);
        if (outcome instanceof Outcome.Mismatched) {
            // Another node may have evicted it: only the store refuses.
            return Optional.empty();
        }
        decided(key, outcome);
        return Optional.of(outcome);
    }

    /**
     * The same without blocking.
     *
     * @param blocking runs code that blocks
     */
    CompletableFuture<Begun> claim(Key key, Fingerprint fingerprint, Policy policy, Executor blocking) {
        CompletableFuture<Begun> begun = new CompletableFuture<>();
        Asking first = asking(key, fingerprint, policy);
        var unused = askAsync(first).whenComplete((result, failure) -> {
            Runnable rest = () -> hand(begun, () -> goOn(first, () -> Futures.get(result, failure)));
            if (!mayBlock(policy, result)) {
                rest.run();
                return;
            }
            Futures.execute(
                    blocking,
                    () -> {
                        // A caller that has given up meanwhile needs no claim.
                        if (!begun.isDone()) {
                            rest.run();
                        }
                    },
                    e -> begun.completeExceptionally(
                            new StoreUnavailable("There is no thread to wait for the running request", e)));
        });
        return begun;
    }

    /** Completes the caller's future. A claim whose caller has given up is released: the action did not run. */
    private static void hand(CompletableFuture<Begun> to, Supplier<Begun> code) {
        Begun begun;
        try {
            begun = code.get();
        } catch (RuntimeException | Error e) {
            to.completeExceptionally(e);
            return;
        }
        if (!to.complete(begun) && begun instanceof Begun.Claimed claimed) {
            // Nobody waits for the release: if the store does not take it at once, it goes on in the background.
            var unused = claimed.claim().settle(new Ending.Retryable(GIVEN_UP), wait -> {});
        }
    }

    /** Whether {@link #goOn} may wait or ask the store again after this answer. */
    private static boolean mayBlock(Policy policy, @Nullable ClaimResult result) {
        if (!(result instanceof ClaimResult.Existing existing)) {
            return false;
        }
        State state = existing.entry().state();
        return state == State.RETRYABLE
                || (isRunning(state) && !policy.waitMax().isZero());
    }

    private static boolean isRunning(State state) {
        return state == State.PENDING || state == State.PROCESSING;
    }

    /** Goes on from the store's answer to the first attempt; blocks only where {@link #mayBlock} says so. */
    private Begun goOn(Asking first, Supplier<ClaimResult> answerToFirst) {
        try (Waiting.Turn turn = waiting.turn(first.attempt.policy().waitMax())) {
            return goOn(first, answerToFirst, turn);
        } finally {
            // Where that has failed, each asks for itself.
            first.answered(Optional.empty());
        }
    }

    private Begun goOn(Asking firstAsking, Supplier<ClaimResult> answerToFirst, Waiting.Turn turn) {
        ClaimAttempt first = firstAsking.attempt;
        Asking asking = firstAsking;
        Supplier<ClaimResult> answer = answerToFirst;
        for (int round = 1; ; round++) {
            ClaimAttempt attempt = asking.attempt;
            ClaimResult result;
            try {
                result = answer.get();
            } catch (StoreBusy e) {
                return answered(first.key(), new Outcome.InFlight<>(false, RETRY_AFTER_MIN));
            } catch (StoreOutcomeUnknown e) {
                // It may still arrive, for as long as a call can be under way.
                long lostFrom = attempt.sinceNanos()
                        + 2 * attempt.policy().terms().lease().toNanos();
                throw abandon(attempt, lostFrom, "The claim could not be confirmed, so the action did not run", e);
            }
            if (result instanceof ClaimResult.Claimed claimed) {
                return claimed(asking, claimed.attempt());
            }
            Entry entry = ((ClaimResult.Existing) result).entry();
            remember(entry, attempt.sinceNanos());
            Found found = awaitEnd(attempt, entry, turn);
            if (!found.isFree() || round == CLAIM_ROUNDS_MAX) {
                return answered(first.key(), found.outcome());
            }
            Fingerprint same =
                    attempt.fingerprint().in(found.fingerprintVersion()).orElseThrow();
            Asking next = asking(first.key(), same, first.policy());
            asking = next;
            answer = () -> {
                try {
                    return ask(next);
                } catch (RuntimeException | Error e) {
                    next.answered(Optional.empty());
                    throw e;
                }
            };
        }
    }

    /** What a request finds at its key. */
    private record Found(Outcome<byte[]> outcome, State state, int fingerprintVersion) {
        /** Whether the request may claim it. */
        boolean isFree() {
            return state == State.RETRYABLE && !(outcome instanceof Outcome.Mismatched);
        }
    }

    /** Waits until the entry is no longer running, if the policy says so and it is the same request. */
    private Found awaitEnd(ClaimAttempt attempt, Entry entry, Waiting.Turn turn) {
        Found found = found(attempt, entry);
        if (!(found.outcome() instanceof Outcome.InFlight)) {
            return found;
        }
        return turn.await(claims.get(entry.token()), () -> look(attempt), now -> isRunning(now.state()))
                .orElse(found);
    }

    /** Looks into memory, then into the store. */
    private Optional<Found> look(ClaimAttempt attempt) {
        Replay replay = cache.get(attempt.key().entryId());
        if (replay != null) {
            Outcome<byte[]> outcome = Answer.of(attempt.key(), attempt.fingerprint(), replay);
            if (!(outcome instanceof Outcome.Mismatched)) {
                return Optional.of(
                        new Found(outcome, State.COMPLETED, replay.fingerprint().version()));
            }
        }
        return read(attempt.key().entryId()).map(entry -> found(attempt, entry));
    }

    private Found found(ClaimAttempt attempt, Entry entry) {
        Outcome<byte[]> outcome = Answer.of(attempt.key(), attempt.fingerprint(), entry, retryAfter(entry));
        return new Found(outcome, entry.state(), entry.fingerprint().version());
    }

    private Begun claimed(Asking asking, int attempt) {
        ClaimAttempt origin = asking.attempt;
        Key key = origin.key();
        LiveClaim claim = new LiveClaim(settlements, origin, attempt);
        if (!claim.isStartable(parts.nanos())) {
            asking.answered(Optional.empty());
            String why = "The claim was confirmed only when its lease had all but lapsed, so the action did not run";
            throw abandon(origin, parts.nanos(), why, null);
        }
        claims.add(claim);
        hot.won(asking.question, claim);
        if (cache.get(key.entryId()) != null) {
            // Its entry was evicted elsewhere.
            cache.drop(key.entryId());
        }
        if (parts.isHeard()) {
            tellClaimed(origin, attempt);
        }
        return new Begun.Claimed(claim);
    }

    private void tellClaimed(ClaimAttempt origin, int attempt) {
        Key key = origin.key();
        parts.tell(new Event.Decided(key, attempt == 1 ? Decision.CREATED : Decision.FAILED_RETRY));
        parts.tell(new Event.Took(key.operation(), Event.Took.Part.CLAIM, parts.nanos() - origin.sinceNanos()));
        State from = attempt == 1 ? null : State.RETRYABLE;
        parts.tell(new Event.Changed(new Transition(
                key.entryId(), key.operation(), from, State.PROCESSING, attempt, parts.name(), "claimed")));
    }

    /** The claim may be in the store, but the action has not run: release it as soon as the store can be reached. */
    private StoreUnavailable abandon(
            ClaimAttempt attempt, long lostFromNanos, String why, @Nullable StoreException cause) {
        settlements.release(attempt, lostFromNanos, why);
        return new StoreUnavailable(why, cause);
    }

    private Begun answered(Key key, Outcome<byte[]> outcome) {
        decided(key, outcome);
        return new Begun.Answered(outcome);
    }

    private void decided(Key key, Outcome<byte[]> outcome) {
        parts.tell(new Event.Decided(key, Decision.of(outcome)));
    }

    private Duration retryAfter(Entry entry) {
        Duration left = entry.leaseLeft();
        Duration average = settlements.latency().of(entry.operation());
        Duration expected = average == null ? RETRY_AFTER_GUESS : average;
        Duration shorter = expected.compareTo(left) < 0 ? expected : left;
        return shorter.compareTo(RETRY_AFTER_MIN) < 0 ? RETRY_AFTER_MIN : shorter;
    }

    /** Reads an entry from the store, past the cache. */
    Optional<Entry> find(EntryId id) {
        cache.drop(id);
        return read(id);
    }

    private Optional<Entry> read(EntryId id) {
        long begun = parts.nanos();
        Optional<Entry> found = store.find(id);
        found.ifPresent(entry -> remember(entry, begun));
        return found;
    }

    /** Keeps the answer of an entry, if it has one. */
    void remember(Entry entry, long readNanos) {
        if (entry.state().isAnswered()) {
            cache.put(entry.id(), Replay.of(entry), readNanos);
        }
    }

    /** See {@link Operator#resolve}. */
    SettleResult resolve(Resolution resolution, String operation) {
        cache.drop(resolution.id());
        Resolution wrapped = resolution.withResult(envelope(resolution));
        SettleResult result = parts.store().resolve(List.of(wrapped)).get(0);
        if (result instanceof SettleResult.Settled) {
            parts.tell(new Event.Changed(new Transition(
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
        Optional<Transition> evicted;
        try {
            evicted = parts.store().evict(id, who, reason);
        } finally {
            // After a lost answer, too.
            cache.drop(id);
        }
        evicted.ifPresent(transition -> parts.tell(new Event.Changed(transition)));
        return evicted.isPresent();
    }
}
