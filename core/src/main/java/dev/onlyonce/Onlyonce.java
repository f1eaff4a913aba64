package dev.onlyonce;

import static java.util.Objects.requireNonNull;

import dev.onlyonce.fingerprint.Fingerprint;
import dev.onlyonce.internal.ForOthers;
import dev.onlyonce.internal.GroupingStore;
import dev.onlyonce.store.Entry;
import dev.onlyonce.store.Envelope;
import dev.onlyonce.store.Store;
import dev.onlyonce.store.StoreException;
import dev.onlyonce.store.Time;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Makes operations take effect once: the entry point. One instance per process and store; any number of threads.
 *
 * <p>Every method that talks to the store throws {@link StoreException} when the store cannot do its part. Before the action
 * has run this means that it did not run. After it has run (only {@link dev.onlyonce.store.StoreOutcomeUnknown}) it means
 * that the effect happened and its record is in doubt: tell the client only to retry.
 */
public final class Onlyonce implements AutoCloseable {
    private final Parts parts;
    private final Registry registry;
    private final Engine engine;
    private final Claims claims;
    private final LateSettlements late;
    private final GroupingStore grouping;
    private final Maintenance maintenance;
    private final Operator operator;
    /** Closed with this, if nobody else brought it. */
    private final @Nullable Time ownTime;

    private Onlyonce(Builder builder) {
        // First, so that a build that fails leaves no background work behind.
        builder.check();
        Policy standard = builder.policy();
        ownTime = builder.time == null ? Time.system() : null;
        Time time = ownTime == null ? requireNonNull(builder.time) : ownTime;
        parts = new Parts(builder.node, builder.store, time, new Callbacks(time, builder.listeners));
        claims = new Claims(parts);
        late = new LateSettlements(parts);
        grouping = new GroupingStore(
                builder.store,
                time,
                new GroupingStore.Limits(builder.queueMax, builder.storeWaitMax),
                // On the thread that leads for others.
                failure -> ForOthers.run(() -> parts.tell(new Event.StoreFailed(failure))));
        ReplayCache cache = new ReplayCache(builder.cacheBytesMax, builder.rememberFor(), time);
        Settlements settlements = new Settlements(parts, grouping, claims, late, cache);
        engine = new Engine(parts, grouping, claims, settlements, cache, builder.waitersMax);
        registry = new Registry(
                parts,
                engine,
                new Registry.Declared(standard, builder.operations, builder.ways, Map.copyOf(builder.reconcilers)));
        maintenance = new Maintenance(parts, claims, late, builder.auditRetention);
        Reconciliation reconciliation =
                new Reconciliation(parts, engine::resolve, Map.copyOf(builder.reconcilers), registry::policy);
        operator = new Operator(builder.store, engine, maintenance, reconciliation);
        claims.start(Claims.beatFor(registry.shortestLease()));
        maintenance.repeat(builder.sweepEvery, maintenance::sweep);
        maintenance.repeat(builder.purgeEvery, maintenance::purge);
        maintenance.repeat(Maintenance.ANNOUNCE_EVERY, maintenance::announce);
        if (!builder.reconcilers.isEmpty()) {
            maintenance.repeat(builder.reconcileEvery, () -> reconciliation.run(false));
        }
    }

    /** Starts from {@link Policy#standard()}. The store is the caller's to close. */
    public static Builder builder(Store store) {
        return new Builder(store);
    }

    /**
     * Runs the action unless a request with this key has had its effect; otherwise answers with the outcome of that request. The
     * result is stored as JSON.
     *
     * @throws X the action's exception, by identity
     */
    public <T, X extends Exception> Outcome<T> execute(
            Key key, Fingerprint fingerprint, Class<T> result, Action<T, X> action) throws X {
        return execute(key, fingerprint, Codec.json(result), action);
    }

    /**
     * Runs the action unless a request with this key has had its effect; otherwise answers with the outcome of that request.
     *
     * @throws X the action's exception, by identity
     */
    public <T, X extends Exception> Outcome<T> execute(
            Key key, Fingerprint fingerprint, Codec<T> codec, Action<T, X> action) throws X {
        Policy policy = registry.policy(key.operation(), Way.LEASED);
        return engine.execute(key, fingerprint, policy, codec, action);
    }

    /** Claims for a caller that settles the claim itself; see {@link OpenClaim}. */
    public Begun begin(Key key, Fingerprint fingerprint) {
        return engine.begin(key, fingerprint, registry.policy(key.operation(), Way.LEASED));
    }

    /** The entry of a key, read from the store: no cache answers. */
    public Optional<Entry> find(Key key) {
        return engine.find(key.entryId());
    }

    /**
     * The encoded result in an entry that was read from the store, as its {@link Codec} made it; empty if there is none,
     * because the entry is not completed or its result was not stored.
     */
    public Optional<byte[]> result(Entry entry) {
        return entry.result() != null && Envelope.open(entry.result()) instanceof Envelope.Content.Value value
                ? Optional.of(value.bytes())
                : Optional.empty();
    }

    /** For operators and their tools. */
    public Operator operator() {
        return operator;
    }

    /** For code that offers a way of its own to execute; applications do not need it. */
    public Registry registry() {
        return registry;
    }

    /** How many claims this node holds now. */
    public int liveClaims() {
        return claims.size();
    }

    /** Stops heartbeats and background work. Actions that still run lose their lease unless they settle in time. */
    @Override
    public void close() {
        claims.close();
        late.close();
        maintenance.close();
        grouping.close();
        parts.callbacks().close();
        if (ownTime != null) {
            ownTime.close();
        }
    }

    /** Builds an {@link Onlyonce}. Its policy is that of operations without one of their own. */
    public static final class Builder extends PolicyOptions<Builder> {
        private final Store store;
        private final Map<String, Policy> operations = new HashMap<>();
        private final Map<String, Way> ways = new HashMap<>();
        private final Map<String, Reconciler> reconcilers = new HashMap<>();
        private final List<Listener> listeners = new ArrayList<>();
        private String node = NodeName.ofThisProcess();
        private @Nullable Time time;
        private Duration sweepEvery = Duration.ofSeconds(1);
        private Duration purgeEvery = Duration.ofMinutes(1);
        private Duration reconcileEvery = Duration.ofSeconds(1);
        private Duration storeWaitMax = Duration.ofSeconds(5);
        private int queueMax = 10_000;
        private int waitersMax = 1_000;
        private long cacheBytesMax = 32L << 20;
        private Duration cacheFor = Duration.ofSeconds(10);
        private Duration auditRetention = Duration.ofDays(400);

        private Builder(Store store) {
            this.store = requireNonNull(store, "store");
        }

        @Override
        Builder self() {
            return this;
        }

        /** Registers an operation with its settings. They start from those that this builder has so far. */
        public Builder operation(String operation, Consumer<OperationOptions> settings) {
            OperationOptions options = new OperationOptions(policy());
            settings.accept(options);
            operations.put(operation, options.policy());
            if (options.way() != null) {
                ways.put(operation, options.way());
            }
            if (options.reconciler() != null) {
                reconcilers.put(operation, options.reconciler());
            }
            return this;
        }

        /** Registers an operation with a whole policy. */
        public Builder operation(String operation, Policy policy) {
            operations.put(operation, policy);
            return this;
        }

        /** Finds out whether unknown entries of one operation took effect. */
        public Builder reconciler(String operation, Reconciler reconciler) {
            reconcilers.put(operation, reconciler);
            return this;
        }

        /** How often unknown entries are looked for. */
        public Builder reconcileEvery(Duration reconcileEvery) {
            this.reconcileEvery = reconcileEvery;
            return this;
        }

        /** Receives every decision and state change. */
        public Builder listener(Listener listener) {
            listeners.add(listener);
            return this;
        }

        /** This node's name, for operators and the audit; at most 255 characters. {@code host:pid} by default. */
        public Builder node(String name) {
            this.node = name;
            return this;
        }

        /** Another source of time; the caller closes it. */
        public Builder time(Time time) {
            this.time = time;
            return this;
        }

        /** How often lapsed leases are swept. */
        public Builder sweepEvery(Duration sweepEvery) {
            this.sweepEvery = sweepEvery;
            return this;
        }

        /** How often expired entries and audit records are purged. */
        public Builder purgeEvery(Duration purgeEvery) {
            this.purgeEvery = purgeEvery;
            return this;
        }

        /** How long a caller waits for the store. */
        public Builder storeWaitMax(Duration storeWaitMax) {
            this.storeWaitMax = storeWaitMax;
            return this;
        }

        /** How many callers may wait for the store. */
        public Builder queueMax(int queueMax) {
            this.queueMax = queueMax;
            return this;
        }

        /** How many duplicates may wait for running claims. */
        public Builder waitersMax(int waitersMax) {
            this.waitersMax = waitersMax;
            return this;
        }

        /** The size of the replay cache; 0 for none. */
        public Builder cacheBytesMax(long cacheBytesMax) {
            this.cacheBytesMax = cacheBytesMax;
            return this;
        }

        /** How long the cache keeps an answer at most, and so how late an eviction on another node is noticed. */
        public Builder cacheFor(Duration cacheFor) {
            this.cacheFor = cacheFor;
            return this;
        }

        /** How long audit records are kept, independently of their entries; 400 days by default. */
        public Builder auditRetention(Duration auditRetention) {
            this.auditRetention = auditRetention;
            return this;
        }

        private Duration rememberFor() {
            Duration max = store.rememberMax();
            return cacheFor.compareTo(max) < 0 ? cacheFor : max;
        }

        private void check() {
            Key.checkName("node", node);
            checkPositive("sweepEvery", sweepEvery);
            checkPositive("purgeEvery", purgeEvery);
            checkPositive("reconcileEvery", reconcileEvery);
            checkPositive("storeWaitMax", storeWaitMax);
            checkPositive("cacheFor", cacheFor);
            checkPositive("auditRetention", auditRetention);
            policy().check(store.limits());
            operations.values().forEach(policy -> policy.check(store.limits()));
            ways.forEach((operation, way) -> way.check(operation, store));
            reconcilers.forEach((operation, its) ->
                    operations.getOrDefault(operation, policy()).check(operation, its));
            if (queueMax < 1) {
                throw new IllegalArgumentException("queueMax must be positive: " + queueMax);
            }
            if (waitersMax < 0 || cacheBytesMax < 0) {
                throw new IllegalArgumentException("waitersMax and cacheBytesMax must not be negative");
            }
        }

        private static void checkPositive(String what, Duration duration) {
            if (duration.isZero() || duration.isNegative()) {
                throw new IllegalArgumentException(what + " must be positive: " + duration);
            }
        }

        /** Checks, builds and starts the background work; throws {@link IllegalArgumentException}. */
        public Onlyonce build() {
            return new Onlyonce(this);
        }
    }
}
