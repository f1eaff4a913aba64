package dev.onlyonce.sql;

import dev.onlyonce.Encryption;
import dev.onlyonce.Onlyonce;
import dev.onlyonce.Policy;
import dev.onlyonce.Reconciler;
import dev.onlyonce.State;
import dev.onlyonce.internal.AuditText;
import dev.onlyonce.store.AuditQuery;
import dev.onlyonce.store.AuditRecord;
import dev.onlyonce.store.Batch;
import dev.onlyonce.store.BatchResult;
import dev.onlyonce.store.ClaimRequest;
import dev.onlyonce.store.ClaimResult;
import dev.onlyonce.store.Entry;
import dev.onlyonce.store.EntryId;
import dev.onlyonce.store.EntryQuery;
import dev.onlyonce.store.Renewal;
import dev.onlyonce.store.Resolution;
import dev.onlyonce.store.SettleResult;
import dev.onlyonce.store.Settlement;
import dev.onlyonce.store.Store;
import dev.onlyonce.store.StoreBusy;
import dev.onlyonce.store.StoreOutcomeUnknown;
import dev.onlyonce.store.StoreRejected;
import dev.onlyonce.store.StoreUnavailable;
import dev.onlyonce.store.Transition;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * Entries in PostgreSQL, MySQL, MariaDB or SQLite. Any number of threads use one store, any number of nodes one database.
 *
 * <p>How a batch is claimed:
 *
 * <ol>
 *   <li>One statement inserts all rows, in the order of their ids; rows that exist are left alone. Fresh keys are done
 *       here, after one round trip on PostgreSQL.
 *   <li>The rest is read. Most are answered with what was read.
 *   <li>What was read as free (retryable, pending, past everything) or as the caller's own (a lost acknowledgement) is
 *       taken by a statement that checks all that again. Who comes too late starts again at 1.
 * </ol>
 */
public final class SqlStore implements Store {
    /** Each round lost means that somebody else took the entry, or gave it back, in between. */
    private static final int ROUNDS_MAX = 20;
    /** Bounds a reaper's transaction. */
    private static final int REAP_ROWS = 500;
    /** Bounds a purge: so many entries are looked at for each that may be removed. */
    private static final int REAP_VISITS = 10;

    private final Database database;
    private final Calls calls;
    private final Sealing sealing;
    private final Sweep sweep;
    private final AuditTable audit;

    SqlStore(Database database, Calls calls, Sealing sealing) {
        this.database = database;
        this.calls = calls;
        this.sealing = sealing;
        this.sweep = new Sweep(database, calls);
        this.audit = new AuditTable(database);
    }

    /**
     * A store on a database that the application has already. Creates the tables if need be.
     *
     * @param dataSource a pool; connections are taken for one call at a time. It stays the caller's to close
     * @throws dev.onlyonce.store.StoreUnavailable if the database cannot be reached
     * @throws StoreRejected if it is not one that is supported, or the schema is newer than this release
     */
    public static SqlStore open(DataSource dataSource) {
        return builder(dataSource).build();
    }

    /**
     * A store in a SQLite file, made if it is not there. Other processes on this machine may use the file at the same
     * time. {@link #close} closes it.
     *
     * @throws dev.onlyonce.store.StoreUnavailable if it cannot be opened
     * @throws StoreRejected if its schema is newer than this release
     */
    public static SqlStore sqlite(Path file) {
        return builder(file).build();
    }

    /** A store on a database that the application has already. */
    public static Builder builder(DataSource dataSource) {
        return new Builder(builder -> Opening.open(dataSource, builder.schema, builder.clock, builder.sealing));
    }

    /** A store in a SQLite file, as {@link #sqlite}. */
    public static Builder builder(Path file) {
        return new Builder(builder -> Opening.open(file, builder.schema, builder.clock, builder.sealing));
    }

    /** Whether results are encrypted before they are stored. */
    public boolean isSealing() {
        return sealing.isOn();
    }

    @Override
    public List<ClaimResult> claim(List<ClaimRequest> requests) {
        return write(new Batch(requests, List.of())).claims();
    }

    @Override
    public List<SettleResult> settle(List<Settlement> settlements) {
        return write(new Batch(List.of(), settlements)).settlements();
    }

    @Override
    public BatchResult write(Batch batch) {
        if (batch.claims().isEmpty() && batch.settlements().isEmpty()) {
            return new BatchResult(List.of(), List.of());
        }
        List<ClaimRequest> claims = sorted(batch.claims(), ClaimRequest::id);
        List<Settlement> settlements = sealing.seal(sorted(batch.settlements(), Settlement::id));
        claims.forEach(SqlStore::check);
        Database.Written written = calls.write(c -> database.write(c, settlements, claims));
        boolean changed = !written.settled().isEmpty() || !written.claimed().isEmpty();
        try {
            Map<EntryId, SettleResult> settled = settleRest(settlements, written.settled());
            Map<EntryId, ClaimResult> claimed = claimRest(claims, written.claimed());
            return new BatchResult(
                    batch.claims().stream().map(c -> get(claimed, c.id())).toList(),
                    batch.settlements().stream().map(s -> get(settled, s.id())).toList());
        } catch (StoreUnavailable | StoreBusy | StoreRejected e) {
            if (changed) {
                throw new StoreOutcomeUnknown("a part of the batch was written before this failed", e);
            }
            throw e;
        }
    }

    private Map<EntryId, SettleResult> settleRest(
            List<Settlement> settlements, Map<EntryId, SettleResult.Settled> settled) {
        Map<EntryId, SettleResult> results = new HashMap<>(settled);
        List<Settlement> rest =
                settlements.stream().filter(s -> !settled.containsKey(s.id())).toList();
        Map<EntryId, Entry> found = stored(rest.stream().map(Settlement::id).toList());
        for (Settlement settlement : rest) {
            results.put(settlement.id(), repeated(settlement, found.get(settlement.id())));
        }
        return results;
    }

    private static SettleResult repeated(Settlement settlement, @Nullable Entry stored) {
        if (stored == null) {
            return new SettleResult.Lost(null);
        }
        boolean same = settlement.token().equals(stored.token()) && settlement.to() == stored.state();
        return same && stored.settledAt() != null
                ? new SettleResult.Settled(stored.settledAt(), stored.expiresAt())
                : new SettleResult.Lost(StoredEntry.shown(stored).state());
    }

    private Map<EntryId, ClaimResult> claimRest(List<ClaimRequest> claims, Map<EntryId, Integer> claimed) {
        Map<EntryId, ClaimResult> results = new HashMap<>();
        claimed.forEach((id, attempt) -> results.put(id, new ClaimResult.Claimed(attempt)));
        List<ClaimRequest> open = rest(claims, results);
        for (int round = 1; !open.isEmpty(); round++) {
            if (round > ROUNDS_MAX) {
                throw new StoreBusy("the entries changed hands " + ROUNDS_MAX + " times while being claimed", null);
            }
            takeOrRead(open, results);
            open = rest(open, results);
            if (!open.isEmpty()) {
                List<ClaimRequest> late = open;
                calls.write(c -> database.write(c, List.of(), late))
                        .claimed()
                        .forEach((id, attempt) -> results.put(id, new ClaimResult.Claimed(attempt)));
                open = rest(open, results);
            }
        }
        return results;
    }

    private static List<ClaimRequest> rest(List<ClaimRequest> claims, Map<EntryId, ClaimResult> results) {
        return results.size() == claims.size()
                ? List.of()
                : claims.stream().filter(c -> !results.containsKey(c.id())).toList();
    }

    private void takeOrRead(List<ClaimRequest> claims, Map<EntryId, ClaimResult> results) {
        Map<EntryId, Entry> found = stored(claims.stream().map(ClaimRequest::id).toList());
        List<ClaimRequest> own = new ArrayList<>();
        List<ClaimRequest> free = new ArrayList<>();
        List<ClaimRequest> gone = new ArrayList<>();
        for (ClaimRequest claim : claims) {
            Entry stored = found.get(claim.id());
            if (stored == null) {
                gone.add(claim);
            } else if (stored.state() == claim.start() && claim.token().equals(stored.token())) {
                own.add(claim);
            } else if (isFree(stored, claim)) {
                free.add(claim);
            } else {
                results.put(claim.id(), new ClaimResult.Existing(sealing.shown(stored)));
            }
        }
        Map<EntryId, Integer> attempts = new HashMap<>();
        if (!own.isEmpty()) {
            attempts.putAll(calls.write(c -> database.keep(c, own)));
        }
        if (!free.isEmpty()) {
            attempts.putAll(calls.write(c -> database.take(c, free)));
        }
        if (!gone.isEmpty()) {
            attempts.putAll(calls.write(c -> database.replace(c, gone)));
        }
        attempts.forEach((id, attempt) -> results.put(id, new ClaimResult.Claimed(attempt)));
    }

    private static boolean isFree(Entry stored, ClaimRequest claim) {
        return claim.start() == State.PROCESSING
                && stored.state().canBecome(State.PROCESSING)
                && stored.operation().equals(claim.operation())
                && stored.fingerprint().matches(claim.fingerprint());
    }

    @Override
    public List<Boolean> renew(List<Renewal> renewals) {
        if (renewals.isEmpty()) {
            return List.of();
        }
        Set<EntryId> renewed = calls.write(c -> database.renew(c, sorted(renewals, Renewal::id)));
        return renewals.stream().map(r -> renewed.contains(r.id())).toList();
    }

    @Override
    public List<Optional<Entry>> find(List<EntryId> ids) {
        Map<EntryId, Entry> found = stored(ids);
        return ids.stream()
                .map(id -> Optional.ofNullable(found.get(id)).map(sealing::shown))
                .toList();
    }

    private Map<EntryId, Entry> stored(List<EntryId> ids) {
        return ids.isEmpty() ? Map.of() : calls.read(c -> database.find(c, ids));
    }

    @Override
    public List<Transition> sweep(int limit) {
        return limit < 1 ? List.of() : sweep.run(limit);
    }

    @Override
    public int purge(int limit) {
        int removed = 0;
        long visits = (long) limit * REAP_VISITS + REAP_ROWS;
        while (removed < limit && visits > 0) {
            int rows = Math.min(REAP_ROWS, limit - removed);
            Database.Reaped reaped = calls.write(c -> database.reap(c, rows));
            removed += reaped.removed();
            visits -= reaped.visited();
            if (reaped.visited() < rows) {
                break;
            }
        }
        purgeSteps(limit);
        return removed;
    }

    /** Most steps are removed when their operation completes; these are of operations that ended otherwise, or are gone. */
    private void purgeSteps(int limit) {
        StepTable table = new StepTable(database, sealing);
        List<StepTable.Of> orphans = limit < 1 ? List.of() : calls.read(c -> table.orphans(c, limit));
        if (!orphans.isEmpty()) {
            calls.transaction(c -> {
                for (StepTable.Of orphan : orphans) {
                    table.forget(c, orphan);
                }
                return true;
            });
        }
    }

    @Override
    public List<SettleResult> resolve(List<Resolution> resolutions) {
        if (resolutions.isEmpty()) {
            return List.of();
        }
        Map<EntryId, SettleResult.Settled> resolved =
                calls.write(c -> database.resolve(c, sealing.sealAll(sorted(resolutions, Resolution::id))));
        List<EntryId> lost = resolutions.stream()
                .map(Resolution::id)
                .filter(id -> !resolved.containsKey(id))
                .toList();
        Map<EntryId, Entry> found = stored(lost);
        List<SettleResult> results = new ArrayList<>();
        for (Resolution resolution : resolutions) {
            SettleResult.Settled settled = resolved.get(resolution.id());
            Entry entry = found.get(resolution.id());
            State state = entry == null ? null : StoredEntry.shown(entry).state();
            results.add(settled == null ? new SettleResult.Lost(state) : settled);
        }
        return results;
    }

    @Override
    public Optional<Transition> evict(EntryId id, String who, String reason) {
        return calls.write(c -> database.evict(c, id, AuditText.who(who), AuditText.why(reason)))
                .map(StoredEntry::shown)
                .map(e -> new Transition(id, e.operation(), e.state(), null, e.attempt(), who, reason));
    }

    @Override
    public List<Entry> list(EntryQuery query) {
        return calls.read(c -> database.list(c, query)).stream()
                .map(sealing::shown)
                .toList();
    }

    @Override
    public List<AuditRecord> history(EntryId id) {
        return calls.read(c -> audit.history(c, id));
    }

    @Override
    public List<AuditRecord> audit(AuditQuery query) {
        return calls.read(c -> audit.list(c, query));
    }

    @Override
    public int purgeAudit(Duration retention, int limit) {
        return calls.write(c -> audit.purge(c, StoredEntry.micros(retention), limit));
    }

    /** The transactional way to execute, under this policy: claim, effect and result commit together. */
    public SqlTransactions transactions(Policy policy) {
        return new SqlTransactions(database, calls, sealing, policy);
    }

    /**
     * Messages that are delivered at least once, applied once.
     *
     * @param remember for how long a repeat is recognised: longer than the sender goes on delivering
     */
    public Inbox inbox(Duration remember) {
        return new Inbox(transactions(
                Policy.builder().retention(remember).waitMax(Inbox.WAIT_MAX).build()));
    }

    /** The queued way to execute: write first, call later. */
    public Outbox.Builder outbox() {
        return new Outbox.Builder(database, calls, sealing);
    }

    /** The stepped way to execute: several external effects in a row. The other must be on this store. */
    public Stepped stepped(Onlyonce onlyonce) {
        return new Stepped(new StepTable(database, sealing), calls, onlyonce);
    }

    /** Finds out about a stepped operation's step in doubt: for {@link Onlyonce.Builder#reconciler}. */
    public Reconciler reconciler(StepReconciler steps) {
        return new StepReconciliation(new StepTable(database, sealing), calls, steps);
    }

    /** The tables, for looking at their version. */
    public Schema schema() {
        return new Schema(calls, database.kind());
    }

    /** Closes the connections of an embedded database; a DataSource stays its owner's. */
    @Override
    public void close() {
        calls.close();
    }

    /** A copy in the order of ids; throws if an id comes twice. */
    private static <T> List<T> sorted(List<T> list, Function<T, EntryId> id) {
        List<T> sorted = new ArrayList<>(list);
        sorted.sort(Comparator.comparing(id));
        for (int i = 1; i < sorted.size(); i++) {
            if (id.apply(sorted.get(i)).equals(id.apply(sorted.get(i - 1)))) {
                throw new IllegalArgumentException("twice in one batch: " + id.apply(sorted.get(i)));
            }
        }
        return sorted;
    }

    private static void check(ClaimRequest claim) {
        Names.check("tenant", claim.id().tenant());
        Names.check("space", claim.id().space());
        Names.check("key", claim.id().key());
        Names.check("operation", claim.operation());
        Names.check("owner", claim.owner());
    }

    private static <T> T get(Map<EntryId, T> results, EntryId id) {
        T result = results.get(id);
        if (result == null) {
            throw new IllegalStateException("no answer for " + id);
        }
        return result;
    }

    /** How to open a store. */
    public static final class Builder {
        private final Function<Builder, SqlStore> opening;
        private SchemaMode schema = SchemaMode.CREATE;
        private Optional<String> clock = Optional.empty();
        private Sealing sealing = new Sealing(Optional.empty());

        private Builder(Function<Builder, SqlStore> opening) {
            this.opening = opening;
        }

        /** What to do about the tables; {@link SchemaMode#CREATE} unless told otherwise. */
        public Builder schema(SchemaMode mode) {
            schema = mode;
            return this;
        }

        /**
         * Seals what is stored of results: those of entries, however they are executed and settled, those of steps, and
         * providers' answers in the outbox. Payloads in the outbox are not sealed.
         */
        public Builder encryption(Encryption encryption) {
            sealing = new Sealing(Optional.of(encryption));
            return this;
        }

        /** For tests: replaces the database's clock by an SQL expression for microseconds since 1970. */
        Builder clock(String sql) {
            clock = Optional.of(sql);
            return this;
        }

        /** Opens the store. Throws as {@link SqlStore#open} does. */
        public SqlStore build() {
            return opening.apply(this);
        }
    }
}
