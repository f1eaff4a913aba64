package dev.onlyonce.http.admin;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The tenants that this node has most to do with.
 *
 * @param scope what was counted
 * @param limits what one tenant may do on this node
 */
public record TopTenants(String scope, List<TenantView> tenants, List<Operations.Named> limits) {
    /**
     * A tenant.
     *
     * @param created keys that were used for the first time
     * @param duplicates requests with a key that was in use
     * @param misuse requests with a key of another request
     * @param limited requests that came while the tenant was over a limit
     * @param liveKeys how many keys the store has
     */
    public record TenantView(
            String tenant,
            long created,
            long duplicates,
            long misuse,
            long limited,
            @Nullable Count liveKeys) {}
}
