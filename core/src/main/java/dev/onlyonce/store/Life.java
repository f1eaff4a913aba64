package dev.onlyonce.store;

import dev.onlyonce.fingerprint.Fingerprint;
import dev.onlyonce.store.Decision.Change;
import dev.onlyonce.store.Decision.Unchanged;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * The life of an entry: every rule about what may become of it, and nothing else. Pure functions from the entry as it is stored (null if
 * the key has none), a request and the store's time to a {@link Decision}. No clock, no I/O.
 *
 * <p>Only {@link #sweep} and {@link #purge} are asked about entries that there are.
 *
 * <p>A store reads an entry as it was written, asks, and writes what the decision says on condition that nobody has changed the entry
 * since: under a row's lock, by compare-and-set, or with a conditional write. A statement or script that decides by itself is a short
 * cut, and must do what is written here.
 */
public final class Life {
    /** Who ends abandoned claims, in the audit. */
    public static final String SWEEPER = "sweeper";

    /** How long an entry is kept of which a part is done, until somebody does the rest. */
    static final Duration HALF_DONE = Duration.ofDays(3650);

    private static final String CLAIMED = "claimed";
    private static final String ACCEPTED = "accepted";
    private static final String OVER = "its retention is over";
    private static final String LAPSED = "the lease ran out";
    private static final String NOT_TAKEN = "nobody took it in time";

    /** Before the reason of an owner that came back to an unknown entry, in the audit. */
    private static final String TESTIMONY = "its owner came back: ";

    private Life() {}

    /**
     * Claims, or accepts for a worker. A key without an entry, or with one that is past everything, gets a new entry. One that is this
     * token's already is kept, with a lease from now. A free one is taken by the same request. Everything else is somebody else's.
     */
    public static Decision<ClaimResult> claim(@Nullable Entry stored, ClaimRequest request, StoreTime now) {
        if (stored == null) {
            return created(request, List.of(), now);
        }
        if (isGone(stored, now)) {
            Transition end = transition(stored, stored.state(), null, request.owner(), OVER);
            return created(request, List.of(end), now);
        }
        if (stored.state() == request.start() && isHeld(stored, request.token())) {
            Entry kept = leased(stored, now.latest().plus(stored.terms().lease()), now);
            return claimed(kept, List.of());
        }
        if (isFree(stored, request) && isSame(stored, request)) {
            Entry taken = begun(request, stored.fingerprint(), stored.attempt(), stored.createdAt(), now);
            return claimed(taken, List.of(transition(taken, stored.state(), taken.state(), request.owner(), CLAIMED)));
        }
        return new Unchanged<>(new ClaimResult.Existing(shown(stored, now)));
    }

    private static Decision<ClaimResult> created(ClaimRequest request, List<Transition> before, StoreTime now) {
        Entry entry = begun(request, request.fingerprint(), 0, now.latest(), now);
        String why = entry.state() == State.PENDING ? ACCEPTED : CLAIMED;
        Transition made = transition(entry, null, entry.state(), entry.owner(), why);
        return claimed(entry, before.isEmpty() ? List.of(made) : List.of(before.get(0), made));
    }

    private static Decision<ClaimResult> claimed(Entry next, List<Transition> audit) {
        return new Change<>(new ClaimResult.Claimed(next.attempt()), next, audit, next.readAt());
    }

    private static boolean isFree(Entry stored, ClaimRequest request) {
        return request.start() == State.PROCESSING && stored.state().canBecome(State.PROCESSING);
    }

    private static boolean isSame(Entry stored, ClaimRequest request) {
        return stored.operation().equals(request.operation())
                && stored.fingerprint().matches(request.fingerprint());
    }

    private static boolean isHeld(Entry stored, UUID token) {
        return token.equals(stored.token());
    }

    /** As {@link #settle(Entry, Settlement, boolean, StoreTime)}, in a store that keeps nothing half done. */
    public static Decision<SettleResult> settle(@Nullable Entry stored, Settlement settlement, StoreTime now) {
        return settle(stored, settlement, false, now);
    }

    /**
     * Settles. A processing entry with this token changes, lapsed or not; a repeated settlement is answered as it was recorded.
     *
     * <p>And testimony: an owner that comes back after its claim became unknown, and knows the result, settles it. Its token in the entry
     * says that nobody has resolved, claimed or evicted it meanwhile.
     *
     * @param halfDone as in {@link #resolve}; a short cut for what is processing need not look, because whoever leaves something half done
     *     keeps it
     */
    public static Decision<SettleResult> settle(
            @Nullable Entry stored, Settlement settlement, boolean halfDone, StoreTime now) {
        if (stored == null || isGone(stored, now) || !isHeld(stored, settlement.token())) {
            return lost(stored, now);
        }
        boolean testimony = stored.state() == State.UNKNOWN && stored.state().canBecome(settlement.to());
        if (testimony || stored.state() == State.PROCESSING) {
            Entry next = ended(stored, settlement.to(), settlement.token(), settlement.result(), halfDone, now);
            String why = testimony ? AuditText.why(TESTIMONY + settlement.reason()) : settlement.reason();
            return settled(stored, next, stored.owner(), why);
        }
        return stored.state() == settlement.to() ? new Unchanged<>(recorded(stored)) : lost(stored, now);
    }

    /**
     * Resolves. Only an unknown entry at the finding's attempt changes, if the finding is about this entry; its owner is fenced out.
     *
     * @param halfDone whether finished steps, or a call that lasts, wait for the rest: proven absent, it is kept for as long as that takes
     */
    public static Decision<SettleResult> resolve(
            @Nullable Entry stored, Resolution resolution, boolean halfDone, StoreTime now) {
        if (stored == null
                || stored.state() != State.UNKNOWN
                || stored.attempt() != resolution.attempt()
                || !resolution.isAbout(stored.createdAt())) {
            return lost(stored, now);
        }
        // A note changes nothing but the audit.
        Entry next = resolution.to() == State.UNKNOWN
                ? stored
                : ended(stored, resolution.to(), null, resolution.result(), halfDone, now);
        Transition end = transition(next, stored.state(), next.state(), resolution.who(), resolution.reason());
        return new Change<>(recorded(next), next, List.of(end), now.latest());
    }

    private static Decision<SettleResult> settled(Entry stored, Entry next, String who, String why) {
        Transition end = transition(next, stored.state(), next.state(), who, why);
        return new Change<>(recorded(next), next, List.of(end), next.readAt());
    }

    private static SettleResult recorded(Entry entry) {
        return new SettleResult.Settled(Objects.requireNonNull(entry.settledAt()), entry.expiresAt());
    }

    private static Decision<SettleResult> lost(@Nullable Entry stored, StoreTime now) {
        return new Unchanged<>(
                new SettleResult.Lost(visible(stored, now).map(Entry::state).orElse(null)));
    }

    /** Renews. Only a processing entry with this token changes, lapsed or not, and only to a later end. */
    public static Decision<RenewResult> renew(@Nullable Entry stored, Renewal renewal, StoreTime now) {
        if (stored == null || stored.state() != State.PROCESSING || !isHeld(stored, renewal.token())) {
            return new Unchanged<>(RenewResult.LOST);
        }
        Instant until = now.latest().plus(renewal.lease());
        return until.isAfter(stored.leaseUntil())
                ? new Change<>(RenewResult.RENEWED, leased(stored, until, now), List.of(), now.latest())
                : new Unchanged<>(RenewResult.RENEWED);
    }

    /**
     * Sweeps. A claim whose lease has ended becomes what its terms say, an acceptance that nobody took fails; the owner is fenced out, but an
     * unknown entry keeps its token, for {@linkplain #settle testimony}. A lease that ends later than one from now was given when the clock was ahead: it is shortened.
     *
     * @param halfDone whether finished steps wait for the rest: as a retryable entry, it is kept for as long as that takes
     * @return the transition, if a claim or an acceptance has ended
     */
    public static Decision<Optional<Transition>> sweep(Entry stored, boolean halfDone, StoreTime now) {
        if (!isOpen(stored)) {
            return new Unchanged<>(Optional.empty());
        }
        Instant longest = now.latest().plus(stored.terms().lease());
        if (stored.leaseUntil().isAfter(longest)) {
            return new Change<>(Optional.empty(), leased(stored, longest, now), List.of(), now.latest());
        }
        if (!now.isAt(stored.leaseUntil())) {
            return new Unchanged<>(Optional.empty());
        }
        boolean pending = stored.state() == State.PENDING;
        State to = pending ? State.FAILED : stored.terms().onLeaseLost().next();
        Entry next = ended(stored, to, to == State.UNKNOWN ? stored.token() : null, null, halfDone, now);
        Transition end = transition(next, stored.state(), to, SWEEPER, pending ? NOT_TAKEN : LAPSED);
        return new Change<>(Optional.of(end), next, List.of(end), now.latest());
    }

    private static boolean isOpen(Entry stored) {
        return stored.state() == State.PENDING || stored.state() == State.PROCESSING;
    }

    /**
     * Purges. An entry past everything is deleted, an answer past its retention becomes a tombstone. Neither is audited.
     *
     * @return whether it changes
     */
    public static Decision<Boolean> purge(Entry stored, StoreTime now) {
        if (isGone(stored, now)) {
            return new Change<>(true, null, List.of(), now.latest());
        }
        Entry shown = shown(stored, now);
        return shown.state() == stored.state()
                ? new Unchanged<>(false)
                : new Change<>(true, shown, List.of(), now.latest());
    }

    /** Evicts. An operator deletes an entry whose retention runs; nobody deletes one that waits for its end. */
    public static Decision<Optional<Transition>> evict(
            @Nullable Entry stored, String who, String reason, StoreTime now) {
        if (stored == null || isGone(stored, now) || !stored.state().isPurgeable()) {
            return new Unchanged<>(Optional.empty());
        }
        Transition told = transition(shown(stored, now), shown(stored, now).state(), null, who, reason);
        Transition end = transition(stored, stored.state(), null, AuditText.who(who), AuditText.why(reason));
        return new Change<>(Optional.of(told), null, List.of(end), now.latest());
    }

    /** The entry as readers see it; empty if there is none, or it is past its retention and tombstone. */
    public static Optional<Entry> visible(@Nullable Entry stored, StoreTime now) {
        return stored == null || isGone(stored, now) ? Optional.empty() : Optional.of(shown(stored, now));
    }

    /** For an entry that is not gone: one whose retention is over is a tombstone, with or without a purge. */
    private static Entry shown(Entry stored, StoreTime now) {
        boolean over = stored.expiresAt() != null && now.isAt(stored.expiresAt());
        return new Entry(
                stored.id(),
                stored.operation(),
                stored.fingerprint(),
                over ? State.EXPIRED : stored.state(),
                stored.token(),
                stored.owner(),
                stored.attempt(),
                stored.terms(),
                stored.createdAt(),
                stored.leaseUntil(),
                stored.settledAt(),
                stored.expiresAt(),
                over ? null : stored.result(),
                now.earliest());
    }

    /** When nothing is left of it; empty if no retention runs. Only what happened is remembered by a tombstone. */
    public static Optional<Instant> goneAt(Entry stored) {
        Duration tombstone = stored.state() == State.RETRYABLE
                ? Duration.ZERO
                : stored.terms().tombstone();
        return Optional.ofNullable(stored.expiresAt()).map(end -> end.plus(tombstone));
    }

    private static boolean isGone(Entry stored, StoreTime now) {
        return goneAt(stored).filter(now::isAt).isPresent();
    }

    /** A claim or an acceptance of an entry that had {@code attempts} before. */
    private static Entry begun(
            ClaimRequest request, Fingerprint fingerprint, int attempts, Instant createdAt, StoreTime now) {
        return new Entry(
                request.id(),
                request.operation(),
                fingerprint,
                request.start(),
                request.token(),
                request.owner(),
                request.start() == State.PROCESSING ? attempts + 1 : attempts,
                request.terms(),
                createdAt,
                now.latest().plus(request.terms().lease()),
                null,
                null,
                null,
                now.latest());
    }

    private static Entry leased(Entry stored, Instant until, StoreTime now) {
        return new Entry(
                stored.id(),
                stored.operation(),
                stored.fingerprint(),
                stored.state(),
                stored.token(),
                stored.owner(),
                stored.attempt(),
                stored.terms(),
                stored.createdAt(),
                until,
                stored.settledAt(),
                stored.expiresAt(),
                stored.result(),
                now.latest());
    }

    private static Entry ended(
            Entry stored, State to, @Nullable UUID token, byte @Nullable [] result, boolean halfDone, StoreTime now) {
        boolean kept = halfDone && to == State.RETRYABLE;
        Duration retention = kept ? HALF_DONE : stored.terms().retention();
        return new Entry(
                stored.id(),
                stored.operation(),
                stored.fingerprint(),
                to,
                token,
                stored.owner(),
                stored.attempt(),
                stored.terms(),
                stored.createdAt(),
                stored.leaseUntil(),
                now.latest(),
                to.isPurgeable() ? now.latest().plus(retention) : null,
                result,
                now.latest());
    }

    private static Transition transition(Entry of, @Nullable State from, @Nullable State to, String who, String why) {
        return new Transition(of.id(), of.operation(), from, to, of.attempt(), who, why);
    }
}
