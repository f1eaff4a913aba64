package dev.onlyonce.cassandra;

import dev.onlyonce.store.EntryId;
import dev.onlyonce.store.State;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;

/**
 * The open claims that this node knows, so that it need not read an entry before it settles or renews it. May be wrong, and forgets the
 * oldest: every write is conditional on the token, and what is not known here is read.
 */
final class OpenClaims {
    /** About 16 MB. */
    private static final int SIZE_MAX = 20_000;

    private final Map<UUID, StoredEntry> entries = new LinkedHashMap<>() {
        private static final long serialVersionUID = 1;

        @Override
        protected boolean removeEldestEntry(Map.Entry<UUID, StoredEntry> eldest) {
            return size() > SIZE_MAX;
        }
    };

    synchronized Optional<StoredEntry> of(EntryId id, UUID token) {
        return Optional.ofNullable(entries.get(token))
                .filter(entry -> entry.id().equals(id));
    }

    /** Remembers the entry after a change, if it is a claim; else forgets its token. */
    synchronized void changed(Change change) {
        StoredEntry entry = change.entry();
        UUID token = entry == null ? null : entry.hold().token();
        if (entry == null || token == null) {
            return;
        }
        if (entry.state() == State.PROCESSING) {
            entries.put(token, entry);
        } else {
            entries.remove(token);
        }
    }
}
