package dev.onlyonce.sql;

import dev.onlyonce.Onlyonce;
import dev.onlyonce.sql.internal.connections.Connections;
import dev.onlyonce.sql.internal.connections.SourceCheck;
import dev.onlyonce.sql.internal.entries.AuditTable;
import dev.onlyonce.sql.internal.entries.BoundedCount;
import dev.onlyonce.sql.internal.entries.EntryListing;
import dev.onlyonce.sql.internal.entries.EntryWriter;
import dev.onlyonce.sql.internal.entries.HalfDoneReleases;
import dev.onlyonce.sql.internal.entries.LifeChanges;
import dev.onlyonce.sql.internal.entries.NameCheck;
import dev.onlyonce.sql.internal.entries.NodeRows;
import dev.onlyonce.sql.internal.entries.Sealing;
import dev.onlyonce.sql.internal.entries.ServerClock;
import dev.onlyonce.sql.internal.entries.SqlAccess;
import dev.onlyonce.sql.internal.entries.SqlDialect;
import dev.onlyonce.sql.internal.entries.StateCount;
import dev.onlyonce.sql.internal.entries.StepPurge;
import dev.onlyonce.sql.internal.entries.StoredEntry;
import dev.onlyonce.sql.internal.entries.Sweep;
import dev.onlyonce.sql.internal.entries.WriteCheck;
import dev.onlyonce.sql.schema.Schema;
import dev.onlyonce.store.AuditLevel;
import dev.onlyonce.store.AuditQuery;
import dev.onlyonce.store.AuditRecord;
import dev.onlyonce.store.ClaimRequest;
import dev.onlyonce.store.ClaimResult;
import dev.onlyonce.store.Encryption;
import dev.onlyonce.store.Entry;
import dev.onlyonce.store.EntryId;
import dev.onlyonce.store.EntryQuery;
import dev.onlyonce.store.NodeRecord;
import dev.onlyonce.store.OutboxCounts;
import dev.onlyonce.store.RenewResult;
import dev.onlyonce.store.Renewal;
import dev.onlyonce.store.Resolution;
import dev.onlyonce.store.SettleResult;
import dev.onlyonce.store.Settlement;
import dev.onlyonce.store.State;
import dev.onlyonce.store.StateCounts;
import dev.onlyonce.store.Store;
import dev.onlyonce.store.StoreGate;
import dev.onlyonce.store.StoreLimits;
import dev.onlyonce.store.StoreRejected;
import dev.onlyonce.store.StoreUnavailable;
import dev.onlyonce.store.Transition;
import dev.onlyonce.store.UnreadableEntries;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * Entries in PostgreSQL, MySQL, MariaDB, SQLite or H2. Any number of threads use one store, any number of nodes one database.
 *
 * <p>{@link EntryWriter} says how a batch is claimed and settled.
 */
public final class SqlStore implements Store {
    /** Bounds the transaction of a purge. */
    private static final int PURGE_ROWS = 500;
    /** Bounds a purge: it looks at this many entries for each that it may remove. */
    private static final int PURGE_VISITS = 10;

    private final SqlAccess access;
    private final SqlDialect database;
    private final Connections connections;
    private final Sealing sealing;
    private final EntryWriter writer;
    private final Sweep sweep;
    private final AuditTable audit;
    private final HalfDoneReleases halfDone;
    private final StoreGate gate;
    private final UnreadableEntries unreadable = new UnreadableEntries();

    SqlStore(SqlAccess access, StoreGate gate) {
        this.access = access;
        this.gate = gate;
        this.database = access.database();
        this.connections = access.connections();
        this.sealing = access.sealing();
        this.writer = new EntryWriter(database, connections, sealing);
        this.sweep = new Sweep(database, connections);
        this.audit = new AuditTable(database);
        this.halfDone = access.halfDone();
    }

    /**
     * A store on a database that the application has already. Creates the tables where necessary.
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
        return new Builder(options -> StoreOpening.open(dataSource, options));
    }

    /** A store in a SQLite file, as {@link #sqlite}. */
    public static Builder builder(Path file) {
        if (file.toString().contains("?")) {
            // The driver would take the rest for settings, and open another file than the one that is watched.
            throw new IllegalArgumentException(
                    "a SQLite database cannot have a ? in the name of its file, which takes no settings");
        }
        return new Builder(options -> StoreOpening.open(file, options));
    }

    /**
     * Whether a DataSource leads to the database, and the schema, that holds the entries: only then can they take part in its
     * transactions.
     *
     * @throws dev.onlyonce.store.StoreUnavailable if either cannot be reached
     */
    public boolean isIn(DataSource dataSource) {
        String own = connections.read(SourceCheck::schema);
        try (Connection connection = dataSource.getConnection()) {
            return SourceCheck.schema(connection).equals(own);
        } catch (SQLException e) {
            throw new StoreUnavailable("no connection to the database", e);
        }
    }

    /**
     * The SQL store that an {@link Onlyonce} is built on, for ways to execute that need one.
     *
     * @param way what needs it, for the message
     * @throws IllegalArgumentException if it is built on another kind of store
     */
    public static SqlStore of(Onlyonce once, String way) {
        Store store = once.registry().store();
        if (store instanceof SqlStore sql) {
            return sql;
        }
        throw new IllegalArgumentException(way + " needs a SqlStore, but this Onlyonce is built on a "
                + store.getClass().getSimpleName()
                + ": build it with Onlyonce.builder(SqlStore.open(dataSource)), on the database with the"
                + " business data");
    }

    /** For the ways to execute in this module. */
    public SqlAccess access() {
        return access;
    }

    @Override
    public boolean isSealing() {
        return sealing.isOn();
    }

    @Override
    public List<ClaimResult> claim(List<ClaimRequest> requests) {
        if (requests.isEmpty()) {
            return List.of();
        }
        requests.forEach(SqlStore::check);
        return inOrder(requests, ClaimRequest::id, writer.claim(sorted(requests, ClaimRequest::id)));
    }

    @Override
    public List<SettleResult> settle(List<Settlement> settlements) {
        if (settlements.isEmpty()) {
            return List.of();
        }
        List<Settlement> sorted = sealing.seal(sorted(settlements, Settlement::id));
        Map<EntryId, SettleResult> released = halfDone.settle(sorted);
        Map<EntryId, SettleResult> settled = released.isEmpty() ? writer.settle(sorted) : settleRest(sorted, released);
        List<SettleResult> results = inOrder(settlements, Settlement::id, settled);
        halfDone.answered(settlements, results);
        return results;
    }

    private Map<EntryId, SettleResult> settleRest(List<Settlement> sorted, Map<EntryId, SettleResult> released) {
        List<Settlement> rest =
                sorted.stream().filter(s -> !released.containsKey(s.id())).toList();
        if (!rest.isEmpty()) {
            released.putAll(EntryWriter.known(() -> true, () -> writer.settle(rest)));
        }
        return released;
    }

    @Override
    public List<RenewResult> renew(List<Renewal> renewals) {
        if (renewals.isEmpty()) {
            return List.of();
        }
        Set<EntryId> renewed = connections.write(c -> database.renew(c, sorted(renewals, Renewal::id)));
        List<EntryId> rest = renewals.stream()
                .map(Renewal::id)
                .filter(id -> !renewed.contains(id))
                .toList();
        Map<EntryId, Entry> found = EntryWriter.known(() -> !renewed.isEmpty(), () -> stored(rest));
        return renewals.stream()
                .map(r -> renewed.contains(r.id()) ? RenewResult.RENEWED : unrenewed(r, found.get(r.id())))
                .toList();
    }

    /** What still stands was skipped. */
    private static RenewResult unrenewed(Renewal renewal, @Nullable Entry stored) {
        return stored != null
                        && stored.state() == State.PROCESSING
                        && renewal.token().equals(stored.token())
                ? RenewResult.BUSY
                : RenewResult.LOST;
    }

    @Override
    public List<Optional<Entry>> find(List<EntryId> ids) {
        gate.check();
        Map<EntryId, Entry> found = stored(ids);
        return ids.stream()
                .map(id -> Optional.ofNullable(found.get(id)).map(sealing::shown))
                .toList();
    }

    private Map<EntryId, Entry> stored(List<EntryId> ids) {
        return ids.isEmpty() ? Map.of() : connections.read(c -> database.find(c, ids));
    }

    @Override
    public List<Transition> sweep(int limit) {
        gate.check();
        return limit < 1 ? List.of() : sweep.run(limit);
    }

    @Override
    public int purge(int limit) {
        int removed = 0;
        long visits = (long) limit * PURGE_VISITS + PURGE_ROWS;
        while (removed < limit && visits > 0) {
            int rows = Math.min(PURGE_ROWS, limit - removed);
            LifeChanges.Purged purged =
                    connections.write(c -> database.changes().purge(c, rows));
            removed += purged.removed();
            visits -= purged.visited();
            if (purged.visited() < rows) {
                break;
            }
        }
        new StepPurge(database).run(connections, limit);
        return removed;
    }

    @Override
    public List<SettleResult> resolve(List<Resolution> resolutions) {
        if (resolutions.isEmpty()) {
            return List.of();
        }
        Map<EntryId, SettleResult.Settled> resolved = connections.write(c ->
                database.changes().resolve(c, sealing.sealAll(sorted(resolutions, Resolution::id))));
        List<EntryId> lost = resolutions.stream()
                .map(Resolution::id)
                .filter(id -> !resolved.containsKey(id))
                .toList();
        Map<EntryId, Entry> found = EntryWriter.known(() -> !resolved.isEmpty(), () -> stored(lost));
        List<SettleResult> results = new ArrayList<>();
        for (Resolution resolution : resolutions) {
            SettleResult.Settled settled = resolved.get(resolution.id());
            Entry entry = found.get(resolution.id());
            State state = entry == null ? null : sealing.shown(entry).state();
            results.add(settled == null ? new SettleResult.Lost(state) : settled);
        }
        return results;
    }

    @Override
    public Optional<Transition> evict(EntryId id, String who, String reason) {
        return connections.write(c -> database.changes().evict(c, id, who, reason));
    }

    @Override
    public List<Entry> list(EntryQuery query) {
        return connections.read(c -> EntryListing.of(c, database, query, unreadable)).stream()
                .map(sealing::shown)
                .toList();
    }

    @Override
    public int countStored(@Nullable String tenant, int max) {
        return bounded(c -> BoundedCount.entries(c, database, tenant, max));
    }

    @Override
    public StateCounts countStates(int max) {
        return bounded(c -> StateCount.of(c, database, max));
    }

    @Override
    public String description() {
        return switch (database.kind()) {
            case POSTGRESQL -> "PostgreSQL";
            case MYSQL -> "MySQL or MariaDB";
            case SQLITE -> "SQLite";
            case H2 -> "H2";
        };
    }

    @Override
    public String failover() {
        return switch (database.kind()) {
            case POSTGRESQL, MYSQL ->
                "Nothing that was acknowledged, if a synchronous standby takes over. With an asynchronous one, the"
                        + " last moments before the failure can be missing: those keys could run again.";
            case SQLITE ->
                "There is no failover: one machine has the file. Nothing that was acknowledged is lost in a crash.";
            case H2 ->
                "There is no failover. In memory, everything ends with the process; in a file, the last half second of"
                        + " what was acknowledged can be lost when the process is killed. It is for tests and"
                        + " development.";
        };
    }

    /** What the outbox has to do, for gauges; each count stops at {@code max}. */
    public OutboxCounts countOutbox(int max) {
        return bounded(c -> BoundedCount.outbox(c, database, max));
    }

    @Override
    public List<AuditRecord> history(EntryId id) {
        return bounded(c -> audit.history(c, id));
    }

    @Override
    public List<AuditRecord> audit(AuditQuery query) {
        return connections.read(c -> audit.list(c, query));
    }

    @Override
    public int purgeAudit(Duration retention, int limit) {
        return connections.write(
                c -> database.bounded(c, bounded -> audit.purge(bounded, StoredEntry.micros(retention), limit)));
    }

    private <T> T bounded(Connections.Work<T> reading) {
        return connections.read(c -> database.bounded(c, reading));
    }

    /** The tables, for looking at their version. */
    public Schema schema() {
        return new Schema(connections, database.kind());
    }

    @Override
    public Optional<Instant> now() {
        return Optional.of(connections.read(c -> ServerClock.now(c, database)));
    }

    /** On MySQL and MariaDB, what {@code max_allowed_packet} leaves room for. */
    @Override
    public StoreLimits limits() {
        return new StoreLimits(database.resultBytesMax(), true);
    }

    @Override
    public void announce(String node, String version, Duration upFor) {
        connections.transaction(
                c -> database.bounded(c, bounded -> NodeRows.write(bounded, database, node, version, upFor)));
    }

    @Override
    public Optional<List<NodeRecord>> nodes() {
        return Optional.of(bounded(c -> NodeRows.read(c, database)));
    }

    /** By a commit. Blocks for as long as a claim may. */
    @Override
    public void checkWritable() {
        connections.transaction(c -> database.bounded(c, bounded -> WriteCheck.run(bounded, database)));
    }

    @Override
    public void recheck() {
        gate.recheck();
    }

    @Override
    public Optional<String> refusal() {
        return gate.refusal();
    }

    @Override
    public void accept(String who, String reason) {
        gate.accept(who, reason);
    }

    /** Closes the connections of an embedded database; a DataSource stays its owner's. */
    @Override
    public void close() {
        connections.close();
    }

    /** In the order of ids; throws if an id comes twice. Most lists have one row. */
    private static <T> List<T> sorted(List<T> list, Function<T, EntryId> id) {
        if (list.size() == 1) {
            return list;
        }
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
        NameCheck.check("tenant", claim.id().tenant());
        NameCheck.check("scope", claim.id().scope());
        NameCheck.check("key", claim.id().key());
        NameCheck.check("operation", claim.operation());
        NameCheck.check("owner", claim.owner());
    }

    /** An answer for each. */
    private static <Q, T> List<T> inOrder(List<Q> asked, Function<Q, EntryId> id, Map<EntryId, T> results) {
        if (asked.size() == 1) {
            return List.of(get(results, id.apply(asked.get(0))));
        }
        List<T> answers = new ArrayList<>(asked.size());
        for (Q one : asked) {
            answers.add(get(results, id.apply(one)));
        }
        return answers;
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
        private final Function<StoreOpening.Options, SqlStore> opening;
        private SchemaMode schema = SchemaMode.CREATE;
        private AuditLevel audit = AuditLevel.ALL;
        private Optional<String> clock = Optional.empty();
        private Sealing sealing = new Sealing(Optional.empty());

        private Builder(Function<StoreOpening.Options, SqlStore> opening) {
            this.opening = opening;
        }

        /** What to do about the tables; {@link SchemaMode#CREATE} by default. */
        public Builder schema(SchemaMode mode) {
            schema = mode;
            return this;
        }

        /**
         * What the audit keeps of entries that were executed without trouble, once they are gone: their record, or nothing
         * with {@link AuditLevel#EXCEPTIONS}; {@link AuditLevel#ALL} by default. Nodes that share a database should agree.
         */
        public Builder audit(AuditLevel level) {
            audit = level;
            return this;
        }

        /**
         * Encrypts stored results: those of entries, however they are executed and settled, those of steps, and
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
            return opening.apply(new StoreOpening.Options(schema, clock, sealing, audit));
        }
    }
}
