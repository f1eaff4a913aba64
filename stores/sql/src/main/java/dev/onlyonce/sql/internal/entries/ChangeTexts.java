package dev.onlyonce.sql.internal.entries;

import dev.onlyonce.sql.internal.connections.SqlDatabase;
import dev.onlyonce.store.Entry;
import dev.onlyonce.store.EntryId;
import dev.onlyonce.store.Life;
import dev.onlyonce.store.State;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The statements that {@link LifeChanges} sends: each locks, reads or writes rows, and none has a rule. The texts are shared; a database
 * differs in how it takes a batch and how it locks.
 *
 * <ul>
 *   <li>PostgreSQL takes one array for each column.
 *   <li>MySQL takes what stands between {@code each} and the next comment once for every row. {@code STRAIGHT_JOIN} makes the batch drive
 *       the look-ups, and {@code FORCE INDEX} keeps MySQL from reading, and locking, a small table as a whole.
 *   <li>SQLite and H2 have no network to save round trips on: they take one row after the other.
 * </ul>
 */
final class ChangeTexts {
    private static final String ENTRY = """
            SELECT e.tenant, e.space, e.key_, e.operation, e.fingerprint_version, e.fingerprint, e.target, e.state, e.token, e.owner,
                   e.attempt, e.lease_us, e.on_lease_lost, e.retention_us, e.tombstone_us, e.created_at, e.lease_until,
                   e.settled_at, e.expires_at, NULL, {now}, e.settled_why
            FROM\s""";

    private static final String IS_KEY = "e.tenant = a.tenant AND e.space = a.space AND e.key_ = a.key_";
    private static final String IS_ROW = "tenant = ? AND space = ? AND key_ = ?";

    /** Whether finished steps, or a call that lasts, wait for the rest of an entry. */
    private static final String HALF_DONE = """
            SELECT e.tenant, e.space, e.key_,
                   CASE WHEN EXISTS (
                       SELECT 1 FROM onlyonce_step s
                       WHERE s.tenant = e.tenant AND s.space = e.space AND s.key_ = e.key_
                         AND s.entry_created_at = e.created_at) THEN 1 ELSE 0 END,
                   CASE WHEN EXISTS (
                       SELECT 1 FROM onlyonce_outbox o
                       WHERE o.tenant = e.tenant AND o.space = e.space AND o.key_ = e.key_
                         AND o.entry_created_at = e.created_at AND o.lasting = 1) THEN 1 ELSE 0 END
            FROM\s""";

    /** A result has a statement of its own, because MariaDB cuts long values short in an UPDATE with a join. */
    static final String RESULT = "UPDATE onlyonce_entry SET result = ? WHERE " + IS_ROW;

    static final BatchColumns<EntryId> IDS = new BatchColumns<EntryId>().key(id -> id);

    /** An entry, but for what no change of this kind leaves: a result, and the reason of an ordinary settlement. */
    static final BatchColumns<Written> ENTRIES = new BatchColumns<Written>()
            .text("operation", w -> w.entry.operation())
            .number("fingerprint_version", w -> w.entry.fingerprint().version())
            .bytes("fingerprint", w -> w.entry.fingerprint().digest())
            .text("target", w -> w.entry.fingerprint().target())
            .number("state", w -> w.entry.state().code())
            .token("token", w -> w.entry.token())
            .text("owner", w -> w.entry.owner())
            .number("attempt", w -> w.entry.attempt())
            .number("lease_us", w -> StoredEntry.micros(w.entry.terms().lease()))
            .number("on_lease_lost", w -> w.entry.terms().onLeaseLost().code())
            .number("retention_us", w -> StoredEntry.micros(w.entry.terms().retention()))
            .number("tombstone_us", w -> StoredEntry.micros(w.entry.terms().tombstone()))
            .number("created_at", w -> StoredEntry.micros(w.entry.createdAt()))
            .number("lease_until", w -> StoredEntry.micros(w.entry.leaseUntil()))
            .number("settled_at", w -> micros(w.entry.settledAt()))
            .number("expires_at", w -> micros(w.entry.expiresAt()))
            .number("purge_at", w -> micros(Life.goneAt(w.entry).orElse(null)))
            .number("unknown_since", w -> w.entry.state() == State.UNKNOWN ? micros(w.entry.settledAt()) : null)
            .number("reap_at", w -> StoredEntry.micros(w.reapAt))
            .key(w -> w.entry.id());

    static final BatchColumns<PutOff> PUT_OFFS = new BatchColumns<PutOff>()
            .number("reap_at", p -> StoredEntry.micros(p.reapAt))
            .key(PutOff::id);

    static final BatchColumns<AuditRow> AUDIT = new BatchColumns<AuditRow>()
            .number("at", AuditRow::at)
            .text("tenant", a -> a.subject().id().tenant())
            .text("space", a -> a.subject().id().scope())
            .text("key_", a -> a.subject().id().key())
            .text("operation", a -> a.subject().operation())
            .number("entry_created_at", a -> a.subject().createdAt())
            .text("made_by", AuditRow::madeBy)
            .number("attempt", AuditRow::attempt)
            .number("from_state", a -> a.from().code())
            .number("to_state", a -> code(a.to()))
            .text("who", AuditRow::who)
            .text("why", AuditRow::why);

    private final SqlDatabase kind;
    private final String lock;
    private final String due;
    private final String halfDone;
    private final String write;
    private final String putOff;
    private final String delete;
    private final String audit;

    ChangeTexts(SqlDatabase kind) {
        this.kind = kind;
        this.lock = ENTRY + keys();
        this.due = ENTRY + due(kind);
        this.halfDone = HALF_DONE + keys();
        this.write = update(ENTRIES, ", result = NULL, settled_why = NULL");
        this.putOff = update(PUT_OFFS, "");
        this.delete = deletion();
        this.audit = insert("onlyonce_audit", AUDIT);
    }

    /**
     * An entry from now on.
     *
     * @param reapAt when a purge looks at it
     */
    record Written(Entry entry, Instant reapAt) {}

    /** An entry that a purge looks at later. */
    record PutOff(EntryId id, Instant reapAt) {}

    /** Reads and locks entries: goes around those that somebody else has locked, or waits for them. */
    String lock(boolean waits) {
        return lock + locked(waits);
    }

    /** Reads and locks the first entries that a purge has to look at. */
    String due() {
        return due + locked(false);
    }

    /** Reads what waits for the rest of entries that are locked. */
    String halfDone() {
        return halfDone;
    }

    /** Writes entries. */
    String write() {
        return write;
    }

    /** Writes when a purge looks at entries. */
    String putOff() {
        return putOff;
    }

    /** Deletes entries. */
    String delete() {
        return delete;
    }

    /** Writes the audit. */
    String audit() {
        return audit;
    }

    /** All of them, with a name for each. */
    Map<String, String> all() {
        Map<String, String> all = new LinkedHashMap<>();
        all.put("change: lock", lock(false));
        all.put("change: lock, waiting", lock(true));
        all.put("change: half done", halfDone);
        all.put("change: write", write);
        all.put("change: result", RESULT);
        all.put("change: delete", delete);
        all.put("change: audit", audit);
        all.put("purge: lock what is due", due());
        all.put("purge: put off", putOff);
        return all;
    }

    private String locked(boolean waits) {
        String skip = waits ? "" : " SKIP LOCKED";
        return switch (kind) {
            case POSTGRESQL -> "\nFOR UPDATE OF e" + skip;
            case MYSQL, H2 -> "\nFOR UPDATE" + skip;
            case SQLITE -> "";
        };
    }

    /** H2 would lock all rows that are due, and then sort them; the index is in order. */
    private static String due(SqlDatabase kind) {
        return kind == SqlDatabase.H2
                ? "onlyonce_entry e USE INDEX (onlyonce_entry_reap)\nWHERE e.reap_at <= {now}\nLIMIT ?"
                : "onlyonce_entry e\nWHERE e.reap_at <= {now}\nORDER BY e.reap_at LIMIT ?";
    }

    private String keys() {
        return switch (kind) {
            case POSTGRESQL -> batch(IDS) + "\nJOIN onlyonce_entry e ON " + IS_KEY;
            case MYSQL -> batch(IDS) + straightJoin();
            case SQLITE, H2 -> "onlyonce_entry e\nWHERE " + IS_ROW;
        };
    }

    private static String straightJoin() {
        return "\nSTRAIGHT_JOIN onlyonce_entry AS e FORCE INDEX (PRIMARY) ON " + IS_KEY;
    }

    private String batch(BatchColumns<?> columns) {
        return kind == SqlDatabase.POSTGRESQL
                ? "(SELECT " + columns.arrays() + ") AS a"
                : "(/*each*/ SELECT " + columns.parameters() + " /*UNION ALL*/) AS a";
    }

    private String update(BatchColumns<?> columns, String more) {
        return switch (kind) {
            case POSTGRESQL ->
                "UPDATE onlyonce_entry e\nSET " + columns.assignments("") + more + "\nFROM " + batch(columns)
                        + "\nWHERE " + IS_KEY;
            case MYSQL -> "UPDATE " + batch(columns) + straightJoin() + "\nSET " + columns.assignments("e.") + more;
            case SQLITE, H2 -> "UPDATE onlyonce_entry\nSET " + columns.assignments() + more + "\nWHERE " + IS_ROW;
        };
    }

    private String deletion() {
        return switch (kind) {
            case POSTGRESQL -> "DELETE FROM onlyonce_entry e\nUSING " + batch(IDS) + "\nWHERE " + IS_KEY;
            case MYSQL -> "DELETE e\nFROM " + batch(IDS) + straightJoin();
            case SQLITE, H2 -> "DELETE FROM onlyonce_entry\nWHERE " + IS_ROW;
        };
    }

    private String insert(String table, BatchColumns<?> columns) {
        String into = "INSERT INTO " + table + " (" + columns.names() + ")\n";
        return switch (kind) {
            case POSTGRESQL -> into + "SELECT " + columns.arrays();
            case MYSQL -> into + "VALUES /*each*/ (" + columns.placeholders() + ") /*,*/";
            case SQLITE, H2 -> into + "VALUES (" + columns.placeholders() + ")";
        };
    }

    private static @Nullable Long micros(@Nullable Instant instant) {
        return instant == null ? null : Long.valueOf(StoredEntry.micros(instant));
    }

    private static @Nullable Integer code(@Nullable State state) {
        return state == null ? null : Integer.valueOf(state.code());
    }
}
