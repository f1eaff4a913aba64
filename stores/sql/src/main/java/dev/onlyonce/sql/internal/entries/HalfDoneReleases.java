package dev.onlyonce.sql.internal.entries;

import dev.onlyonce.sql.internal.connections.Connections;
import dev.onlyonce.store.Entry;
import dev.onlyonce.store.EntryId;
import dev.onlyonce.store.SettleResult;
import dev.onlyonce.store.Settlement;
import dev.onlyonce.store.State;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * Keeps the entries of half-done stepped operations past their retention: an operation that has begun is not forgotten and
 * begun again.
 *
 * <ol>
 *   <li>Before a stepped operation releases its claim, it registers the claim's token here.
 *   <li>The store settles registered claims through {@link LifeChanges}, which looks whether any step was recorded. An entry that
 *       somebody else has locked is not waited for: other callers' settlements are in the same call.
 *   <li>The token is forgotten when the store has answered the settlement. An entry whose settlement is never answered is
 *       swept, and the sweep does the same.
 * </ol>
 */
public final class HalfDoneReleases {
    private final Connections connections;
    private final SqlDialect database;
    private final Set<UUID> releasing = ConcurrentHashMap.newKeySet();

    /** For the entries of one database. */
    public HalfDoneReleases(SqlDialect database, Connections connections) {
        this.connections = connections;
        this.database = database;
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
     * Settles the claims that are about to be released; throws {@link dev.onlyonce.store.StoreException}.
     *
     * @param settlements sorted by id
     * @return the answers about those that are settled, or are locked and still stand; the others are left to the usual way
     */
    public Map<EntryId, SettleResult> settle(List<Settlement> settlements) {
        if (releasing.isEmpty()) {
            return Map.of();
        }
        List<Settlement> releases = settlements.stream()
                .filter(settlement -> releasing.contains(settlement.token()))
                .toList();
        if (releases.isEmpty()) {
            return Map.of();
        }
        Map<EntryId, SettleResult> answers =
                new HashMap<>(connections.write(c -> database.changes().settle(c, releases)));
        List<Settlement> rest =
                releases.stream().filter(r -> !answers.containsKey(r.id())).toList();
        if (!rest.isEmpty()) {
            Map<EntryId, Entry> found = EntryWriter.known(
                    () -> !answers.isEmpty(),
                    () -> connections.read(c ->
                            database.find(c, rest.stream().map(Settlement::id).toList())));
            rest.stream()
                    .filter(settlement -> isHeld(settlement, found.get(settlement.id())))
                    .forEach(settlement -> answers.put(settlement.id(), new SettleResult.Busy()));
        }
        return answers;
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
