package dev.onlyonce.micrometer;

import dev.onlyonce.Event;
import dev.onlyonce.Listener;
import dev.onlyonce.store.State;
import dev.onlyonce.store.Transition;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.Timer;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import java.util.function.ToDoubleFunction;

/**
 * Counts every event under the names of {@link Metric}. The first tenants get a tag of their own, up to a bound; the others
 * share {@value #OTHERS}. Every metric is there from the start, with {@value #NONE} in its tags: dashboards and alerts find it
 * before the first event. Thread-safe.
 */
public final class Meters implements Listener {
    /** The tag of tenants that came after the bound. */
    public static final String OTHERS = "(others)";
    /** The tag of the series that only shows that the metric exists. */
    public static final String NONE = "(none)";

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

    private final MeterRegistry registry;
    private final int tenantsMax;
    private final Set<String> tenants = ConcurrentHashMap.newKeySet();
    private final Map<Series, Counter> counters = new ConcurrentHashMap<>();
    private final Map<Series, Timer> timers = new ConcurrentHashMap<>();
    private final AtomicInteger missing = new AtomicInteger();
    private final AtomicInteger extra = new AtomicInteger();
    private final AtomicInteger different = new AtomicInteger();

    private record Series(Metric metric, List<String> values) {
        /** The series that only shows that the metric exists. */
        static Series none(Metric metric) {
            return new Series(metric, Collections.nCopies(metric.tags().names().size(), NONE));
        }

        Tags tags() {
            List<String> names = metric.tags().names();
            Tags tags = Tags.empty();
            for (int i = 0; i < names.size(); i++) {
                tags = tags.and(names.get(i), values.get(i));
            }
            return tags;
        }
    }

    /**
     * Registers every metric but those of the backlog and the shared cache, which a {@link Backlog} adds.
     *
     * @param tenantsMax how many tenants get a tag of their own
     */
    public Meters(MeterRegistry registry, int tenantsMax) {
        this.registry = registry;
        this.tenantsMax = tenantsMax;
        ReservedSuffix.keepIn(registry);
        for (Metric metric : Metric.values()) {
            if (metric.kind() == Metric.Kind.COUNTER) {
                counter(Series.none(metric));
            } else if (metric.kind() == Metric.Kind.TIMER) {
                timer(Series.none(metric));
            }
        }
        gauge(Metric.LEDGER_DIFFERENCES, Tags.of("kind", "missing"), missing::get);
        gauge(Metric.LEDGER_DIFFERENCES, Tags.of("kind", "extra"), extra::get);
        gauge(Metric.LEDGER_DIFFERENCES, Tags.of("kind", "different"), different::get);
    }

    @Override
    public void on(Event event) {
        if (event instanceof Event.Decided decided) {
            count(
                    decision(decided.decision()),
                    decided.key().operation(),
                    decided.key().tenant());
        } else if (event instanceof Event.Took took) {
            timer(new Series(duration(took.part()), List.of(took.operation())))
                    .record(took.nanos(), TimeUnit.NANOSECONDS);
        } else if (event instanceof Event.Changed changed) {
            changed(changed.transition());
        } else if (event instanceof Event.LeaseLapsed lapsed) {
            count(Metric.ZOMBIE_KEY, lapsed.transition());
        } else if (event instanceof Event.ClaimLost lost) {
            count(Metric.CLAIM_LOST, lost.key().operation(), lost.key().tenant());
        } else if (event instanceof Event.Reconciled reconciled
                && reconciled.progress() == Event.Reconciled.Progress.FAILED) {
            count(
                    Metric.RECONCILE_FAILED,
                    reconciled.operation(),
                    reconciled.id().tenant());
        } else if (event instanceof Event.Delivery delivery) {
            count(delivery(delivery.fate()), delivery.operation(), delivery.id().tenant());
        } else if (event instanceof Event.Consumed consumed) {
            consumed(consumed);
        } else if (event instanceof Event.StoreFailed) {
            counter(Series.none(Metric.STORE_ERROR)).increment();
        } else if (event instanceof Event.Purged purged) {
            counter(Series.none(Metric.TTL_PRUNED)).increment(purged.entries());
        } else if (event instanceof Event.LedgerCompared compared) {
            missing.set(compared.missing());
            extra.set(compared.extra());
            different.set(compared.different());
        }
    }

    private void changed(Transition transition) {
        if (transition.to() == State.UNKNOWN) {
            count(Metric.RECONCILE_SCHEDULED, transition);
        } else if (transition.from() == State.UNKNOWN) {
            count(Metric.RECONCILE_RESOLVED, transition);
        }
    }

    private void consumed(Event.Consumed consumed) {
        List<String> values = consumed.end() == Event.Consumed.End.DEAD
                ? List.of(consumed.group(), String.valueOf(consumed.reason()), consumed.topic())
                : List.of(consumed.group(), consumed.topic());
        counter(new Series(message(consumed.end()), values)).increment();
    }

    private void count(Metric metric, Transition transition) {
        count(metric, transition.operation(), transition.id().tenant());
    }

    private void count(Metric metric, String operation, String tenant) {
        counter(new Series(metric, List.of(operation, tag(tenant)))).increment();
    }

    private static Metric decision(Event.Decision decision) {
        return switch (decision) {
            case CREATED -> Metric.RESERVE_CREATED;
            case REPLAY -> Metric.RESERVE_REPLAY;
            case IN_PROGRESS -> Metric.RESERVE_IN_PROGRESS;
            case KEY_MISUSE -> Metric.RESERVE_KEY_MISUSE;
            case FAILED_RETRY -> Metric.RESERVE_FAILED_RETRY;
            case UNKNOWN -> Metric.RESERVE_UNKNOWN;
            case EXPIRED -> Metric.RESERVE_EXPIRED;
        };
    }

    private static Metric duration(Event.Took.Part part) {
        return switch (part) {
            case CLAIM -> Metric.CLAIM_DURATION;
            case EXECUTE -> Metric.EXECUTE_DURATION;
            case SETTLE -> Metric.SETTLE_DURATION;
        };
    }

    private static Metric delivery(Event.Delivery.Fate fate) {
        return switch (fate) {
            case DELIVERED -> Metric.OUTBOX_DELIVERED;
            case RETRIED -> Metric.OUTBOX_RETRIED;
            case DEAD -> Metric.OUTBOX_DEAD;
            case HUNG -> Metric.OUTBOX_HUNG;
        };
    }

    private static Metric message(Event.Consumed.End end) {
        return switch (end) {
            case APPLIED -> Metric.MESSAGES_APPLIED;
            case REPEATED -> Metric.MESSAGES_REPEATED;
            case RETRIED -> Metric.MESSAGES_RETRIED;
            case DEAD -> Metric.MESSAGES_DEAD;
            case HUNG -> Metric.MESSAGES_HUNG;
        };
    }

    private Counter counter(Series wanted) {
        return counters.computeIfAbsent(
                wanted,
                series -> Counter.builder(series.metric.meterName())
                        .description(series.metric.description())
                        .tags(series.tags())
                        .register(registry));
    }

    private Timer timer(Series wanted) {
        return timers.computeIfAbsent(
                wanted,
                series -> Timer.builder(series.metric.meterName())
                        .description(series.metric.description())
                        .tags(series.tags())
                        .serviceLevelObjectives(BUCKETS)
                        .register(registry));
    }

    /** The histogram buckets of all timers. */
    public static Duration[] buckets() {
        return BUCKETS.clone();
    }

    private String tag(String tenant) {
        if (tenants.contains(tenant) || (tenants.size() < tenantsMax && tenants.add(tenant))) {
            return tenant;
        }
        return OTHERS;
    }

    /** A number that is asked for when metrics are read; it must not block. */
    void gauge(Metric metric, Tags tags, Supplier<Number> value) {
        Gauge.Builder<Supplier<Number>> gauge = Gauge.builder(metric.meterName(), value)
                .description(metric.description())
                .tags(tags);
        if (metric.kind() == Metric.Kind.GAUGE_SECONDS) {
            gauge.baseUnit(TimeUnit.SECONDS.name().toLowerCase(Locale.ROOT));
        }
        gauge.register(registry);
    }

    /** A count that somebody else keeps. */
    <T> void readCounter(Metric metric, T owner, ToDoubleFunction<T> value) {
        FunctionCounter.builder(metric.meterName(), owner, value)
                .description(metric.description())
                .register(registry);
    }
}
