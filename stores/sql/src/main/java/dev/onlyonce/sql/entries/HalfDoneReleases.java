package dev.onlyonce.sql.entries;

import dev.onlyonce.sql.connections.Calls;
import dev.onlyonce.sql.connections.SqlDatabase;
import dev.onlyonce.store.Entry;
import dev.onlyonce.store.EntryId;
import dev.onlyonce.store.SettleResult;
import dev.onlyonce.store.Settlement;
import dev.onlyonce.store.State;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Keeps the entries of half-done stepped operations past their retention: an operation that has begun is not forgotten and
 * begun again.
 *
 * <ol>
 *   <li>Before a stepped operation releases its claim, it registers the claim's token here.
 *   <li>Before the store settles a registered claim, it extends the entry's retention, if any step was recorded. If that
 *       fails, the settlement fails too, and the engine sends it again: in the background, and before a sweep. An entry that
 *       somebody else has locked is not waited for: other callers' settlements are in the same call.
 *   <li>The token is forgotten when the store has answered the settlement. An entry whose settlement is never answered is
 *       swept, and the sweep does the same.
 * </ol>
 */
public final class HalfDoneReleases {
    /** For ten years: longer than any client waits. */
    private static final String KEEP = """
            UPDATE onlyonce_entry SET retention_us = 315360000000000
            WHERE tenant = ? AND space = ? AND key_ = ? AND token = ? AND state = 2
              AND EXISTS (
                SELECT 1 FROM onlyonce_step s
                WHERE s.tenant = onlyonce_entry.tenant AND s.space = onlyonce_entry.space
                  AND s.key_ = onlyonce_entry.key_ AND s.entry_created_at = onlyonce_entry.created_at)""";

    /** Where the database locks rows. */
    private static final String LOCK = """
            SELECT 1 FROM onlyonce_entry
            WHERE tenant = ? AND space = ? AND key_ = ?
            FOR UPDATE SKIP LOCKED""";

    private final Calls calls;
    private final Database database;
    private final Columns columns;
    private final Set<UUID> releasing = ConcurrentHashMap.newKeySet();

    /** For the entries of one database. */
    public HalfDoneReleases(Database database, Calls calls) {
        this.calls = calls;
        this.database = database;
        this.columns = Columns.of(database.kind());
    }

    /** The claim with this token is about to be released. */
    public void register(UUID token) {
        releasing.add(token);
    }

    /** How many claims are about to be released. */
    public int size() {
        return releasing.size();
    }

    /**
     * Extends the retention of the entries that are about to be released; throws {@link dev.onlyonce.store.StoreException}.
     *
     * @param settlements sorted by id
     * @return the entries that somebody else has locked: their claims must not be settled now
     */
    public Set<EntryId> keep(List<Settlement> settlements) {
        if (releasing.isEmpty()) {
            return Set.of();
        }
        List<Settlement> releases = settlements.stream()
                .filter(settlement -> releasing.contains(settlement.token()))
                .toList();
        if (releases.isEmpty()) {
            return Set.of();
        }
        List<Settlement> skipped =
                calls.transaction(transaction -> database.bounded(transaction, c -> keep(c, releases)));
        return skipped.isEmpty() ? Set.of() : held(skipped);
    }

    /** Returns those whose entry is locked or gone. */
    private List<Settlement> keep(Connection connection, List<Settlement> releases) throws SQLException {
        List<Settlement> skipped = new ArrayList<>();
        for (Settlement release : releases) {
            if (database.kind() == SqlDatabase.SQLITE || isLocked(connection, release.id())) {
                extend(connection, release);
            } else {
                skipped.add(release);
            }
        }
        return skipped;
    }

    /** Whether this transaction has the entry now. */
    private boolean isLocked(Connection connection, EntryId id) throws SQLException {
        try (PreparedStatement statement = database.prepare(connection, database.sql(LOCK))) {
            RowParameters.of(columns, id).bind(statement, 1);
            try (ResultSet row = statement.executeQuery()) {
                return row.next();
            }
        }
    }

    private void extend(Connection connection, Settlement release) throws SQLException {
        try (PreparedStatement statement = database.prepare(connection, database.sql(KEEP))) {
            int next = RowParameters.of(columns, release.id()).bind(statement, 1);
            columns.token(statement, next, release.token());
            statement.executeUpdate();
        }
    }

    /** Those that still are what they were when they were claimed. The others are lost, and settling them changes nothing. */
    private Set<EntryId> held(List<Settlement> skipped) {
        Map<EntryId, Entry> found = calls.read(connection ->
                database.find(connection, skipped.stream().map(Settlement::id).toList()));
        return skipped.stream()
                .filter(settlement -> isHeld(settlement, found.get(settlement.id())))
                .map(Settlement::id)
                .collect(Collectors.toUnmodifiableSet());
    }

    private static boolean isHeld(Settlement settlement, @Nullable Entry entry) {
        return entry != null
                && entry.state() == State.PROCESSING
                && settlement.token().equals(entry.token());
    }

    /** The store has answered these settlements. */
    public void answered(List<Settlement> settlements, List<SettleResult> results) {
        if (releasing.isEmpty()) {
            return;
        }
        for (int i = 0; i < settlements.size(); i++) {
            if (!(results.get(i) instanceof SettleResult.Busy)) {
                releasing.remove(settlements.get(i).token());
            }
        }
    }
}
