package dev.onlyonce.spring;

import dev.onlyonce.Event;
import dev.onlyonce.Key;
import dev.onlyonce.Listener;
import dev.onlyonce.State;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** Counts decisions by operation and tenant, and what goes wrong. Tenants past the first hundred share one tag. */
final class OnlyonceMeters implements Listener {
    /** What a time series database takes without complaint. */
    private static final int TENANTS_MAX = 100;

    private static final String OTHERS = "others";

    private final MeterRegistry registry;
    private final Set<String> tenants = ConcurrentHashMap.newKeySet();
    private final Map<Decided, Counter> decisions = new ConcurrentHashMap<>();

    private record Decided(Event.Decision decision, String operation, String tenant) {}

    OnlyonceMeters(MeterRegistry registry) {
        this.registry = registry;
        // Alerts need to see a zero before they can see a one.
        for (String name : new String[] {
            "store.error",
            "zombie_key",
            "ttl_pruned",
            "reconcile.scheduled",
            "reconcile.resolved",
            "reconcile.failed",
            "outbox.delivered",
            "outbox.retried",
            "outbox.dead"
        }) {
            registry.counter(name);
        }
    }

    @Override
    public void on(Event event) {
        if (event instanceof Event.Decided decided) {
            decisions
                    .computeIfAbsent(
                            new Decided(decided.decision(), decided.key().operation(), tenant(decided.key())),
                            this::counter)
                    .increment();
        } else if (event instanceof Event.Changed changed) {
            if (changed.transition().to() == State.UNKNOWN) {
                registry.counter("reconcile.scheduled").increment();
            } else if (changed.transition().from() == State.UNKNOWN) {
                registry.counter("reconcile.resolved").increment();
            }
        } else if (event instanceof Event.Reconciled reconciled
                && reconciled.progress() == Event.Reconciled.Progress.FAILED) {
            registry.counter("reconcile.failed").increment();
        } else if (event instanceof Event.ClaimLost) {
            registry.counter("zombie_key").increment();
        } else if (event instanceof Event.StoreFailed) {
            registry.counter("store.error").increment();
        } else if (event instanceof Event.Delivery delivery) {
            registry.counter("outbox." + delivery.fate().name().toLowerCase(Locale.ROOT))
                    .increment();
        } else if (event instanceof Event.Purged purged) {
            registry.counter("ttl_pruned").increment(purged.entries());
        }
    }

    private Counter counter(Decided decided) {
        return registry.counter(
                "api.idempotency.reserve." + decided.decision().name().toLowerCase(Locale.ROOT),
                "operation",
                decided.operation(),
                "tenant",
                decided.tenant());
    }

    private String tenant(Key key) {
        String tenant = key.tenant();
        boolean named = tenants.contains(tenant) || (tenants.size() < TENANTS_MAX && tenants.add(tenant));
        return named ? tenant : OTHERS;
    }
}
