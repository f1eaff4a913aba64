package dev.onlyonce.http;

import dev.onlyonce.store.Entry;
import dev.onlyonce.store.State;
import java.util.Optional;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * One request's share of its tenant's limits. It is reserved before the key is claimed, so that requests which arrive together
 * cannot all pass a limit that has room for one. Thread-safe.
 *
 * <ol>
 *   <li>{@link #reserve} takes a share of every limit, or none.
 *   <li>{@link #began} spends it: the key was claimed and its action starts.
 *   <li>{@link #release} gives back what was not spent, and ends the execution. Every path must call it; repeating it does
 *       nothing.
 * </ol>
 */
final class LimitReservation {
    private final @Nullable TenantLimits limits;
    private final String tenant;
    private final String asker;
    private boolean live;
    private boolean token;
    private boolean stored;

    /**
     * Reserves nothing yet.
     *
     * @param tenant whose limits count
     * @param asker who asks, for operators: where all tenants are limited together, one of them
     */
    LimitReservation(@Nullable TenantLimits limits, String tenant, String asker) {
        this.limits = limits;
        this.tenant = tenant;
        this.asker = asker;
    }

    /** For a request that no limit applies to. */
    static LimitReservation none() {
        return new LimitReservation(null, "", "");
    }

    /** Whether any limit on keys applies. */
    boolean isLimited() {
        return limits != null;
    }

    /** Takes a share of every limit; otherwise takes nothing and returns the limit that is reached. */
    synchronized Optional<Problem.Report> reserve() {
        if (limits == null) {
            return Optional.empty();
        }
        live = limits.takeLive(tenant);
        stored = live && limits.takeStored(tenant);
        token = stored && limits.takeNewKey(tenant);
        if (token) {
            return Optional.empty();
        }
        Problem.Report over = !live ? limits.overLive() : !stored ? limits.overStored() : limits.overNewKeys(tenant);
        giveBack();
        limits.tell(asker);
        return Optional.of(over);
    }

    /**
     * As {@link #reserve}, but over its limits a tenant may still ask about keys that it has, and not run them again.
     *
     * @param find looks for the entry; called only over a limit
     */
    Optional<Problem.Report> admit(Supplier<Optional<Entry>> find) {
        Optional<Problem.Report> over = reserve();
        if (over.isEmpty()) {
            return over;
        }
        Optional<Entry> entry = find.get();
        if (entry.isEmpty()) {
            return over;
        }
        // Not a new key, but it may be executed.
        return entry.get().state() == State.RETRYABLE ? reserveLive() : Optional.empty();
    }

    /** Takes a share of the executions at once only, for a key that is not new; otherwise returns the limit that is reached. */
    private synchronized Optional<Problem.Report> reserveLive() {
        if (limits == null || live) {
            return Optional.empty();
        }
        live = limits.takeLive(tenant);
        return live ? Optional.empty() : Optional.of(limits.overLive());
    }

    /**
     * The key is claimed and its action starts. A retry of a key that exists takes its share now, even past the limit: it was
     * let through because it exists, and only few of those turn out to be executed.
     *
     * @param newKey whether the key was new: retries do not count as new keys
     */
    synchronized void began(boolean newKey) {
        if (limits == null) {
            return;
        }
        if (!live) {
            limits.forceLive(tenant);
            live = true;
        }
        if (newKey) {
            limits.spendNewKey(tenant, token);
            limits.spendStored(tenant, stored);
            token = false;
            stored = false;
        } else {
            giveBackKey();
        }
    }

    /** Gives back everything that is still held. */
    synchronized void release() {
        giveBack();
    }

    private void giveBack() {
        if (limits != null && live) {
            limits.giveLive(tenant);
            live = false;
        }
        giveBackKey();
    }

    private void giveBackKey() {
        if (limits != null && token) {
            limits.giveNewKey(tenant);
        }
        if (limits != null && stored) {
            limits.giveStored(tenant);
        }
        token = false;
        stored = false;
    }
}
