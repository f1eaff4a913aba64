package dev.onlyonce.sql.entries;

import dev.onlyonce.sql.connections.Calls;
import dev.onlyonce.store.SettleResult;
import dev.onlyonce.store.Settlement;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Keeps the entries of half-done stepped operations past their retention: an operation that has begun is not forgotten and
 * begun again.
 *
 * <ol>
 *   <li>Before a stepped operation releases its claim, it registers the claim's token here.
 *   <li>Before the store settles a registered claim, it extends the entry's retention, if any step was recorded. If that
 *       fails, the settlement fails too, and the engine sends it again: in the background, and before a sweep.
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
     */
    public void keep(List<Settlement> settlements) {
        if (releasing.isEmpty()) {
            return;
        }
        List<Settlement> releases = settlements.stream()
                .filter(settlement -> releasing.contains(settlement.token()))
                .toList();
        if (!releases.isEmpty()) {
            calls.transaction(connection -> {
                keep(connection, releases);
                return true;
            });
        }
    }

    private void keep(Connection connection, List<Settlement> releases) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(database.sql(KEEP))) {
            for (Settlement release : releases) {
                columns.text(statement, 1, release.id().tenant());
                columns.text(statement, 2, release.id().space());
                columns.text(statement, 3, release.id().key());
                columns.token(statement, 4, release.token());
                statement.executeUpdate();
            }
        }
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
