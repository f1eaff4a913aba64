package dev.onlyonce.micrometer;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onlyonce.Begun;
import dev.onlyonce.Event;
import dev.onlyonce.Key;
import dev.onlyonce.Onlyonce;
import dev.onlyonce.OpenClaim;
import dev.onlyonce.Policy;
import dev.onlyonce.fingerprint.Fingerprint;
import dev.onlyonce.store.EntryId;
import dev.onlyonce.store.MemoryStore;
import dev.onlyonce.store.OnLeaseLost;
import dev.onlyonce.store.OutboxCounts;
import dev.onlyonce.store.State;
import dev.onlyonce.store.StoreUnavailable;
import dev.onlyonce.store.Transition;
import dev.onlyonce.testkit.ManualTime;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.time.Duration;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

@DisplayName("The meters")
class MetersTest {
    private static final Key KEY = Key.of("alice", "POST /payments", "key-1");
    private static final EntryId ID = KEY.entryId();
    private static final Transition LAPSED =
            new Transition(ID, KEY.operation(), State.PROCESSING, State.RETRYABLE, 1, "sweeper", "lease lost");

    private final MeterRegistry registry = new SimpleMeterRegistry();
    private final Meters meters = new Meters(registry, 2);

    private static Event changed(State from, State to) {
        return new Event.Changed(new Transition(ID, KEY.operation(), from, to, 1, "node", "why"));
    }

    private static Event delivery(Event.Delivery.Fate fate) {
        return new Event.Delivery(ID, KEY.operation(), fate);
    }

    private static Event reconciled(Event.Reconciled.Progress progress) {
        return new Event.Reconciled(ID, KEY.operation(), progress);
    }

    private static Map<Metric, Event> events() {
        Map<Metric, Event> events = new EnumMap<>(Metric.class);
        for (Event.Decision decision : Event.Decision.values()) {
            events.put(Metric.valueOf("RESERVE_" + decision), new Event.Decided(KEY, decision));
        }
        for (Event.Took.Part part : Event.Took.Part.values()) {
            events.put(Metric.valueOf(part + "_DURATION"), new Event.Took(KEY.operation(), part, 1));
        }
        events.put(Metric.STORE_ERROR, new Event.StoreFailed(new StoreUnavailable("down", null)));
        events.put(Metric.ZOMBIE_KEY, new Event.LeaseLapsed(LAPSED));
        events.put(Metric.CLAIM_LOST, new Event.ClaimLost(KEY, 1));
        events.put(Metric.TTL_PRUNED, new Event.Purged(1));
        events.put(Metric.RECONCILE_SCHEDULED, changed(State.PROCESSING, State.UNKNOWN));
        events.put(Metric.RECONCILE_RESOLVED, changed(State.UNKNOWN, State.COMPLETED));
        events.put(Metric.RECONCILE_FAILED, reconciled(Event.Reconciled.Progress.FAILED));
        events.put(Metric.OUTBOX_DELIVERED, delivery(Event.Delivery.Fate.DELIVERED));
        events.put(Metric.OUTBOX_RETRIED, delivery(Event.Delivery.Fate.RETRIED));
        events.put(Metric.OUTBOX_DEAD, delivery(Event.Delivery.Fate.DEAD));
        events.put(Metric.OUTBOX_HUNG, delivery(Event.Delivery.Fate.HUNG));
        for (Event.Consumed.End end : Event.Consumed.End.values()) {
            events.put(Metric.valueOf("MESSAGES_" + end), new Event.Consumed("billing", "orders", end, "mismatch"));
        }
        return events;
    }

    /** The sum over all tags, of counts and not of times. */
    private double count(Metric metric) {
        return registry.find(metric.meterName()).meters().stream()
                .mapToDouble(meter -> meter.measure().iterator().next().getValue())
                .sum();
    }

    @ParameterizedTest
    @EnumSource(
            value = Metric.class,
            names = {
                "STORE_REFUSED",
                "RECONCILE_BACKLOG",
                "RECONCILE_OLDEST",
                "OUTBOX_DEAD_LETTERS",
                "OUTBOX_WAITING",
                "OUTBOX_OLDEST",
                "LEDGER_DIFFERENCES",
                "CACHE_.*"
            },
            mode = EnumSource.Mode.MATCH_NONE)
    @DisplayName(
            "S1 are there from the start with their prefix and tags, and each event counts under its own name alone")
    void names(Metric metric) {
        List<Meter> before = List.copyOf(registry.find(metric.meterName()).meters());
        assertThat(before).hasSize(1);
        assertThat(metric.meterName()).startsWith("api.idempotency.");
        assertThat(count(metric)).isZero();
        // Told once a node for each entry, which the change itself has been counted for.
        meters.on(reconciled(Event.Reconciled.Progress.SCHEDULED));
        events().forEach((of, event) -> {
            if (of != metric) {
                meters.on(event);
            }
        });
        assertThat(count(metric)).isZero();
        meters.on(events().get(metric));
        assertThat(count(metric)).isEqualTo(1);
        for (Meter meter : registry.find(metric.meterName()).meters()) {
            assertThat(meter.getId().getTags().stream().map(tag -> tag.getKey()).toList())
                    .isEqualTo(metric.tags().names());
        }
    }

    @Test
    @DisplayName("S1 have one tag for each tenant up to a bound; the others share one, for rare events too")
    void tenants() {
        for (String tenant : List.of("a", "b", "c", "d")) {
            Key key = Key.of(tenant, "POST /payments", "k");
            meters.on(new Event.Decided(key, Event.Decision.CREATED));
            meters.on(new Event.ClaimLost(key, 1));
        }
        for (Metric metric : List.of(Metric.RESERVE_CREATED, Metric.CLAIM_LOST)) {
            assertThat(registry.find(metric.meterName()).counters().stream()
                            .map(counter -> counter.getId().getTag("tenant")))
                    .containsExactlyInAnyOrder(Meters.NONE, "a", "b", Meters.OTHERS);
        }
    }

    @Test
    @DisplayName("S1 a lease that lapsed is counted once, by the node that sweeps it, though its owner is dead")
    void zombie() {
        try (ManualTime time = new ManualTime()) {
            MemoryStore store = new MemoryStore(time);
            Onlyonce owner = Onlyonce.builder(store).time(time).build();
            for (int i = 0; i < 2; i++) {
                owner.begin(Key.of("alice", "POST /payments", "left-" + i), Fingerprint.of(new byte[0]));
            }
            owner.close();
            // Nobody else sweeps while the test does.
            try (Onlyonce next = Onlyonce.builder(store)
                    .time(time)
                    .sweepEvery(Duration.ofHours(1))
                    .listener(meters)
                    .build()) {
                time.advance(Duration.ofMinutes(2));
                next.operator().sweep();
                Counter zombies = registry.get(Metric.ZOMBIE_KEY.meterName())
                        .tags("operation", "POST /payments", "tenant", "alice")
                        .counter();
                assertThat(zombies.count()).isEqualTo(2);
                next.operator().sweep();
                assertThat(zombies.count()).isEqualTo(2);
                assertThat(count(Metric.RECONCILE_SCHEDULED)).isEqualTo(2);
            }
        }
    }

    @Test
    @DisplayName("S1 a lease that lapsed is counted whatever its operation does about it")
    void zombieOfAnyPolicy() {
        try (ManualTime time = new ManualTime()) {
            MemoryStore store = new MemoryStore(time);
            Policy retried = Policy.builder().onLeaseLost(OnLeaseLost.RETRY).build();
            Onlyonce owner = Onlyonce.builder(store).time(time).build();
            owner.registry().begin(KEY, Fingerprint.of(new byte[0]), retried);
            owner.close();
            // Nobody else sweeps while the test does.
            try (Onlyonce next = Onlyonce.builder(store)
                    .time(time)
                    .sweepEvery(Duration.ofHours(1))
                    .listener(meters)
                    .build()) {
                time.advance(Duration.ofMinutes(2));
                next.operator().sweep();
                assertThat(count(Metric.ZOMBIE_KEY)).isEqualTo(1);
                assertThat(count(Metric.RECONCILE_SCHEDULED)).isZero();
            }
        }
    }

    @Test
    @DisplayName("S1 time claim, execution and settlement by operation")
    void durations() {
        try (ManualTime time = new ManualTime();
                Onlyonce once = Onlyonce.builder(new MemoryStore(time))
                        .time(time)
                        .listener(meters)
                        .build()) {
            OpenClaim claim = ((Begun.Claimed) once.begin(KEY, Fingerprint.of(new byte[0]))).claim();
            time.advance(Duration.ofSeconds(3));
            claim.complete(new byte[0]);
            for (Metric metric : List.of(Metric.CLAIM_DURATION, Metric.EXECUTE_DURATION, Metric.SETTLE_DURATION)) {
                assertThat(registry.get(metric.meterName())
                                .tag("operation", KEY.operation())
                                .timer()
                                .count())
                        .as(metric.meterName())
                        .isEqualTo(1);
            }
            assertThat(registry.get(Metric.EXECUTE_DURATION.meterName())
                            .tag("operation", KEY.operation())
                            .timer()
                            .totalTime(java.util.concurrent.TimeUnit.SECONDS))
                    .isEqualTo(3);
        }
    }

    @Test
    @DisplayName(
            "S1 the gauges of the backlog show unknown entries, the oldest of them, calls in the outbox, the oldest of them, and dead letters")
    void backlog() {
        try (ManualTime time = new ManualTime();
                Onlyonce once = Onlyonce.builder(new MemoryStore(time))
                        .time(time)
                        .listener(meters)
                        .build();
                Backlog watched = Backlog.watch(meters, once, () -> new OutboxCounts(12, 7, Duration.ofSeconds(90)))) {
            assertThat(watched).isNotNull();
            ((Begun.Claimed) once.begin(KEY, Fingerprint.of(new byte[0])))
                    .claim()
                    .unknown("reset");
            time.advance(Duration.ofMinutes(1));
            assertThat(gauge(Metric.RECONCILE_BACKLOG)).isEqualTo(1);
            assertThat(gauge(Metric.RECONCILE_OLDEST)).isBetween(54.0, 60.0);
            assertThat(gauge(Metric.OUTBOX_DEAD_LETTERS)).isEqualTo(7);
            assertThat(gauge(Metric.OUTBOX_WAITING)).isEqualTo(12);
            assertThat(gauge(Metric.OUTBOX_OLDEST)).isEqualTo(90);
        }
    }

    @Test
    @DisplayName("S1 count messages by consumer group and topic, and dead letters by their reason")
    void messages() {
        meters.on(new Event.Consumed("billing", "orders", Event.Consumed.End.APPLIED, null));
        meters.on(new Event.Consumed("billing", "orders", Event.Consumed.End.DEAD, "mismatch"));
        meters.on(new Event.Consumed("billing", "refunds", Event.Consumed.End.DEAD, "undecodable"));
        assertThat(registry.get(Metric.MESSAGES_APPLIED.meterName())
                        .tags("group", "billing", "topic", "orders")
                        .counter()
                        .count())
                .isEqualTo(1);
        assertThat(registry.get(Metric.MESSAGES_DEAD.meterName())
                        .tags("group", "billing", "topic", "orders", "reason", "mismatch")
                        .counter()
                        .count())
                .isEqualTo(1);
    }

    private double gauge(Metric metric) {
        return registry.get(metric.meterName()).gauge().value();
    }

    @Test
    @DisplayName("W6 the gauges of ledger differences show the latest comparison, by kind")
    void ledger() {
        meters.on(new Event.LedgerCompared(5, 5, 5));
        meters.on(new Event.LedgerCompared(1, 2, 3));
        assertThat(List.of("missing", "extra", "different"))
                .extracting(kind -> registry.get(Metric.LEDGER_DIFFERENCES.meterName())
                        .tag("kind", kind)
                        .gauge()
                        .value())
                .containsExactly(1.0, 2.0, 3.0);
    }

    @Test
    @DisplayName("S1 have the published names in Prometheus, those that it would cut off too")
    void prometheus() {
        PrometheusMeterRegistry prometheus = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
        try (ManualTime time = new ManualTime();
                Onlyonce once =
                        Onlyonce.builder(new MemoryStore(time)).time(time).build()) {
            Meters published = new Meters(prometheus, 1);
            Backlog.watch(published, once, () -> OutboxCounts.NONE).close();
            String scraped = prometheus.scrape();
            for (Metric metric : Metric.values()) {
                String suffix = metric.kind() == Metric.Kind.TIMER ? "_bucket" : "";
                assertThat(scraped).containsPattern("(?m)^" + metric.prometheusName() + suffix + "[ {]");
            }
            assertThat(scraped).doesNotContain("api_idempotency_reserve_total");
        }
    }
}
