package dev.onlyonce.server.observe;

import dev.onlyonce.Event;
import dev.onlyonce.Key;
import dev.onlyonce.Listener;
import dev.onlyonce.State;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.Timer;
import io.micrometer.core.instrument.binder.jvm.JvmGcMetrics;
import io.micrometer.core.instrument.binder.jvm.JvmMemoryMetrics;
import io.micrometer.core.instrument.binder.system.ProcessorMetrics;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.time.Duration;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;

/**
 * Counts what happens, under the published names, for Prometheus. Tenants get a tag of their own up to a bound; the rest share
 * {@value #OTHERS}. Thread-safe.
 */
public final class Metrics implements Listener, AutoCloseable {
    /** The tag of tenants that came after the bound. */
    public static final String OTHERS = "(others)";

    /** The library keeps names that end in "created" for itself and would cut that off. */
    private static final String STAND_IN = "createdkeys";

    /** The parts of an exchange that are timed. */
    public enum Part {
        /** Claiming the key in the store. */
        CLAIM,
        /** From sending the request upstream to the last byte of its response. */
        UPSTREAM,
        /** Recording the outcome in the store. */
        SETTLE
    }

    private static final Duration[] BUCKETS = {
        Duration.ofMillis(1),
        Duration.ofMillis(2),
        Duration.ofMillis(5),
        Duration.ofMillis(10),
        Duration.ofMillis(25),
        Duration.ofMillis(50),
        Duration.ofMillis(100),
        Duration.ofMillis(250),
        Duration.ofMillis(500),
        Duration.ofSeconds(1),
        Duration.ofMillis(2500),
        Duration.ofSeconds(5),
        Duration.ofSeconds(10),
        Duration.ofSeconds(30)
    };

    private final PrometheusMeterRegistry registry = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
    private final int tenantsMax;
    private final Set<String> tenants = ConcurrentHashMap.newKeySet();
    private final Map<Decided, Counter> decisions = new ConcurrentHashMap<>();
    private final Map<Timed, Timer> timers = new ConcurrentHashMap<>();
    private final Map<String, Counter> counters = new ConcurrentHashMap<>();
    private final JvmGcMetrics gc = new JvmGcMetrics();

    private record Decided(Event.Decision decision, String operation, String tenant) {}

    private record Timed(Part part, String operation) {}

    /** With so many tenants in tags. */
    public Metrics(int tenantsMax) {
        this.tenantsMax = tenantsMax;
        new JvmMemoryMetrics().bindTo(registry);
        new ProcessorMetrics().bindTo(registry);
        gc.bindTo(registry);
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
            "outbox.dead",
            "gateway.upstream.failed",
            "gateway.clients.cut"
        }) {
            counter(name);
        }
    }

    @Override
    public void on(Event event) {
        if (event instanceof Event.Decided decided) {
            decided(decided.key(), decided.decision());
        } else if (event instanceof Event.Changed changed) {
            if (changed.transition().to() == State.UNKNOWN) {
                counter("reconcile.scheduled").increment();
            } else if (changed.transition().from() == State.UNKNOWN) {
                counter("reconcile.resolved").increment();
            }
        } else if (event instanceof Event.Reconciled reconciled
                && reconciled.progress() == Event.Reconciled.Progress.FAILED) {
            counter("reconcile.failed").increment();
        } else if (event instanceof Event.ClaimLost) {
            counter("zombie_key").increment();
        } else if (event instanceof Event.StoreFailed) {
            counter("store.error").increment();
        } else if (event instanceof Event.Delivery delivery) {
            counter("outbox." + delivery.fate().name().toLowerCase(Locale.ROOT)).increment();
        } else if (event instanceof Event.Purged purged) {
            counter("ttl_pruned").increment(purged.entries());
        }
    }

    private void decided(Key key, Event.Decision decision) {
        decisions
                .computeIfAbsent(new Decided(decision, key.operation(), tag(key.tenant())), this::counter)
                .increment();
    }

    private Counter counter(Decided decided) {
        String name = decided.decision() == Event.Decision.CREATED
                ? STAND_IN
                : decided.decision().name().toLowerCase(Locale.ROOT);
        return Counter.builder("api.idempotency.reserve." + name)
                .description("Requests that were decided so")
                .tags(Tags.of("operation", decided.operation(), "tenant", decided.tenant()))
                .register(registry);
    }

    private String tag(String tenant) {
        if (tenants.contains(tenant) || (tenants.size() < tenantsMax && tenants.add(tenant))) {
            return tenant;
        }
        return OTHERS;
    }

    private Counter counter(String name) {
        return counters.computeIfAbsent(name, it -> Counter.builder(it).register(registry));
    }

    /** An upstream refused, broke off or was too slow. */
    public void upstreamFailed() {
        counter("gateway.upstream.failed").increment();
    }

    /** Clients were cut off because they were too slow. */
    public void clientsCut(int clients) {
        counter("gateway.clients.cut").increment(clients);
    }

    /** How long a part of an exchange took. */
    public void took(Part part, String operation, long nanos) {
        timers.computeIfAbsent(new Timed(part, operation), this::timer).record(Duration.ofNanos(nanos));
    }

    private Timer timer(Timed timed) {
        return Timer.builder("gateway." + timed.part().name().toLowerCase(Locale.ROOT))
                .description("How long this part of an exchange took")
                .tag("operation", timed.operation())
                .serviceLevelObjectives(BUCKETS)
                .register(registry);
    }

    /** A number that is asked for when metrics are read; it must not block. */
    public void gauge(String name, String description, Supplier<Number> value) {
        Gauge.builder(name, value).description(description).register(registry);
    }

    /** Everything in Prometheus' text format. */
    public String scrape() {
        return registry.scrape().replace("api_idempotency_reserve_" + STAND_IN, "api_idempotency_reserve_created");
    }

    @Override
    public void close() {
        gc.close();
        registry.close();
    }
}
