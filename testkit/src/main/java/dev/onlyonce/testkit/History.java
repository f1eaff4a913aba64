package dev.onlyonce.testkit;

import dev.onlyonce.store.ClaimRequest;
import dev.onlyonce.store.ClaimResult;
import dev.onlyonce.store.Entry;
import dev.onlyonce.store.EntryId;
import dev.onlyonce.store.MemoryStore;
import dev.onlyonce.store.OnLeaseLost;
import dev.onlyonce.store.Renewal;
import dev.onlyonce.store.Resolution;
import dev.onlyonce.store.SettleResult;
import dev.onlyonce.store.Settlement;
import dev.onlyonce.store.State;
import dev.onlyonce.store.Store;
import dev.onlyonce.store.Terms;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.UUID;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Random histories of a few keys each, in the store and in memory. Every answer, every entry after it and the audit must be the same, but
 * for the time at which the two clocks started.
 */
final class History {
    private static final int STEPS = 60;
    private static final int KEYS = 3;
    private static final List<Duration> SPANS = List.of(
            Requests.MICRO,
            Duration.ofSeconds(1),
            Duration.ofSeconds(5),
            Duration.ofSeconds(10),
            Duration.ofSeconds(30),
            Duration.ofSeconds(60),
            Duration.ofSeconds(90));

    private final Bench bench;
    private long seed;
    private Random random = new Random();
    private final ManualTime time = new ManualTime();
    private final Store model = new MemoryStore(time);
    private final Duration ahead;
    private final List<ClaimRequest> claims = new ArrayList<>();
    private final List<String> done = new ArrayList<>();

    History(Bench bench) {
        this.bench = bench;
        this.ahead = Duration.between(time.now(), bench.now());
    }

    void run(long next) {
        seed = next;
        random = new Random(seed);
        claims.clear();
        done.clear();
        for (int i = 0; i < STEPS; i++) {
            step(i % 2);
            for (int key = 0; key < KEYS; key++) {
                EntryId id = id(key);
                same(id::toString, store -> found(store, id), 0);
            }
        }
        for (int key = 0; key < KEYS; key++) {
            EntryId id = id(key);
            same(() -> "the audit of " + id, store -> audit(store, id), 0);
        }
    }

    private EntryId id(int key) {
        return new EntryId("tenant-" + key, "", Long.toString(seed));
    }

    private void step(int node) {
        switch (random.nextInt(12)) {
            case 0, 1, 2 -> claim(node);
            case 3, 4 -> settle(node);
            case 5 -> renew(node);
            case 6 -> sweep(node);
            case 7 -> same("purge", store -> store.purge(100), node);
            case 8, 9 -> resolve(node);
            case 10 -> evict(node);
            default -> pass(pick(SPANS));
        }
    }

    private <T> T pick(List<T> choices) {
        return choices.get(random.nextInt(choices.size()));
    }

    private void pass(Duration span) {
        done.add("wait " + span);
        time.jump(span);
        bench.advance(span);
    }

    /** A new request, or one that was made before. A store may purge later than at once what expires at once, so none does. */
    private ClaimRequest request() {
        boolean repeats = !claims.isEmpty() && random.nextInt(3) == 0;
        if (repeats) {
            return pick(claims);
        }
        Terms terms = new Terms(
                Duration.ofSeconds(pick(List.of(5, 10, 30))),
                pick(List.of(OnLeaseLost.values())),
                Duration.ofSeconds(pick(List.of(30, 60))),
                Duration.ofSeconds(pick(List.of(0, 60))));
        return new ClaimRequest(
                id(random.nextInt(KEYS)),
                pick(List.of("pay", "pay", "pay", "refund")),
                Requests.fingerprint(pick(List.of("body", "body", "body", "other"))),
                new UUID(random.nextLong(), random.nextLong()),
                pick(List.of("node-1", "node-2")),
                terms,
                pick(List.of(State.PROCESSING, State.PROCESSING, State.PENDING)));
    }

    private void claim(int node) {
        ClaimRequest request = request();
        claims.add(request);
        same(
                "claim " + request,
                store -> {
                    ClaimResult result = store.claim(List.of(request)).get(0);
                    boolean refused = result instanceof ClaimResult.Existing || result instanceof ClaimResult.Large;
                    return refused ? found(store, request.id()) : result;
                },
                node);
    }

    private void settle(int node) {
        if (claims.isEmpty()) {
            return;
        }
        ClaimRequest claim = pick(claims);
        State to = pick(List.of(State.COMPLETED, State.FAILED, State.RETRYABLE, State.UNKNOWN, State.UNKNOWN));
        byte[] result = to.isAnswered() && random.nextBoolean() ? Requests.bytes("result " + random.nextInt(9)) : null;
        Settlement settlement = Requests.settlement(claim, to, result);
        same(
                "settle " + settlement,
                store -> shown(store, store.settle(List.of(settlement)).get(0)),
                node);
    }

    private void renew(int node) {
        if (!claims.isEmpty()) {
            ClaimRequest claim = pick(claims);
            // No longer than a lease: a sweep may take what ends later for the work of a clock that was ahead.
            Duration lease = claim.terms().lease().dividedBy(1 + random.nextInt(3));
            Renewal renewal = new Renewal(claim.id(), claim.token(), lease.truncatedTo(ChronoUnit.MILLIS));
            same("renew " + renewal, store -> store.renew(List.of(renewal)).get(0), node);
        }
    }

    private void sweep(int node) {
        same("sweep", store -> new HashSet<>(store.sweep(100)), node);
    }

    private void resolve(int node) {
        EntryId id = id(random.nextInt(KEYS));
        Optional<Entry> stored = model.find(List.of(id)).get(0);
        State to = pick(List.of(State.COMPLETED, State.RETRYABLE));
        byte[] result = to == State.COMPLETED ? Requests.bytes("found") : null;
        int attempt = stored.map(Entry::attempt).orElse(1) - (random.nextInt(5) == 0 ? 1 : 0);
        Resolution resolution = Requests.resolution(id, attempt, to, result);
        int about = random.nextInt(4);
        same(
                "resolve " + resolution,
                store -> {
                    Duration other = about == 0 ? Requests.MICRO : Duration.ZERO;
                    Resolution one = stored.filter(e -> about < 3)
                            .map(e -> resolution.about(
                                    e.createdAt().plus(offset(store)).plus(other)))
                            .orElse(resolution);
                    return shown(store, store.resolve(List.of(one)).get(0));
                },
                node);
    }

    private void evict(int node) {
        EntryId id = id(random.nextInt(KEYS));
        same("evict " + id, store -> store.evict(id, "operator", "a reason"), node);
        // No clock shows the time at which this entry was made for the next one, too: stores tell the two by it.
        pass(Requests.MICRO);
    }

    private void same(String what, Function<Store, Object> question, int node) {
        done.add(what);
        same(() -> what, question, node);
    }

    /** Asks both. */
    private void same(Supplier<String> what, Function<Store, Object> question, int node) {
        Object expected = question.apply(model);
        Object answer = question.apply(bench.node(node));
        boolean stoodStill = time.now().plus(ahead).equals(bench.now());
        if (!expected.equals(answer) && stoodStill) {
            throw new AssertionError("-Donlyonce.seed=%d: %s%n  must be %s%n  but is  %s%nafter%n  %s"
                    .formatted(seed, what.get(), expected, answer, String.join("\n  ", done)));
        }
    }

    private Duration offset(Store store) {
        return store == model ? Duration.ZERO : ahead;
    }

    private @Nullable Instant at(Store store, @Nullable Instant instant) {
        return instant == null ? null : instant.minus(offset(store));
    }

    private Object shown(Store store, SettleResult result) {
        return result instanceof SettleResult.Settled settled
                ? List.of(
                        "settled",
                        String.valueOf(at(store, settled.settledAt())),
                        String.valueOf(at(store, settled.expiresAt())))
                : result;
    }

    private Object found(Store store, EntryId id) {
        return store.find(List.of(id)).get(0).map(entry -> {
            Snapshot snapshot = Snapshot.of(entry).moved(instant -> at(store, instant));
            boolean isOpen = entry.state() == State.PENDING || entry.state() == State.PROCESSING;
            // A settled entry's lease says nothing: a node that settles without reading writes the one that it knows.
            return isOpen ? snapshot : snapshot.leasedUntil(Instant.EPOCH);
        });
    }

    private Object audit(Store store, EntryId id) {
        return store.history(id).stream()
                .map(record -> record.transition() + " at " + at(store, record.at()))
                .toList();
    }
}
