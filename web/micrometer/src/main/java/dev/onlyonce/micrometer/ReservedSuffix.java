package dev.onlyonce.micrometer;

import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.composite.CompositeMeterRegistry;
import io.micrometer.core.instrument.config.NamingConvention;
import org.jspecify.annotations.Nullable;

/**
 * Keeps the end of {@code api.idempotency.reserve.created} in Prometheus. Micrometer's convention cuts off {@code created},
 * which OpenMetrics once reserved, and {@code api_idempotency_reserve_total} would be left: a name that no dashboard expects.
 */
final class ReservedSuffix {
    private static final String CUT = "api_idempotency_reserve";
    private static final String WHOLE = CUT + "_created";

    private ReservedSuffix() {}

    /** Before the first meter is registered: a registry makes the name then. */
    static void keepIn(MeterRegistry registry) {
        if (registry instanceof CompositeMeterRegistry composite) {
            composite.getRegistries().forEach(ReservedSuffix::keepIn);
            return;
        }
        NamingConvention given = registry.config().namingConvention();
        String name = given.name(Metric.RESERVE_CREATED.meterName(), Meter.Type.COUNTER, null);
        if (name.equals(CUT) && isAccepted()) {
            registry.config().namingConvention(new Keeping(given));
        }
    }

    /** Whether the Prometheus client takes the name; older ones would fail when metrics are read. */
    private static boolean isAccepted() {
        try {
            Object accepted = Class.forName("io.prometheus.metrics.model.snapshots.PrometheusNaming")
                    .getMethod("isValidMetricName", String.class)
                    .invoke(null, WHOLE);
            return Boolean.TRUE.equals(accepted);
        } catch (ReflectiveOperationException e) {
            return false;
        }
    }

    private record Keeping(NamingConvention given) implements NamingConvention {
        @Override
        public String name(String name, Meter.Type type, @Nullable String baseUnit) {
            return name.equals(Metric.RESERVE_CREATED.meterName()) ? WHOLE : given.name(name, type, baseUnit);
        }

        @Override
        public String tagKey(String key) {
            return given.tagKey(key);
        }

        @Override
        public String tagValue(String value) {
            return given.tagValue(value);
        }
    }
}
