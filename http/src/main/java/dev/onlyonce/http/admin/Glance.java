package dev.onlyonce.http.admin;

import dev.onlyonce.store.DeadLetterBox;
import dev.onlyonce.store.Entry;
import dev.onlyonce.store.EntryQuery;
import dev.onlyonce.store.NodeRecord;
import dev.onlyonce.store.OutboxCounts;
import dev.onlyonce.store.State;
import dev.onlyonce.store.StateCounts;
import dev.onlyonce.store.Store;
import dev.onlyonce.store.StoreException;
import dev.onlyonce.store.Time;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** A look at the store that all who watch share: however many of them ask, the store is asked every few seconds. Thread-safe. */
final class Glance {
    /** How many entries are counted one by one; beyond that the counts are estimates. */
    static final int COUNTED_MAX = 10_000;
    /** Nodes announce themselves every 30 seconds. */
    static final int HERE_SECONDS = 90;

    private final AdminParts parts;
    private final Kept<Overview.Everybody> everybody;
    private final Kept<StateCounts> counts;
    private final Kept<Map<String, Count>> stored;

    Glance(AdminParts parts) {
        this.parts = parts;
        Time time = parts.once().registry().time();
        everybody = new Kept<>(time);
        counts = new Kept<>(time);
        stored = new Kept<>(time);
    }

    Overview.Everybody look() {
        return everybody.get(this::ask);
    }

    /** States, with a zero for those without entries. */
    StateCounts counts() {
        return counts.get(() -> parts.once().operator().countStates(COUNTED_MAX));
    }

    /** How many keys these tenants have; a tenant that is new since the last look is missing. */
    Map<String, Count> stored(List<String> tenants) {
        return stored.get(() -> {
            Map<String, Count> found = new HashMap<>();
            try {
                for (String tenant : tenants) {
                    found.put(tenant, Count.bounded(parts.store().countStored(tenant, COUNTED_MAX), COUNTED_MAX));
                }
            } catch (StoreException e) {
                // The overview says what is wrong with the store; the rest of what the node knows is still worth
                // seeing.
                return found;
            }
            return found;
        });
    }

    private Overview.Everybody ask() {
        Optional<String> refusal = parts.store().refusal();
        String now = parts.once().registry().time().now().toString();
        try {
            Optional<List<NodeRecord>> announced = parts.store().nodes();
            return new Overview.Everybody(
                    now,
                    states(counts()),
                    unknown(),
                    deadLetters(),
                    store(refusal.orElse(null)),
                    nodes(announced),
                    announced.isPresent());
        } catch (StoreException e) {
            return new Overview.Everybody(
                    now,
                    null,
                    null,
                    null,
                    store(refusal.orElse("it does not answer: " + e.getMessage())),
                    nodes(Optional.empty()),
                    false);
        }
    }

    private static Map<String, Count> states(StateCounts counts) {
        Map<String, Count> states = new LinkedHashMap<>();
        for (State state : State.values()) {
            // Unknown entries are counted on an index of their own.
            StateCounts.Kind kind =
                    state == State.UNKNOWN && counts.of(state) < COUNTED_MAX ? StateCounts.Kind.EXACT : counts.kind();
            states.put(state.name().toLowerCase(Locale.ROOT), Count.of(counts.of(state), kind));
        }
        return states;
    }

    private Overview.Waiting unknown() {
        List<Entry> unknown =
                parts.store().list(EntryQuery.all(EntryQuery.LIMIT_MAX).in(State.UNKNOWN));
        String oldest = unknown.stream()
                .map(entry -> entry.settledAt() == null ? entry.createdAt() : entry.settledAt())
                .min(Comparator.naturalOrder())
                .map(Instant::toString)
                .orElse(null);
        Count count = Count.bounded(unknown.size(), EntryQuery.LIMIT_MAX);
        return new Overview.Waiting(count.count(), count.kind(), oldest);
    }

    private Overview.@Nullable Waiting deadLetters() {
        DeadLetterBox outbox = parts.outbox();
        if (outbox == null) {
            return null;
        }
        OutboxCounts found = outbox.counts(EntryQuery.LIMIT_MAX);
        Count dead = Count.bounded(found.dead(), EntryQuery.LIMIT_MAX);
        String oldest = found.dead() == 0
                ? null
                : outbox.letters(0, 1).stream()
                        .map(letter -> letter.acceptedAt().toString())
                        .findFirst()
                        .orElse(null);
        return new Overview.Waiting(dead.count(), dead.kind(), oldest);
    }

    private Overview.StoreView store(@Nullable String trouble) {
        Store store = parts.store();
        return new Overview.StoreView(
                store.description(),
                trouble == null,
                trouble,
                store.failover(),
                store.acceptedRisks(),
                schema(trouble));
    }

    private AdminOperator.@Nullable SchemaView schema(@Nullable String trouble) {
        Tables tables = parts.tables();
        return tables == null || trouble != null ? null : tables.status();
    }

    /** This one first, which need not have announced itself yet; then the others by their names. */
    private List<Overview.NodeView> nodes(Optional<List<NodeRecord>> announced) {
        NodeWatch watch = parts.watch();
        String me = parts.once().registry().name();
        List<Overview.NodeView> nodes = new ArrayList<>();
        nodes.add(new Overview.NodeView(
                me,
                parts.program().version(),
                watch == null ? null : watch.startedAt().toString(),
                null,
                true,
                true));
        List<NodeRecord> others = announced.orElse(List.of());
        if (!others.isEmpty()) {
            Instant now = parts.store()
                    .now()
                    .orElseGet(() -> parts.once().registry().time().now());
            Instant here = now.minusSeconds(HERE_SECONDS);
            others.stream()
                    .filter(it -> !it.name().equals(me))
                    .map(it -> new Overview.NodeView(
                            it.name(),
                            it.version(),
                            it.startedAt().toString(),
                            it.seenAt().toString(),
                            it.seenAt().isAfter(here),
                            false))
                    .forEach(nodes::add);
        }
        return nodes;
    }
}
