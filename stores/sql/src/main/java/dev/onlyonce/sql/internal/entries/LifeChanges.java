package dev.onlyonce.sql.internal.entries;

import dev.onlyonce.store.AuditLevel;
import dev.onlyonce.store.ClaimRequest;
import dev.onlyonce.store.ClaimResult;
import dev.onlyonce.store.Decision;
import dev.onlyonce.store.Entry;
import dev.onlyonce.store.EntryId;
import dev.onlyonce.store.Life;
import dev.onlyonce.store.Resolution;
import dev.onlyonce.store.SettleResult;
import dev.onlyonce.store.Settlement;
import dev.onlyonce.store.State;
import dev.onlyonce.store.Transition;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Changes entries that exist, on every database, for everything that is not a short cut:
 *
 * <ol>
 *   <li>It locks their rows with one statement and reads them, with the database's clock. A locked row is skipped or waited for.
 *   <li>It asks {@link Life}. If an entry would become retryable, it reads whether something waits for the rest of it, and asks again.
 *   <li>It writes what {@code Life} says, and the audit, each with one statement for the batch, in the same transaction.
 * </ol>
 *
 * <p>No rule is here and none is in {@link ChangeTexts}. When a purge looks at an entry again is no rule of its life, but of the index.
 */
public final class LifeChanges {
    /** When a purge looks again at an entry that cannot expire now, or that it cannot read. */
    private static final Duration LATER = Duration.ofDays(1);
    /** So that a retention of zero does not spin. */
    private static final Duration SOON = Duration.ofSeconds(1);

    private static final Logger log = LoggerFactory.getLogger(LifeChanges.class);

    private final SqlDialect database;
    private final AuditLevel level;
    private final Columns columns;
    private final ChangeTexts texts;
    private final RowBatches batches;

    LifeChanges(SqlDialect database, AuditLevel level) {
        this.database = database;
        this.level = level;
        this.columns = Columns.of(database.kind());
        this.texts = new ChangeTexts(database.kind());
        this.batches = new RowBatches(database);
    }

    /** How long a change waits for locks, and whether it waits for rows. */
    enum Waiting {
        /** Goes around locked rows; others wait with it. */
        HARDLY,
        /** Goes around locked rows. */
        BRIEFLY,
        /** Waits for these rows and no others, as an operator does. */
        PATIENTLY
    }

    /** What waits for the rest of an entry. */
    private record HalfDone(boolean steps, boolean lasting) {
        private static final HalfDone NO = new HalfDone(false, false);
    }

    @FunctionalInterface
    private interface Rule<R> {
        Decision<R> decide(LockedEntry entry, HalfDone halfDone);
    }

    /** Claims entries that are not locked: takes, keeps or replaces them. Returns the attempts of those claimed. */
    public Map<EntryId, Integer> claim(Connection connection, List<ClaimRequest> claims) throws SQLException {
        return database.changing(connection, Waiting.HARDLY, c -> claim(c, claims, false));
    }

    /** The same in a transaction that is open. */
    Map<EntryId, Integer> claim(Connection c, List<ClaimRequest> claims, boolean waits) throws SQLException {
        return claimed(claims, lockAll(c, claims, waits), c);
    }

    /** As {@link #claim}, but never makes a new entry of one that is gone. */
    public Map<EntryId, Integer> take(Connection connection, List<ClaimRequest> claims) throws SQLException {
        return database.changing(connection, Waiting.HARDLY, c -> {
            Map<EntryId, LockedEntry> standing = lockAll(c, claims, false);
            standing.values().removeIf(e -> Life.visible(e.entry(), e.now()).isEmpty());
            return claimed(claims, standing, c);
        });
    }

    private Map<EntryId, LockedEntry> lockAll(Connection c, List<ClaimRequest> claims, boolean waits)
            throws SQLException {
        return lock(c, claims.stream().map(ClaimRequest::id).toList(), waits);
    }

    private Map<EntryId, Integer> claimed(List<ClaimRequest> claims, Map<EntryId, LockedEntry> locked, Connection c)
            throws SQLException {
        Map<EntryId, ClaimRequest> requests = byId(claims, ClaimRequest::id);
        Map<EntryId, Integer> attempts = new HashMap<>();
        change(c, locked, (e, halfDone) -> Life.claim(e.entry(), request(requests, e), e.now()))
                .forEach((id, result) -> {
                    if (result instanceof ClaimResult.Claimed claimed) {
                        attempts.put(id, claimed.attempt());
                    }
                });
        return attempts;
    }

    /** Ends claims and acceptances whose time is over and that are not locked. Returns what became of them. */
    public List<Transition> sweep(Connection connection, List<EntryId> ids) throws SQLException {
        return database.changing(connection, Waiting.BRIEFLY, c -> {
            Map<EntryId, LockedEntry> locked = lock(c, ids, false, this::readOrLog);
            return change(c, locked, (e, halfDone) -> Life.sweep(e.entry(), halfDone.steps, e.now())).values().stream()
                    .flatMap(Optional::stream)
                    .toList();
        });
    }

    /**
     * Settles entries of which finished steps may wait for the rest, or whose owners come back to them, and that are not locked.
     *
     * @return those that changed
     */
    Map<EntryId, SettleResult> settle(Connection connection, List<Settlement> settlements) throws SQLException {
        return database.changing(connection, Waiting.BRIEFLY, c -> {
            Map<EntryId, LockedEntry> locked =
                    lock(c, settlements.stream().map(Settlement::id).toList(), false);
            Map<EntryId, Settlement> requests = byId(settlements, Settlement::id);
            return change(
                    c,
                    locked,
                    (e, halfDone) ->
                            Life.settle(e.entry(), request(requests, e), halfDone.steps || halfDone.lasting, e.now()));
        });
    }

    /** Moves unknown entries on. Returns those changed. */
    public Map<EntryId, SettleResult.Settled> resolve(Connection connection, List<Resolution> resolutions)
            throws SQLException {
        return database.changing(connection, Waiting.PATIENTLY, c -> {
            Map<EntryId, LockedEntry> locked =
                    lock(c, resolutions.stream().map(Resolution::id).toList(), true);
            Map<EntryId, Resolution> requests = byId(resolutions, Resolution::id);
            Map<EntryId, SettleResult.Settled> settled = new HashMap<>();
            change(
                            c,
                            locked,
                            (e, halfDone) -> Life.resolve(
                                    e.entry(), request(requests, e), halfDone.steps || halfDone.lasting, e.now()))
                    .forEach((id, result) -> {
                        if (result instanceof SettleResult.Settled now) {
                            settled.put(id, now);
                        }
                    });
            return settled;
        });
    }

    /** Deletes an entry whose retention runs, for an operator. */
    public Optional<Transition> evict(Connection connection, EntryId id, String who, String reason)
            throws SQLException {
        return database.changing(connection, Waiting.PATIENTLY, c -> {
            Map<EntryId, LockedEntry> locked = lock(c, List.of(id), true);
            Batch batch = new Batch();
            Optional<Transition> told = Optional.empty();
            for (LockedEntry entry : locked.values()) {
                Decision<Optional<Transition>> decision = Life.evict(entry.entry(), who, reason, entry.now());
                told = decision.answer();
                // An operator's deletion leaves the whole life behind, whatever the level.
                batch.add(entry, decision, true);
            }
            write(c, batch);
            return told;
        });
    }

    /**
     * What one visit of a purge did.
     *
     * @param visited how many entries it looked at
     * @param removed how many of them it deleted or made tombstones
     */
    public record Purged(int visited, int removed) {}

    /** Visits entries whose {@code reap_at} has come: deletes, makes tombstones, or puts off. Skips locked ones. */
    public Purged purge(Connection connection, int limit) throws SQLException {
        return database.changing(connection, Waiting.BRIEFLY, c -> {
            Batch batch = new Batch();
            int visited = 0;
            int removed = 0;
            for (Due due : batches.due(c, texts.due(), limit, this::due)) {
                visited++;
                Optional<LockedEntry> entry = due.entry;
                if (entry.isEmpty()) {
                    batch.putOffs.add(new ChangeTexts.PutOff(due.id, due.now.plus(LATER)));
                    continue;
                }
                Decision<Boolean> decision =
                        Life.purge(entry.get().entry(), entry.get().now());
                if (decision.answer()) {
                    removed++;
                    batch.add(entry.get(), decision, level == AuditLevel.ALL);
                } else {
                    batch.putOffs.add(putOff(entry.get().entry()));
                }
            }
            write(c, batch);
            return new Purged(visited, removed);
        });
    }

    /** An entry that a purge looks at; none if it cannot be read. */
    private record Due(EntryId id, Instant now, Optional<LockedEntry> entry) {}

    private Due due(ResultSet row) throws SQLException {
        return new Due(StoredEntry.id(row, 1, columns), StoredEntry.instant(row.getLong(21)), readOrLog(row));
    }

    /** One that cannot be read, because a newer release wrote it, must not hold up the others. */
    private Optional<LockedEntry> readOrLog(ResultSet row) throws SQLException {
        try {
            return Optional.of(LockedEntry.read(row, columns));
        } catch (IllegalArgumentException e) {
            log.error("An entry is left alone: {}", e.getMessage());
            return Optional.empty();
        }
    }

    /**
     * Settled entries are put off until they expire, others until they could expire if they were settled now; unknown ones cannot.
     */
    private static ChangeTexts.PutOff putOff(Entry entry) {
        boolean open = entry.expiresAt() == null && entry.state() != State.UNKNOWN;
        Duration retention = entry.terms().retention();
        Instant at = open
                ? entry.readAt().plus(retention.compareTo(SOON) < 0 ? SOON : retention)
                : entry.state() == State.UNKNOWN ? entry.readAt().plus(LATER) : reapAt(entry, entry.readAt());
        return new ChangeTexts.PutOff(entry.id(), at);
    }

    private static Instant reapAt(Entry next, Instant now) {
        Instant expiresAt = next.expiresAt();
        if (expiresAt == null) {
            return now.plus(next.terms().retention());
        }
        return next.state() == State.EXPIRED ? Life.goneAt(next).orElse(expiresAt) : expiresAt;
    }

    /** What is written together. */
    private static final class Batch {
        private final List<ChangeTexts.Written> entries = new ArrayList<>();
        private final List<Entry> results = new ArrayList<>();
        private final List<EntryId> deleted = new ArrayList<>();
        private final List<ChangeTexts.PutOff> putOffs = new ArrayList<>();
        private final List<AuditRow> audit = new ArrayList<>();

        /**
         * Adds a decision.
         *
         * @param settlement whether a settlement that has no row of the audit gets one, if its entry ends
         */
        void add(LockedEntry before, Decision<?> decision, boolean settlement) {
            if (!(decision instanceof Decision.Change<?> change)) {
                return;
            }
            Entry next = change.next();
            if (next == null) {
                deleted.add(before.entry().id());
            } else {
                entries.add(new ChangeTexts.Written(next, reapAt(next, change.at())));
                if (next.result() != null) {
                    results.add(next);
                }
            }
            if (settlement) {
                before.subject().settlement().ifPresent(audit::add);
            }
            for (Transition transition : change.audit()) {
                State from = transition.from();
                if (from != null) {
                    audit.add(before.audit(transition, from, change.at()));
                }
            }
        }
    }

    /** Lets the rule decide about each entry, and writes what it says; the answers about those that change. */
    private <R> Map<EntryId, R> change(Connection c, Map<EntryId, LockedEntry> locked, Rule<R> rule)
            throws SQLException {
        Map<EntryId, Decision<R>> decisions = new LinkedHashMap<>();
        List<EntryId> retryable = new ArrayList<>();
        locked.forEach((id, entry) -> {
            Decision<R> decision = rule.decide(entry, HalfDone.NO);
            decisions.put(id, decision);
            if (decision instanceof Decision.Change<R> change
                    && change.next() != null
                    && change.next().state() == State.RETRYABLE) {
                retryable.add(id);
            }
        });
        halfDone(c, retryable).forEach((id, halfDone) -> {
            LockedEntry entry = locked.get(id);
            if (entry != null) {
                decisions.put(id, rule.decide(entry, halfDone));
            }
        });
        Batch batch = new Batch();
        Map<EntryId, R> answers = new LinkedHashMap<>();
        decisions.forEach((id, decision) -> {
            LockedEntry entry = locked.get(id);
            if (entry != null && decision instanceof Decision.Change<R>) {
                batch.add(entry, decision, level == AuditLevel.ALL);
                answers.put(id, decision.answer());
            }
        });
        write(c, batch);
        return answers;
    }

    private Map<EntryId, LockedEntry> lock(Connection c, List<EntryId> ids, boolean waits) throws SQLException {
        return lock(c, ids, waits, row -> Optional.of(LockedEntry.read(row, columns)));
    }

    private Map<EntryId, LockedEntry> lock(
            Connection c, List<EntryId> ids, boolean waits, RowReader<Optional<LockedEntry>> reader)
            throws SQLException {
        Map<EntryId, LockedEntry> locked = new LinkedHashMap<>();
        batches.read(c, texts.lock(waits), ids, reader)
                .forEach(found -> found.ifPresent(e -> locked.put(e.entry().id(), e)));
        return locked;
    }

    private Map<EntryId, HalfDone> halfDone(Connection c, List<EntryId> ids) throws SQLException {
        Map<EntryId, HalfDone> found = new HashMap<>();
        if (!ids.isEmpty()) {
            batches.read(
                    c,
                    texts.halfDone(),
                    ids,
                    row -> found.put(
                            StoredEntry.id(row, 1, columns), new HalfDone(row.getInt(4) == 1, row.getInt(5) == 1)));
        }
        return found;
    }

    private void write(Connection c, Batch batch) throws SQLException {
        batches.write(c, texts.write(), ChangeTexts.ENTRIES, batch.entries);
        for (Entry entry : batch.results) {
            batches.writeResult(c, entry);
        }
        batches.write(c, texts.delete(), ChangeTexts.IDS, batch.deleted);
        batches.write(c, texts.putOff(), ChangeTexts.PUT_OFFS, batch.putOffs);
        audit(c, batch.audit);
    }

    /** Writes rows of the audit. */
    void audit(Connection c, List<AuditRow> rows) throws SQLException {
        batches.write(c, texts.audit(), ChangeTexts.AUDIT, rows);
    }

    private static <T> Map<EntryId, T> byId(List<T> items, Function<T, EntryId> id) {
        Map<EntryId, T> byId = new HashMap<>();
        items.forEach(item -> byId.put(id.apply(item), item));
        return byId;
    }

    private static <T> T request(Map<EntryId, T> requests, LockedEntry entry) {
        T request = requests.get(entry.entry().id());
        if (request == null) {
            throw new IllegalStateException("nobody asked for " + entry.entry().id());
        }
        return request;
    }
}
