package dev.onlyonce.sql.internal.entries;

import dev.onlyonce.sql.internal.connections.Connections;
import dev.onlyonce.sql.internal.connections.SqlDatabase;
import dev.onlyonce.store.ClaimRequest;
import dev.onlyonce.store.ClaimResult;
import dev.onlyonce.store.Decision;
import dev.onlyonce.store.Entry;
import dev.onlyonce.store.EntryId;
import dev.onlyonce.store.Envelope;
import dev.onlyonce.store.Failure;
import dev.onlyonce.store.Life;
import dev.onlyonce.store.SettleResult;
import dev.onlyonce.store.Settlement;
import dev.onlyonce.store.State;
import dev.onlyonce.store.StoreBusy;
import dev.onlyonce.store.StoreException;
import dev.onlyonce.store.StoreOutcomeUnknown;
import dev.onlyonce.store.StoreRejected;
import dev.onlyonce.store.StoreTime;
import dev.onlyonce.store.StoreUnavailable;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Claims and settles a batch; a row that somebody else holds keeps nobody but its own caller.
 *
 * <ol>
 *   <li>One statement settles, one inserts all new entries, in the order of their ids; rows that exist are left alone. Fresh
 *       keys are done here, after one round trip on PostgreSQL.
 *   <li>If that waits for a lock for longer than a moment, nothing of it was written (on MySQL it perhaps was: the next steps
 *       find it), and for a while batches go around locked rows: settlements skip them, and only what a look does
 *       not find is inserted, in halves down to the row that somebody else is just making.
 *   <li>The rest is read. Most are answered with what was read. A settlement whose claim still stands was skipped: busy.
 *   <li>What was read as free (retryable, pending, past everything) or as the caller's own (a lost acknowledgement) is
 *       claimed by {@link LifeChanges}, which locks it, decides again and skips locked rows. A claim that comes too late starts again at 3.
 *   <li>An answer that says <i>claimed</i> or <i>settled</i> because of a read waits until a standby has what was read, too.
 * </ol>
 */
public final class EntryWriter {
    /** Each round lost means that somebody else took the entry, or gave it back, in between: it is in flight. */
    private static final int ROUNDS_MAX = 8;
    /** Bounds how long one call looks for the rows that others hold; the rest is busy then. */
    private static final Duration AROUND_MAX = Duration.ofSeconds(2);

    private static final Logger log = LoggerFactory.getLogger(EntryWriter.class);

    private final SqlDialect database;
    private final Connections connections;
    private final Sealing sealing;
    private final LockWatch locks = new LockWatch();

    public EntryWriter(SqlDialect database, Connections connections, Sealing sealing) {
        this.database = database;
        this.connections = connections;
        this.sealing = sealing;
    }

    /** The answers so far. */
    private record Answers(Map<EntryId, SettleResult> settled, Map<EntryId, ClaimResult> claimed) {
        private Answers() {
            this(new HashMap<>(), new HashMap<>());
        }

        private boolean isChanged() {
            return settled.values().stream().anyMatch(SettleResult.Settled.class::isInstance)
                    || claimed.values().stream().anyMatch(ClaimResult.Claimed.class::isInstance);
        }

        private void claimed(Map<EntryId, Integer> attempts) {
            attempts.forEach((id, attempt) -> claimed.put(id, new ClaimResult.Claimed(attempt)));
        }

        private void busy(ClaimRequest claim) {
            claimed.put(claim.id(), new ClaimResult.Busy());
        }

        private List<ClaimRequest> open(List<ClaimRequest> claims) {
            return claims.stream().filter(c -> !claimed.containsKey(c.id())).toList();
        }
    }

    /** Claims; the list is sorted by id and not empty. */
    public Map<EntryId, ClaimResult> claim(List<ClaimRequest> claims) {
        return write(List.of(), claims).claimed();
    }

    /**
     * Settles; the list is sorted by id and not empty. A result for which the database has no room any more is noted as not stored: what
     * happened is known.
     */
    public Map<EntryId, SettleResult> settle(List<Settlement> settlements) {
        try {
            return write(settlements, List.of()).settled();
        } catch (StoreRejected | StoreOutcomeUnknown e) {
            List<Settlement> smaller = withoutLarge(settlements, e);
            if (smaller.equals(settlements)) {
                throw e;
            }
            log.warn(
                    "A result is too large for the database, and is noted as not stored: was max_allowed_packet made smaller?",
                    e);
            return write(smaller, List.of()).settled();
        }
    }

    private List<Settlement> withoutLarge(List<Settlement> settlements, StoreException failure) {
        try {
            return connections.read(c -> {
                int max = database.resultBytesMax(c);
                return settlements.stream()
                        .map(s -> s.result() == null || s.result().length <= max ? s : withoutResult(s))
                        .toList();
            });
        } catch (StoreException e) {
            failure.addSuppressed(e);
            return settlements;
        }
    }

    private Settlement withoutResult(Settlement settlement) {
        byte[] failure = Envelope.failure(new Failure(
                Failure.RESULT_NOT_STORED,
                "It ended, but its result was larger than the database takes and was not stored"));
        return sealing.seal(
                new Settlement(settlement.id(), settlement.token(), settlement.to(), failure, settlement.reason()));
    }

    private Answers write(List<Settlement> settlements, List<ClaimRequest> claims) {
        Answers answers = new Answers();
        boolean around = locks.isAround();
        boolean direct = !around && writeDirectly(settlements, claims, answers);
        // MySQL commits fresh and ordinary rows in auto-commit mode, and a driver's time-out may come after that.
        boolean doubtful = !around && !direct && database.kind() == SqlDatabase.MYSQL;
        return known(() -> doubtful || answers.isChanged(), () -> {
            if (!direct && !settlements.isEmpty()) {
                answers.settled.putAll(connections.write(c -> database.settleUnlocked(c, settlements)));
            }
            settleRest(settlements, answers);
            claimRest(claims, answers, direct);
            return answers;
        });
    }

    /** What fails after a part was written leaves the outcome open, whatever it says about itself. */
    public static <T> T known(Supplier<Boolean> changed, Supplier<T> work) {
        try {
            return work.get();
        } catch (StoreUnavailable | StoreBusy | StoreRejected e) {
            if (changed.get()) {
                throw new StoreOutcomeUnknown("a part of it may have been written before this failed", e);
            }
            throw e;
        }
    }

    private boolean writeDirectly(List<Settlement> settlements, List<ClaimRequest> claims, Answers answers) {
        try {
            SqlDialect.Written written = connections.write(c -> database.write(c, settlements, claims));
            answers.settled.putAll(written.settled());
            answers.claimed(written.claimed());
            return true;
        } catch (StoreBusy e) {
            locks.met();
            return false;
        }
    }

    private void settleRest(List<Settlement> settlements, Answers answers) {
        if (answers.settled.size() == settlements.size()) {
            return;
        }
        List<Settlement> rest = settlements.stream()
                .filter(s -> !answers.settled.containsKey(s.id()))
                .toList();
        Map<EntryId, Entry> found = find(rest.stream().map(Settlement::id).toList());
        List<Settlement> testimony =
                rest.stream().filter(s -> isTestimony(s, found.get(s.id()))).toList();
        if (!testimony.isEmpty()) {
            answers.settled.putAll(connections.write(c -> database.changes().settle(c, testimony)));
            rest = rest.stream()
                    .filter(s -> !answers.settled.containsKey(s.id()))
                    .toList();
        }
        Map<EntryId, Entry> lasting = findLasting(rest.stream()
                .filter(s -> unsettled(s, found.get(s.id())) instanceof SettleResult.Settled)
                .map(Settlement::id)
                .toList());
        for (Settlement settlement : rest) {
            Entry stored = lasting.getOrDefault(settlement.id(), found.get(settlement.id()));
            answers.settled.put(settlement.id(), unsettled(settlement, stored));
        }
    }

    /** Whether an owner comes back to an entry that became unknown. */
    private static boolean isTestimony(Settlement settlement, @Nullable Entry stored) {
        return stored != null
                && stored.state() == State.UNKNOWN
                && Life.settle(stored, settlement, readAt(stored)) instanceof Decision.Change;
    }

    /** What would change was skipped. */
    private static SettleResult unsettled(Settlement settlement, @Nullable Entry stored) {
        Decision<SettleResult> decision = Life.settle(stored, settlement, readAt(stored));
        return decision instanceof Decision.Change ? new SettleResult.Busy() : decision.answer();
    }

    private static StoreTime readAt(@Nullable Entry stored) {
        return StoreTime.at(stored == null ? Instant.EPOCH : stored.readAt());
    }

    private void claimRest(List<ClaimRequest> claims, Answers answers, boolean inserted) {
        if (answers.claimed.size() == claims.size()) {
            return;
        }
        long begun = System.nanoTime();
        Set<EntryId> skipped = new HashSet<>();
        List<ClaimRequest> open = answers.open(claims);
        for (int round = 1; !open.isEmpty() && round <= ROUNDS_MAX; round++) {
            List<ClaimRequest> absent = takeOrRead(open, answers, skipped);
            if (round > 1 || !inserted) {
                insert(absent, answers, begun);
            }
            List<ClaimRequest> gone = answers.open(absent);
            if (!gone.isEmpty()) {
                answers.claimed(connections.write(c -> database.changes().claim(c, gone)));
            }
            open = answers.open(open);
        }
        open.forEach(answers::busy);
    }

    /**
     * Takes the entries that are free, and answers with the others.
     *
     * @param skipped what was locked in the last round; still the same, it is busy
     * @return the claims whose entry is absent
     */
    private List<ClaimRequest> takeOrRead(List<ClaimRequest> claims, Answers answers, Set<EntryId> skipped) {
        Map<EntryId, Entry> found = find(claims.stream().map(ClaimRequest::id).toList());
        List<ClaimRequest> open = new ArrayList<>();
        List<ClaimRequest> absent = new ArrayList<>();
        for (ClaimRequest claim : claims) {
            Entry stored = found.get(claim.id());
            if (stored == null) {
                absent.add(claim);
                continue;
            }
            Decision<ClaimResult> decision = Life.claim(stored, claim, readAt(stored));
            if (decision instanceof Decision.Unchanged) {
                answers.claimed.put(claim.id(), new ClaimResult.Existing(sealing.shown(stored)));
            } else if (!skipped.contains(claim.id())) {
                open.add(claim);
            } else if (isOwn(stored, claim)) {
                answers.claimed.put(claim.id(), unkept(stored, claim));
            } else {
                answers.busy(claim);
            }
        }
        if (!open.isEmpty()) {
            answers.claimed(connections.write(c -> database.changes().claim(c, open)));
            answers.open(open).forEach(c -> skipped.add(c.id()));
        }
        return absent;
    }

    /** Somebody else locks a row that is the caller's: it is left alone if the lease that it has already is long enough. */
    private ClaimResult unkept(Entry own, ClaimRequest claim) {
        Duration enough = own.terms().lease().dividedBy(2);
        if (own.leaseLeft().compareTo(enough) < 0) {
            return new ClaimResult.Busy();
        }
        Entry lasting = findLasting(List.of(own.id())).get(own.id());
        return lasting != null && isOwn(lasting, claim)
                ? new ClaimResult.Claimed(lasting.attempt())
                : new ClaimResult.Busy();
    }

    private static boolean isOwn(Entry stored, ClaimRequest claim) {
        return stored.state() == claim.start() && claim.token().equals(stored.token());
    }

    /** Inserts what was not there. Who is just making the same entry is not waited for. */
    private void insert(List<ClaimRequest> claims, Answers answers, long begun) {
        claims.stream().filter(c -> locks.isMet(c.id())).forEach(answers::busy);
        List<ClaimRequest> open = answers.open(claims);
        if (open.isEmpty()) {
            return;
        }
        try {
            SqlDialect.Inserted inserted = connections.write(c -> database.insert(c, open));
            answers.claimed(inserted.claimed());
            inserted.others().forEach(id -> answers.claimed.put(id, new ClaimResult.Busy()));
        } catch (StoreBusy e) {
            if (open.size() == 1) {
                locks.met(open.get(0).id());
                answers.busy(open.get(0));
            } else if (System.nanoTime() - begun > AROUND_MAX.toNanos()) {
                open.forEach(answers::busy);
            } else {
                locks.met();
                insert(open.subList(0, open.size() / 2), answers, begun);
                insert(open.subList(open.size() / 2, open.size()), answers, begun);
            }
        }
    }

    /** Reads what an answer rests on that says that it is done: a commit that was seen before may yet be undone. */
    private Map<EntryId, Entry> findLasting(List<EntryId> ids) {
        if (ids.isEmpty()) {
            return Map.of();
        }
        try {
            return connections.write(c -> {
                Map<EntryId, Entry> found = database.find(c, ids);
                database.awaitStandby(c);
                return found;
            });
        } catch (StoreException e) {
            throw new StoreOutcomeUnknown("it is written, and it is not known whether a standby has it", e);
        }
    }

    private Map<EntryId, Entry> find(List<EntryId> ids) {
        return ids.isEmpty() ? Map.of() : connections.read(c -> database.find(c, ids));
    }
}
