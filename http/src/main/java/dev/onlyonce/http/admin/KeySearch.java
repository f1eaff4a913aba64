package dev.onlyonce.http.admin;

import dev.onlyonce.http.Quantity;
import dev.onlyonce.store.Entry;
import dev.onlyonce.store.EntryId;
import dev.onlyonce.store.EntryQuery;
import dev.onlyonce.store.State;
import dev.onlyonce.store.Store;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * Searches entries in the order of their ids. Only tenant, prefix and the unknown state have an index, and no other condition may make a
 * store read its whole table. So a search looks at a bounded number of entries, one page after the other, and says where it stopped.
 */
final class KeySearch {
    /** A tenth of a second of a database's time. */
    static final int LOOKED_AT_MAX = 10_000;

    private final Store store;
    private final Condition condition;
    private final int limit;
    private final List<Entry> found = new ArrayList<>();
    private int lookedAt;
    private @Nullable EntryId next;

    /** What a search has found. */
    record Found(List<Entry> entries, @Nullable EntryId next, int lookedAt, boolean isPartial) {}

    private record Condition(
            @Nullable String tenant,
            @Nullable String operation,
            @Nullable State state,
            @Nullable Duration olderThan,
            @Nullable Duration newerThan,
            @Nullable String node,
            @Nullable String prefix) {

        static Condition of(AdminOperator.KeyFilter filter) {
            String prefix = filter.prefix() == null || filter.prefix().isEmpty() ? null : filter.prefix();
            if (prefix != null && filter.tenant() == null) {
                throw new IllegalArgumentException("a prefix is searched in one tenant: say which");
            }
            return new Condition(
                    filter.tenant(),
                    filter.operation(),
                    filter.state() == null ? null : named(filter.state()),
                    filter.olderThan() == null ? null : Quantity.duration(filter.olderThan()),
                    filter.newerThan() == null ? null : Quantity.duration(filter.newerThan()),
                    filter.node(),
                    prefix);
        }

        boolean fits(Entry entry) {
            Duration age = Duration.between(entry.createdAt(), entry.readAt());
            return (operation == null || operation.equals(entry.operation()))
                    && (state == null || state == entry.state())
                    && (olderThan == null || age.compareTo(olderThan) >= 0)
                    && (newerThan == null || age.compareTo(newerThan) <= 0)
                    && (node == null || node.equals(entry.owner()));
        }

        /** Whether the store looks at no more entries than it returns. */
        boolean isIndexed() {
            return operation == null
                    && (state == null || state == State.UNKNOWN)
                    && olderThan == null
                    && newerThan == null
                    && node == null;
        }

        EntryQuery query(@Nullable EntryId after, int size) {
            return new EntryQuery(tenant, null, state == State.UNKNOWN ? state : null, null, after, size);
        }

        /** Where the keys with the prefix begin: keys that are unique in their tenant first, then those of the operation. */
        List<EntryId> beginnings() {
            List<EntryId> beginnings = new ArrayList<>();
            if (prefix != null && tenant != null) {
                beginnings.add(new EntryId(tenant, "", prefix));
                if (operation != null) {
                    beginnings.add(new EntryId(tenant, operation, prefix));
                }
            }
            return beginnings;
        }
    }

    private KeySearch(Store store, AdminOperator.KeyFilter filter) {
        this.store = store;
        condition = Condition.of(filter);
        limit = EntryQuery.all(filter.limit()).limit();
    }

    /** One page. */
    static Found page(Store store, AdminOperator.KeyFilter filter, @Nullable EntryId after) {
        KeySearch search = new KeySearch(store, filter);
        if (search.condition.prefix() == null) {
            search.scan(after, null);
        } else {
            search.scanPrefixes(after);
        }
        boolean partial = search.next != null && search.found.size() < search.limit;
        return new Found(search.found, search.next, search.lookedAt, partial);
    }

    private void scanPrefixes(@Nullable EntryId after) {
        for (EntryId beginning : condition.beginnings()) {
            if (after != null && after.scope().compareTo(beginning.scope()) > 0) {
                continue;
            }
            boolean within = after != null && after.scope().equals(beginning.scope());
            if (!within) {
                store.find(List.of(beginning)).get(0).filter(condition::fits).ifPresent(found::add);
                lookedAt++;
            }
            if (found.size() >= limit) {
                next = beginning;
                return;
            }
            if (scan(within ? after : beginning, beginning)) {
                return;
            }
        }
    }

    /**
     * Looks at entries until there are enough of them, or enough was looked at.
     *
     * @param prefix the scope and the prefix to stay in
     * @return whether it stopped before the end
     */
    private boolean scan(@Nullable EntryId after, @Nullable EntryId prefix) {
        EntryId from = after;
        while (true) {
            int size = condition.isIndexed() ? limit - found.size() : EntryQuery.LIMIT_MAX;
            List<Entry> page = store.list(condition.query(from, size));
            for (Entry entry : page) {
                if (prefix != null && !isWithin(entry.id(), prefix)) {
                    return false;
                }
                lookedAt++;
                from = entry.id();
                if (condition.fits(entry)) {
                    found.add(entry);
                    if (found.size() == limit) {
                        next = from;
                        return true;
                    }
                }
            }
            if (page.size() < size) {
                return false;
            }
            if (lookedAt >= LOOKED_AT_MAX) {
                next = from;
                return true;
            }
        }
    }

    private static boolean isWithin(EntryId id, EntryId prefix) {
        return id.tenant().equals(prefix.tenant())
                && id.scope().equals(prefix.scope())
                && id.key().startsWith(prefix.key());
    }

    private static State named(String name) {
        try {
            return State.valueOf(name.toUpperCase(Locale.ROOT));
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException(
                    "no state \"" + name
                            + "\"; use pending, processing, completed, failed, retryable, unknown or expired",
                    e);
        }
    }
}
