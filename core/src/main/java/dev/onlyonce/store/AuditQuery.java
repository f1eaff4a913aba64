package dev.onlyonce.store;

import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * Which audit records an operator wants to see. Empty parts do not restrict.
 *
 * @param tenant of this tenant
 * @param from recorded at or after this instant, by the store's clock
 * @param after continue after this record, the last of the page before
 * @param limit the size of a page, 1 to {@value #LIMIT_MAX}; the first change of an entry may come on top, together with the
 *     second
 */
public record AuditQuery(
        @Nullable String tenant,
        @Nullable Instant from,
        @Nullable AuditRecord after,
        int limit) {
    /** A page that is read in one statement without holding up anybody. */
    public static final int LIMIT_MAX = 1000;

    /** Checks the limit. */
    public AuditQuery {
        if (limit < 1 || limit > LIMIT_MAX) {
            throw new IllegalArgumentException("limit must be between 1 and " + LIMIT_MAX + ": " + limit);
        }
    }

    /** All records, the oldest {@code limit} of them. */
    public static AuditQuery all(int limit) {
        return new AuditQuery(null, null, null, limit);
    }

    /** The next page. */
    public AuditQuery after(AuditRecord last) {
        return new AuditQuery(tenant, from, last, limit);
    }

    /** Whether the record is one of those. Its place after {@link #after} and the limit are left to the listing. */
    public boolean matches(AuditRecord record) {
        return (from == null || !record.at().isBefore(from))
                && (tenant == null || tenant.equals(record.transition().id().tenant()));
    }
}
