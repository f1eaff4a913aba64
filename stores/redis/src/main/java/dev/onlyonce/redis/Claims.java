package dev.onlyonce.redis;

import dev.onlyonce.store.EntryId;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * The open claims that this node has made, so that it need not read an entry before it settles it. May be wrong, and forgets the oldest:
 * a settlement is made only if the entry is as it is known here, and what is not known is read. Any number of threads.
 */
final class Claims {
    /** About 16 MB. */
    private static final int SIZE_MAX = 20_000;

    private final Map<UUID, StoredEntry> entries = new LinkedHashMap<>() {
        private static final long serialVersionUID = 1;

        @Override
        protected boolean removeEldestEntry(Map.Entry<UUID, StoredEntry> eldest) {
            return size() > SIZE_MAX;
        }
    };

    synchronized @Nullable StoredEntry of(EntryId id, UUID token) {
        StoredEntry known = entries.get(token);
        return known != null && known.entry().id().equals(id) ? known : null;
    }

    synchronized void remember(StoredEntry claim) {
        UUID token = claim.entry().token();
        if (token != null) {
            entries.put(token, claim);
        }
    }

    synchronized void forget(UUID token) {
        entries.remove(token);
    }
}
