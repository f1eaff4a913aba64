package dev.onlyonce.internal;

import dev.onlyonce.Begun;
import dev.onlyonce.Event;
import dev.onlyonce.Failure;
import dev.onlyonce.Fingerprint;
import dev.onlyonce.Key;
import dev.onlyonce.Listener;
import dev.onlyonce.Outcome;
import dev.onlyonce.Policy;
import dev.onlyonce.Reconciler;
import dev.onlyonce.State;
import dev.onlyonce.store.Entry;
import dev.onlyonce.store.EntryId;
import dev.onlyonce.store.Resolution;
import dev.onlyonce.store.SettleResult;
import dev.onlyonce.store.Store;
import dev.onlyonce.store.Time;
import dev.onlyonce.store.Transition;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/** The parts of one process, put together. */
public final class Node implements AutoCloseable {
    private final Store store;
    private final Time time;
    private final boolean ownsTime;
    private final Events events;
    private final Claims claims;
    private final LateSettlements late;
    private final GroupCommit group;
    private final Engine engine;
    private final Maintenance maintenance;
    private final Reconciliation reconciliation;

    /** What a node is made of. */
    public record Options(
            Store store,
            String name,
            @Nullable Time time,
            List<Listener> listeners,
            Map<String, Reconciler> reconcilers,
            Every every,
            Bounds bounds) {

        /** Checks the name. */
        public Options {
            KeyRules.checkName("name", name);
        }
    }

    /** How often background work is done. */
    public record Every(Duration sweep, Duration purge, Duration reconcile) {

        /** Checks that time passes in between. */
        public Every {
            checkPositive("sweepEvery", sweep);
            checkPositive("purgeEvery", purge);
            checkPositive("reconcileEvery", reconcile);
        }
    }

    /** What keeps a node from growing without end. */
    public record Bounds(
            Duration storeWaitMax,
            int queueMax,
            int waitersMax,
            long cacheBytesMax,
            Duration cacheFor,
            Duration auditRetention) {

        /** Checks the signs. */
        public Bounds {
            checkPositive("storeWaitMax", storeWaitMax);
            checkPositive("cacheFor", cacheFor);
            checkPositive("auditRetention", auditRetention);
            if (queueMax < 1) {
                throw new IllegalArgumentException("queueMax must be positive: " + queueMax);
            }
            if (waitersMax < 0 || cacheBytesMax < 0) {
                throw new IllegalArgumentException("waitersMax and cacheBytesMax must not be negative");
            }
        }
    }

    private static void checkPositive(String what, Duration duration) {
        if (duration.isZero() || duration.isNegative()) {
            throw new IllegalArgumentException(what + " must be positive: " + duration);
        }
    }

    /** Starts the background work. */
    public Node(Options options, Collection<Policy> policies) {
        store = options.store();
        ownsTime = options.time() == null;
        time = options.time() == null ? Time.system() : options.time();
        events = new Events(options.listeners());
        Bounds bounds = options.bounds();
        Duration shortest = policies.stream()
                .map(policy -> policy.terms().lease())
                .min(Duration::compareTo)
                .orElseThrow();
        claims = new Claims(store, time, Claims.beatFor(shortest), events);
        ReplayCache cache =
                bounds.cacheBytesMax() == 0 ? null : new ReplayCache(bounds.cacheBytesMax(), bounds.cacheFor(), time);
        group = new GroupCommit(
                store,
                time,
                new GroupCommit.Limits(bounds.queueMax(), bounds.storeWaitMax()),
                failure -> events.tell(new Event.StoreFailed(failure)));
        late = new LateSettlements(store, time, events);
        engine = new Engine(
                new Engine.Parts(options.name(), time, events, bounds.waitersMax(), cache), group, claims, late);
        maintenance = new Maintenance(store, time, events, bounds.auditRetention());
        claims.start();
        reconciliation = new Reconciliation(store, this::resolve, time, events, options.reconcilers());
        maintenance.repeat(options.every().sweep(), this::sweep);
        maintenance.repeat(options.every().purge(), this::purge);
        if (!options.reconcilers().isEmpty()) {
            maintenance.repeat(options.every().reconcile(), () -> reconciliation.run(false));
        }
    }

    /** See {@link dev.onlyonce.Onlyonce#begin}. */
    public Begun begin(Key key, Fingerprint fingerprint, Policy policy) {
        return engine.begin(key, fingerprint, policy);
    }

    /** See {@link dev.onlyonce.Onlyonce#begin}. */
    public CompletionStage<Begun> begin(Key key, Fingerprint fingerprint, Policy policy, Executor blocking) {
        return engine.begin(key, fingerprint, policy, blocking);
    }

    /** See {@link dev.onlyonce.Onlyonce#cached}. */
    public Optional<Outcome<byte[]>> cached(Key key, Fingerprint fingerprint) {
        return engine.cached(key, fingerprint);
    }

    /** See {@link dev.onlyonce.Onlyonce#find}. */
    public Optional<Entry> find(EntryId id) {
        engine.forget(id);
        return engine.find(id);
    }

    /** See {@link dev.onlyonce.Onlyonce#result}. */
    public Optional<byte[]> result(Entry entry) {
        return entry.result() != null && Envelope.open(entry.result()) instanceof Envelope.Content.Value value
                ? Optional.of(value.bytes())
                : Optional.empty();
    }

    /** See {@link dev.onlyonce.Onlyonce#time}. */
    public Time time() {
        return time;
    }

    /** The store itself, for operators' work that is not grouped. */
    public Store store() {
        return store;
    }

    /** See {@link dev.onlyonce.Onlyonce#resolve}. */
    public SettleResult resolve(Resolution resolution) {
        Resolution wrapped = resolution.withResult(envelope(resolution));
        Optional<Entry> before = find(resolution.id());
        SettleResult result = store.resolve(List.of(wrapped)).get(0);
        if (result instanceof SettleResult.Settled && before.isPresent()) {
            events.tell(new Event.Changed(new Transition(
                    resolution.id(),
                    before.get().operation(),
                    State.UNKNOWN,
                    resolution.to(),
                    resolution.attempt(),
                    resolution.who(),
                    resolution.reason())));
        }
        return result;
    }

    private static byte @Nullable [] envelope(Resolution resolution) {
        if (resolution.to() != State.COMPLETED) {
            return null;
        }
        byte[] result = resolution.result();
        if (result != null && result.length <= Policy.RESULT_BYTES_MAX) {
            return Envelope.value(result);
        }
        String why = result == null ? "is not known" : "was too large to be stored";
        return Envelope.failure(new Failure(Failure.RESULT_NOT_STORED, "The effect was found; its result " + why));
    }

    /** See {@link dev.onlyonce.Onlyonce#evict}. */
    public boolean evict(EntryId id, String who, String reason) {
        Optional<Transition> evicted = store.evict(id, who, reason);
        engine.forget(id);
        evicted.ifPresent(transition -> events.tell(new Event.Changed(transition)));
        return evicted.isPresent();
    }

    /** See {@link dev.onlyonce.Onlyonce#sweep}. */
    public int sweep() {
        // First what this node knows: a sweep makes it unknown.
        return late.sendBeforeSweep() ? maintenance.sweep() : 0;
    }

    /** See {@link dev.onlyonce.Onlyonce#purge}. */
    public int purge() {
        return maintenance.purge();
    }

    /** See {@link dev.onlyonce.Onlyonce#reconcile}. */
    public Reconciler.Round reconcile() {
        return reconciliation.run(true);
    }

    /** How many claims this node holds now. */
    public int liveClaims() {
        return claims.size();
    }

    /** When to ask again about an unknown outcome. */
    public Duration retryAfterUnknown() {
        return Answer.RETRY_AFTER_UNKNOWN;
    }

    @Override
    public void close() {
        claims.close();
        late.close();
        maintenance.close();
        group.close();
        if (ownsTime) {
            time.close();
        }
    }
}
