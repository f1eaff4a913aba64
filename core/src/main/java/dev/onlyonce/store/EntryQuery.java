package dev.onlyonce.store;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Which entries an operator wants to see. Empty parts do not restrict.
 *
 * @param tenant of this tenant
 * @param operation of this operation
 * @param state in this state
 * @param olderThan first claimed at least this long ago
 * @param after continue after this entry, in the order of ids
 * @param limit the size of a page, 1 to {@value #LIMIT_MAX}
 */
public record EntryQuery(
        @Nullable String tenant,
        @Nullable String operation,
        @Nullable State state,
        @Nullable Duration olderThan,
        @Nullable EntryId after,
        int limit) {
    /** A page that fits in memory with 1 MiB results. */
    public static final int LIMIT_MAX = 1000;

    /** Checks the limit. */
    public EntryQuery {
        if (limit < 1 || limit > LIMIT_MAX) {
            throw new IllegalArgumentException("limit must be between 1 and " + LIMIT_MAX + ": " + limit);
        }
    }

    /** All entries, the first {@code limit} of them. */
    public static EntryQuery all(int limit) {
        return new EntryQuery(null, null, null, null, null, limit);
    }

    /** The same for one state only. */
    public EntryQuery in(State state) {
        return new EntryQuery(tenant, operation, state, olderThan, after, limit);
    }

    /** The next page. */
    public EntryQuery after(EntryId last) {
        return new EntryQuery(tenant, operation, state, olderThan, last, limit);
    }

    /** Whether the entry, as readers see it, is one of those. Its place after {@link #after} and the limit are left to the listing. */
    public boolean matches(Entry shown) {
        return (tenant == null || tenant.equals(shown.id().tenant()))
                && (operation == null || operation.equals(shown.operation()))
                && (state == null || state == shown.state())
                && (olderThan == null || !shown.createdAt().plus(olderThan).isAfter(shown.readAt()));
    }
}
