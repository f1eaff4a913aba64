package dev.onlyonce.sql;

import dev.onlyonce.store.SettleResult;
import dev.onlyonce.store.Settlement;
import java.util.Comparator;
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
 *   <li>Before the store settles a registered claim as retryable, it extends the entry's retention, if any step was recorded.
 *       If that fails, the settlement fails too, and the engine sends it again: in the background, and before a sweep.
 *   <li>The token is forgotten when the store has answered the settlement. What is never answered is swept, and the sweep
 *       does the same.
 * </ol>
 */
final class HalfDone {
    private final StepTable table;
    private final Calls calls;
    private final Set<UUID> releasing = ConcurrentHashMap.newKeySet();

    HalfDone(StepTable table, Calls calls) {
        this.table = table;
        this.calls = calls;
    }

    /** The claim with this token is about to be released. */
    void register(UUID token) {
        releasing.add(token);
    }

    /** How many claims are about to be released. */
    int size() {
        return releasing.size();
    }

    /** Extends the retention of what is about to be released; throws {@link dev.onlyonce.store.StoreException}. */
    void keep(List<Settlement> settlements) {
        if (releasing.isEmpty()) {
            return;
        }
        List<StepTable.Owner> owners = settlements.stream()
                .filter(settlement -> releasing.contains(settlement.token()))
                .map(settlement -> new StepTable.Owner(settlement.id(), settlement.token()))
                .sorted(Comparator.comparing(StepTable.Owner::id))
                .toList();
        if (!owners.isEmpty()) {
            calls.transaction(c -> {
                for (StepTable.Owner owner : owners) {
                    table.keep(c, owner);
                }
                return true;
            });
        }
    }

    /** The store has answered these settlements. */
    void answered(List<Settlement> settlements, List<SettleResult> results) {
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
