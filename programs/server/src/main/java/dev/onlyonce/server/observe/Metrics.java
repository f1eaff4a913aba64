package dev.onlyonce.server.observe;

import dev.onlyonce.Event;
import dev.onlyonce.Listener;
import dev.onlyonce.Onlyonce;
import dev.onlyonce.micrometer.Backlog;
import dev.onlyonce.micrometer.Meters;
import dev.onlyonce.store.OutboxCounts;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.Timer;
import io.micrometer.core.instrument.binder.jvm.JvmGcMetrics;
import io.micrometer.core.instrument.binder.jvm.JvmMemoryMetrics;
import io.micrometer.core.instrument.binder.system.ProcessorMetrics;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/**
 * The gateway's metrics for Prometheus: the published ones of {@link Meters}, and the proxy's own, {@code gateway.*}.
 * Thread-safe.
 */
public final class Metrics implements Listener, AutoCloseable {
    /** A counter of the proxy's own. */
    private enum Own {
        UPSTREAM_FAILED("gateway.upstream.failed", "Requests that a service refused, broke off or was too slow for"),
        UNMATCHED("gateway.unmatched", "State-changing requests that no operation protects"),
        CLIENTS_CUT("gateway.clients.cut", "Clients that were cut off because they were too slow");

        private final String meter;
        private final String description;

        Own(String meter, String description) {
            this.meter = meter;
            this.description = description;
        }
    }

    /** The parts of an exchange, as traces name them. */
    public enum Part {
        /** Claiming the key in the store. */
        CLAIM,
        /** Recording the outcome in the store. */
        SETTLE
    }

    private final PrometheusMeterRegistry registry = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
    private final Meters meters;
    private final Map<String, Timer> upstreams = new ConcurrentHashMap<>();
    private final JvmGcMetrics gc = new JvmGcMetrics();

    /** With as many tenants in tags as {@code tenantsMax}. */
    public Metrics(int tenantsMax) {
        meters = new Meters(registry, tenantsMax);
        new JvmMemoryMetrics().bindTo(registry);
        new ProcessorMetrics().bindTo(registry);
        gc.bindTo(registry);
        // Alerts need to see a zero before they can see a one.
        for (Own own : Own.values()) {
            counter(own);
        }
    }

    @Override
    public void on(Event event) {
        meters.on(event);
    }

    /** Adds the gauges of what waits for somebody. */
    public Backlog watch(Onlyonce once, Supplier<OutboxCounts> outbox) {
        return Backlog.watch(meters, once, outbox);
    }

    private Counter counter(Own own) {
        return Counter.builder(own.meter).description(own.description).register(registry);
    }

    /** An upstream refused, broke off or was too slow. */
    public void upstreamFailed() {
        counter(Own.UPSTREAM_FAILED).increment();
    }

    /** A state-changing request that no operation protects. */
    public void unmatched() {
        counter(Own.UNMATCHED).increment();
    }

    /** Clients were cut off because they were too slow. */
    public void clientsCut(int clients) {
        counter(Own.CLIENTS_CUT).increment(clients);
    }

    /** How long an upstream took, from sending the request to the last byte of its response. */
    public void upstreamTook(String operation, long nanos) {
        upstreams
                .computeIfAbsent(
                        operation,
                        name -> Timer.builder("gateway.upstream")
                                .description("From sending a protected request to the last byte of its response")
                                .tag("operation", name)
                                .serviceLevelObjectives(Meters.buckets())
                                .register(registry))
                .record(nanos, TimeUnit.NANOSECONDS);
    }

    /** A number that is asked for when metrics are read; it must not block. */
    public void gauge(String name, String description, Supplier<Number> value) {
        Gauge.builder(name, value).description(description).register(registry);
    }

    /** Everything in Prometheus' text format. */
    public String scrape() {
        return registry.scrape();
    }

    @Override
    public void close() {
        gc.close();
        registry.close();
    }
}
