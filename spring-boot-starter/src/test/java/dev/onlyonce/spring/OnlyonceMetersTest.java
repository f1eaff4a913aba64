package dev.onlyonce.spring;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onlyonce.Event;
import dev.onlyonce.Key;
import dev.onlyonce.State;
import dev.onlyonce.store.EntryId;
import dev.onlyonce.store.StoreUnavailable;
import dev.onlyonce.store.Transition;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.util.Map;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("The starter's meters")
class OnlyonceMetersTest {
    private static final Key KEY = Key.of("alice", "POST /payments", "key-1");
    private static final EntryId ID = KEY.entryId();

    private final MeterRegistry registry = new SimpleMeterRegistry();
    private final OnlyonceMeters meters = new OnlyonceMeters(registry);

    private static Event changed(State from, State to) {
        return new Event.Changed(new Transition(ID, KEY.operation(), from, to, 1, "node", "why"));
    }

    private static Event delivery(Event.Delivery.Fate fate) {
        return new Event.Delivery(ID, KEY.operation(), fate);
    }

    private static Event reconciled(Event.Reconciled.Progress progress) {
        return new Event.Reconciled(ID, KEY.operation(), progress);
    }

    @Test
    @DisplayName("S1 are there from the start, and each event counts under its own name alone")
    void names() {
        Map<String, Event> events = Map.ofEntries(
                Map.entry("store.error", new Event.StoreFailed(new StoreUnavailable("down", null))),
                Map.entry("zombie_key", new Event.ClaimLost(KEY, 1)),
                Map.entry("ttl_pruned", new Event.Purged(1)),
                Map.entry("reconcile.scheduled", changed(State.PROCESSING, State.UNKNOWN)),
                Map.entry("reconcile.resolved", changed(State.UNKNOWN, State.COMPLETED)),
                Map.entry("reconcile.failed", reconciled(Event.Reconciled.Progress.FAILED)),
                Map.entry("outbox.delivered", delivery(Event.Delivery.Fate.DELIVERED)),
                Map.entry("outbox.retried", delivery(Event.Delivery.Fate.RETRIED)),
                Map.entry("outbox.dead", delivery(Event.Delivery.Fate.DEAD)));
        events.keySet()
                .forEach(name -> assertThat(registry.get(name).counter().count())
                        .as(name)
                        .isZero());
        // Told once a node for each entry, which the change itself has been counted for.
        meters.on(reconciled(Event.Reconciled.Progress.SCHEDULED));
        events.values().forEach(meters::on);
        events.keySet()
                .forEach(name -> assertThat(registry.get(name).counter().count())
                        .as(name)
                        .isEqualTo(1));
    }
}
