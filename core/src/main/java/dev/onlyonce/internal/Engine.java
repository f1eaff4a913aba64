package dev.onlyonce.internal;

import dev.onlyonce.Begun;
import dev.onlyonce.Event;
import dev.onlyonce.Event.Decision;
import dev.onlyonce.Fingerprint;
import dev.onlyonce.Key;
import dev.onlyonce.Outcome;
import dev.onlyonce.Policy;
import dev.onlyonce.State;
import dev.onlyonce.store.ClaimRequest;
import dev.onlyonce.store.ClaimResult;
import dev.onlyonce.store.Entry;
import dev.onlyonce.store.EntryId;
import dev.onlyonce.store.SettleResult;
import dev.onlyonce.store.Settlement;
import dev.onlyonce.store.StoreBusy;
import dev.onlyonce.store.StoreException;
import dev.onlyonce.store.StoreOutcomeUnknown;
import dev.onlyonce.store.StoreRejected;
import dev.onlyonce.store.StoreUnavailable;
import dev.onlyonce.store.Time;
import dev.onlyonce.store.Transition;
import java.time.Duration;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * The leased way to execute.
 *
 * <ol>
 *   <li>An answered entry in the cache is replayed.
 *   <li>Otherwise the key is claimed, by one atomic statement. The winner executes.
 *   <li>Everybody else is told what stands there: a mismatch before anything else, then by state.
 *   <li>A duplicate of a running claim may wait, within a bound, until that one ends: woken at once if it runs on this
 *       node, by polling with backoff otherwise.
 *   <li>The winner's settlement is durable before anybody hears of it. If the store does not take it, it is tried again,
 *       first for a while by the caller and then in the background, for as long as the lease holds.
 * </ol>
 */
final class Engine implements LiveClaim.Settling {
    /** How long a caller that has made its effect waits for a store that does not take the record. */
    static final Duration SETTLE_WAIT_MAX = Duration.ofSeconds(5);
    /** A claim may find its entry released and taken again; so many rounds of bad luck mean that it is in flight. */
    static final int CLAIM_ROUNDS_MAX = 8;
    /** What a client is told to wait at least. */
    static final Duration RETRY_AFTER_MIN = Duration.ofMillis(100);

    private final GroupCommit store;
    private final Claims claims;
    private final @Nullable ReplayCache cache;
    private final Waiting waiting;
    private final Time time;
    private final Events events;
    private final Tokens tokens;
    private final String node;
    private final Usual usual = new Usual();

    Engine(Parts parts, GroupCommit store, Claims claims, @Nullable ReplayCache cache) {
        this.store = store;
        this.claims = claims;
        this.cache = cache;
        this.time = parts.time();
        this.events = parts.events();
        this.node = parts.node();
        this.tokens = new Tokens();
        this.waiting = new Waiting(parts.time(), parts.waitersMax());
    }

    /** What every part of a node shares. */
    record Parts(String node, Time time, Events events, int waitersMax) {}

    Begun begin(Key key, Fingerprint fingerprint, Policy policy) {
        Optional<Outcome<byte[]>> cached = cached(key, fingerprint);
        if (cached.isPresent()) {
            return new Begun.Answered(cached.get());
        }
        try (Waiting.Turn turn = waiting.turn(policy.waitMax())) {
            return claim(key, fingerprint, policy, turn);
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

    private Begun claim(Key key, Fingerprint fingerprint, Policy policy, Waiting.Turn turn) {
        Fingerprint asked = fingerprint;
        for (int round = 1; ; round++) {
            UUID token = tokens.next();
            long begun = time.nanos();
            ClaimResult result;
            try {
                result = store.claim(new ClaimRequest(
                        key.entryId(), key.operation(), asked, token, node, policy.terms(), State.PROCESSING));
            } catch (StoreBusy e) {
                return answered(key, new Outcome.InFlight<>(false, RETRY_AFTER_MIN));
            } catch (StoreOutcomeUnknown e) {
                throw abandon(key, policy, token, begun, e);
            }
            if (result instanceof ClaimResult.Claimed claimed) {
                return claimed(key, policy, token, claimed.attempt(), begun);
            }
            Entry entry = ((ClaimResult.Existing) result).entry();
            remember(entry, begun);
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
            asked = asked.in(entry.fingerprint().version()).orElseThrow();
        }
    }

    private Begun claimed(Key key, Policy policy, UUID token, int attempt, long begun) {
        LiveClaim claim = new LiveClaim(this, key, policy, token, attempt, begun);
        claims.add(claim);
        events.tell(new Event.Decided(key, attempt == 1 ? Decision.CREATED : Decision.FAILED_RETRY));
        State from = attempt == 1 ? null : State.RETRYABLE;
        events.tell(new Event.Changed(
                new Transition(key.entryId(), key.operation(), from, State.PROCESSING, attempt, node, "claimed")));
        return new Begun.Mine(claim);
    }

    /** The claim may stand, but the action has not run: release it as soon as the store can be reached. */
    private StoreUnavailable abandon(Key key, Policy policy, UUID token, long begun, StoreOutcomeUnknown cause) {
        Settlement release = new Settlement(
                key.entryId(), token, State.RETRYABLE, null, "the claim was not confirmed; the action did not run");
        long until = begun + 2 * policy.terms().lease().toNanos();
        claims.settleLater(new Claims.Unsettled(release, null, until, result -> {}));
        return new StoreUnavailable("The claim could not be confirmed, so the action did not run", cause);
    }

    private Begun answered(Key key, Outcome<byte[]> outcome) {
        Decision decision = outcome.fold(
                executed -> Decision.CREATED,
                replayed -> Decision.REPLAY,
                failed -> Decision.REPLAY,
                inFlight -> Decision.IN_PROGRESS,
                mismatched -> Decision.KEY_MISUSE,
                unknown -> Decision.UNKNOWN,
                expired -> Decision.EXPIRED);
        events.tell(new Event.Decided(key, decision));
        return new Begun.Answered(outcome);
    }

    /** What a request is told about an entry that stands there. */
    Outcome<byte[]> answer(Key key, Fingerprint fingerprint, Entry entry) {
        return Answer.of(key, fingerprint, entry, retryAfter(entry));
    }

    private Duration retryAfter(Entry entry) {
        Duration left = entry.leaseLeft();
        Duration often = usual.of(entry.operation());
        Duration shorter = often != null && often.compareTo(left) < 0 ? often : left;
        return shorter.compareTo(RETRY_AFTER_MIN) < 0 ? RETRY_AFTER_MIN : shorter;
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

    @Override
    public long nanos() {
        return time.nanos();
    }

    @Override
    public SettleResult settle(LiveClaim claim, Settlement settlement) {
        long deadline = time.nanos() + SETTLE_WAIT_MAX.toNanos();
        Backoff backoff = new Backoff();
        while (true) {
            long begun = time.nanos();
            try {
                SettleResult result = store.settle(settlement);
                settled(claim, settlement, result);
                return result;
            } catch (StoreRejected e) {
                claims.remove(claim);
                throw e;
            } catch (StoreException e) {
                if (begun - deadline >= 0 || !pause(backoff.next())) {
                    claims.settleLater(
                            new Claims.Unsettled(settlement, claim, 0, result -> settled(claim, settlement, result)));
                    throw new StoreOutcomeUnknown(
                            "The store did not take the record of " + claim.key() + " in time", e);
                }
            }
        }
    }

    private boolean pause(Duration duration) {
        try {
            time.await(new CompletableFuture<Void>(), duration);
            return true;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    private void settled(LiveClaim claim, Settlement settlement, SettleResult result) {
        if (result instanceof SettleResult.Settled) {
            usual.took(claim.key().operation(), time.nanos() - claim.begunNanos());
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
        claims.remove(claim);
    }
}
