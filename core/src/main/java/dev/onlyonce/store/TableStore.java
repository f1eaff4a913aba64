package dev.onlyonce.store;

import dev.onlyonce.store.Decision.Change;
import dev.onlyonce.store.EntryTable.Row;
import dev.onlyonce.store.EntryTable.Write;
import dev.onlyonce.store.EntryTable.Written;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A store on an {@link EntryTable}: {@link Life} decides, the table keeps. Each verb does this for all items of its list together:
 *
 * <ol>
 *   <li>Reads their rows. A claim does not: its key most often is new, so it writes a new entry first.
 *   <li>Reads the clock, and asks {@link Life} what becomes of each.
 *   <li>Writes the changes, each on condition that nobody has changed its row since.
 *   <li>Begins again at 2 with those that somebody else has changed meanwhile.
 * </ol>
 *
 * <p>An item that fails costs the others nothing. A store that has a faster way for one verb overrides it, and gives what it could not finish
 * to {@link #finish}.
 */
public class TableStore implements Store {
    /** Each round lost means that somebody else has changed the entry. */
    private static final int ROUNDS_MAX = 100;

    private static final int ROUNDS_WITHOUT_PAUSE = 3;
    private static final long PAUSE_NANOS_MAX = Duration.ofMillis(5).toNanos();

    private final EntryTable table;

    /** A store on this table, which it closes. */
    public TableStore(EntryTable table) {
        this.table = table;
    }

    /**
     * One of those in {@link Life}.
     *
     * @param <Q> the kind of the request
     * @param <A> the kind of the answer
     */
    @FunctionalInterface
    protected interface Rule<Q, A> {
        /** What becomes of the entry. */
        Decision<A> decide(@Nullable Entry stored, Q item, StoreTime now);
    }

    /**
     * How far an item has come.
     *
     * @param <A> the kind of the answer
     */
    protected sealed interface Progress<A> {
        /** It has its answer. */
        record Answered<A>(A answer) implements Progress<A> {}

        /** It is to be decided, by this row. */
        record Undecided<A>(Row row) implements Progress<A> {}

        /** It failed. */
        record Failed<A>(StoreException failure) implements Progress<A> {}
    }

    @Override
    public List<ClaimResult> claim(List<ClaimRequest> requests) {
        List<Progress<ClaimResult>> all = new ArrayList<>();
        requests.forEach(request -> all.add(new Progress.Undecided<>(Row.absent(request.id()))));
        return finish(Life::claim, requests, all, ClaimResult::refused);
    }

    @Override
    public List<SettleResult> settle(List<Settlement> settlements) {
        return finish(Life::settle, settlements, read(settlements, Settlement::id), failure -> new SettleResult.Busy());
    }

    @Override
    public List<RenewResult> renew(List<Renewal> renewals) {
        return finish(Life::renew, renewals, read(renewals, Renewal::id), failure -> RenewResult.BUSY);
    }

    @Override
    public List<SettleResult> resolve(List<Resolution> resolutions) {
        return finish(
                (stored, resolution, now) -> Life.resolve(stored, resolution, false, now),
                resolutions,
                read(resolutions, Resolution::id),
                null);
    }

    @Override
    public Optional<Transition> evict(EntryId id, String who, String reason) {
        Rule<EntryId, Optional<Transition>> rule = (stored, same, now) -> Life.evict(stored, who, reason, now);
        List<EntryId> ids = List.of(id);
        return finish(rule, ids, read(ids, same -> same), null).get(0);
    }

    @Override
    public List<Optional<Entry>> find(List<EntryId> ids) {
        List<Row> rows = table.read(ids);
        StoreTime now = table.now();
        return rows.stream().map(row -> Life.visible(row.entry(), now)).toList();
    }

    private <Q, A> List<Progress<A>> read(List<Q> items, Function<Q, EntryId> id) {
        List<Progress<A>> all = new ArrayList<>();
        table.read(items.stream().map(id).toList()).forEach(row -> all.add(new Progress.Undecided<>(row)));
        return all;
    }

    /**
     * Decides and writes until every item has its answer.
     *
     * @param all how far each item has come
     * @param refused the answer for an item that a failure left unchanged; null if the verb has none
     * @throws StoreOutcomeUnknown if any item may or may not have been changed
     * @throws StoreException if none was changed
     */
    protected final <Q, A> List<A> finish(
            Rule<Q, A> rule, List<Q> items, List<Progress<A>> all, @Nullable Function<StoreException, A> refused) {
        List<Progress<A>> progress = new ArrayList<>(all);
        for (int round = 0; round < ROUNDS_MAX && hasUndecided(progress); round++) {
            pause(round);
            tryOnce(rule, items, progress);
        }
        return answers(progress, refused);
    }

    private static <A> boolean hasUndecided(List<Progress<A>> all) {
        return all.stream().anyMatch(Progress.Undecided.class::isInstance);
    }

    private <Q, A> void tryOnce(Rule<Q, A> rule, List<Q> items, List<Progress<A>> all) {
        StoreTime now = table.now();
        List<Integer> written = new ArrayList<>();
        List<Write> writes = new ArrayList<>();
        List<A> answers = new ArrayList<>();
        for (int i = 0; i < all.size(); i++) {
            if (all.get(i) instanceof Progress.Undecided<A> undecided) {
                Decision<A> decision = rule.decide(undecided.row().entry(), items.get(i), now);
                if (decision instanceof Change<A> change) {
                    written.add(i);
                    writes.add(new Write(undecided.row(), change));
                    answers.add(change.answer());
                } else {
                    all.set(i, new Progress.Answered<>(decision.answer()));
                }
            }
        }
        List<Written> results = write(writes);
        for (int i = 0; i < writes.size(); i++) {
            all.set(written.get(i), after(results.get(i), answers.get(i)));
        }
    }

    private static <A> Progress<A> after(Written written, A answer) {
        if (written instanceof Written.Overtaken overtaken) {
            return new Progress.Undecided<>(overtaken.now());
        }
        return written instanceof Written.Failed failed
                ? new Progress.Failed<>(failed.failure())
                : new Progress.Answered<>(answer);
    }

    /** Items of earlier rounds may have been changed, so a failure of the whole call is one of each of these. */
    private List<Written> write(List<Write> writes) {
        if (writes.isEmpty()) {
            return List.of();
        }
        try {
            return table.write(writes);
        } catch (StoreException e) {
            return writes.stream().<Written>map(write -> new Written.Failed(e)).toList();
        }
    }

    private static void pause(int round) {
        if (round > ROUNDS_WITHOUT_PAUSE) {
            LockSupport.parkNanos(ThreadLocalRandom.current().nextLong(PAUSE_NANOS_MAX));
        }
    }

    private static <A> List<A> answers(List<Progress<A>> all, @Nullable Function<StoreException, A> refused) {
        List<StoreException> failures = new ArrayList<>();
        List<A> answers = new ArrayList<>();
        for (Progress<A> each : all) {
            if (each instanceof Progress.Answered<A> answered) {
                answers.add(answered.answer());
                continue;
            }
            StoreException failure = each instanceof Progress.Failed<A> failed
                    ? failed.failure()
                    : new StoreBusy(
                            "others keep changing "
                                    + ((Progress.Undecided<A>) each).row().id(),
                            null);
            failures.add(failure);
            if (refused != null) {
                answers.add(refused.apply(failure));
            }
        }
        check(failures, all.size(), refused != null);
        return answers;
    }

    private static void check(List<StoreException> failures, int items, boolean canRefuse) {
        boolean noneIsDone =
                failures.size() == items && !(canRefuse && failures.stream().anyMatch(StoreBusy.class::isInstance));
        for (StoreException failure : failures) {
            if (failure instanceof StoreOutcomeUnknown || noneIsDone) {
                throw failure;
            } else if (!canRefuse) {
                throw new StoreOutcomeUnknown("Some items may have been changed. " + failure.getMessage(), failure);
            }
        }
    }

    @Override
    public List<Transition> sweep(int limit) {
        var unused = upkeep(Due.FAR_LEASE, Integer.MAX_VALUE, (stored, now) -> sweep(stored, false, now));
        return upkeep(Due.LEASE, limit, (stored, now) -> sweep(stored, true, now)).stream()
                .flatMap(Optional::stream)
                .toList();
    }

    /** Either ends entries or shortens leases: only ends are reported, and only they count for the limit. */
    private static Decision<Optional<Transition>> sweep(Entry stored, boolean ends, StoreTime now) {
        Decision<Optional<Transition>> decision = Life.sweep(stored, false, now);
        return decision.answer().isPresent() == ends ? decision : new Decision.Unchanged<>(Optional.empty());
    }

    @Override
    public int purge(int limit) {
        return upkeep(Due.RETENTION, limit, Life::purge).size();
    }

    /**
     * Changes what is due, at most {@code limit} entries, and passes over those that somebody else changes. Throws only if nothing was
     * done: what was done must be told, and the next round meets the failure again.
     */
    private <A> List<A> upkeep(Due due, int limit, BiFunction<Entry, StoreTime, Decision<A>> rule) {
        List<A> done = new ArrayList<>();
        List<Row> rows = limit < 1 ? List.of() : table.due(due, table.now(), limit);
        StoreTime now = table.now();
        for (int next = 0; next < rows.size() && done.size() < limit; ) {
            List<Write> writes = new ArrayList<>();
            List<A> answers = new ArrayList<>();
            int max = Math.min(BATCH_MAX, limit - done.size());
            for (; next < rows.size() && writes.size() < max; next++) {
                Entry stored = rows.get(next).entry();
                if (stored != null && rule.apply(stored, now) instanceof Change<A> change) {
                    writes.add(new Write(rows.get(next), change));
                    answers.add(change.answer());
                }
            }
            StoreException failure = collect(write(writes), answers, done);
            if (failure != null && done.isEmpty()) {
                throw failure;
            }
        }
        return done;
    }

    /** Adds the answers of what was done; the last failure, if there was one. */
    private static <A> @Nullable StoreException collect(List<Written> results, List<A> answers, List<A> done) {
        StoreException failure = null;
        for (int i = 0; i < results.size(); i++) {
            if (results.get(i) instanceof Written.Done) {
                done.add(answers.get(i));
            } else if (results.get(i) instanceof Written.Failed failed) {
                failure = failed.failure();
            }
        }
        return failure;
    }

    @Override
    public List<Entry> list(EntryQuery query) {
        List<Entry> found = new ArrayList<>();
        EntryQuery rest = query;
        List<Entry> page;
        do {
            page = table.list(rest);
            StoreTime now = table.now();
            page.stream()
                    .flatMap(stored -> Life.visible(stored, now).stream())
                    .filter(query::matches)
                    .limit(query.limit() - found.size())
                    .map(Entry::withoutResult)
                    .forEach(found::add);
            rest = page.isEmpty() ? rest : rest.after(page.get(page.size() - 1).id());
        } while (page.size() == rest.limit() && found.size() < query.limit());
        return found;
    }

    @Override
    public List<AuditRecord> history(EntryId id) {
        return table.history(id);
    }

    @Override
    public List<AuditRecord> audit(AuditQuery query) {
        return table.audit(query);
    }

    @Override
    public int purgeAudit(Duration retention, int limit) {
        return limit < 1 ? 0 : table.purgeAudit(table.now().earliest().minus(retention), limit);
    }

    /** The table's clock, if the table knows it exactly. */
    @Override
    public Optional<Instant> now() {
        StoreTime now = table.now();
        return Stream.of(now.latest()).filter(now.earliest()::equals).findFirst();
    }

    @Override
    public void close() {
        table.close();
    }
}
