package dev.onlyonce.dynamodb;

import dev.onlyonce.store.State;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;

/**
 * Removes old audit records from items. Entries that expire keep theirs until they end: only unknown ones and those past their end are
 * looked at. An item that another node was faster with is passed over.
 */
record AuditPurge(Table table, DueIndex index, Changes changes) {
    /** How many audit records a key may have on average for its purge to reach its limit in few rounds: an ordinary life has two. */
    private static final int RECORDS = 4;

    /** Removes records up to this time, at most {@code limit}; says how many. */
    int run(long until, int limit) {
        int purged = 0;
        for (IndexKind kind : List.of(IndexKind.AUDIT, IndexKind.UNKNOWN)) {
            List<ItemKey> keys = purged < limit ? index.find(kind, until, limit - purged) : List.of();
            for (int from = 0; from < keys.size() && purged < limit; ) {
                int to = Math.min(keys.size(), from + Math.max(1, (limit - purged) / RECORDS));
                purged += trim(keys.subList(from, to), until, (limit - purged) / (to - from));
                from = to;
            }
        }
        return purged;
    }

    private int trim(List<ItemKey> keys, long until, int maxOfEach) {
        List<CompletableFuture<Integer>> requests = new ArrayList<>();
        for (ItemKey key : keys) {
            requests.add(table.get(key)
                    .thenCompose(found -> found.filter(AuditPurge::isTrimmed)
                            .map(item -> item.read(old -> trim(old, until, maxOfEach)))
                            .orElse(CompletableFuture.completedFuture(0))));
        }
        int purged = 0;
        int failed = 0;
        for (CompletableFuture<Integer> request : requests) {
            try {
                purged += request.join();
            } catch (CompletionException e) {
                failed++;
                if (failed == requests.size()) {
                    throw ServiceFailure.of(e);
                }
            }
        }
        return purged;
    }

    private CompletableFuture<Integer> trim(Item old, long until, int max) {
        Changes.Trimmed trimmed = changes.trim(old, until, max);
        return trimmed.count() == 0
                ? CompletableFuture.completedFuture(0)
                : table.write(old, trimmed.rest())
                        .thenApply(outcome -> outcome instanceof Table.Outcome.Done ? trimmed.count() : 0);
    }

    private static boolean isTrimmed(Item old) {
        return old.state() == null || old.state() == State.UNKNOWN;
    }
}
