package dev.onlyonce;

import static java.util.Objects.requireNonNull;

import dev.onlyonce.internal.Node;
import dev.onlyonce.internal.NodeName;
import dev.onlyonce.store.AuditQuery;
import dev.onlyonce.store.AuditRecord;
import dev.onlyonce.store.Entry;
import dev.onlyonce.store.EntryQuery;
import dev.onlyonce.store.Resolution;
import dev.onlyonce.store.SettleResult;
import dev.onlyonce.store.Store;
import dev.onlyonce.store.StoreException;
import dev.onlyonce.store.Time;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/**
 * Makes operations take effect once: the entry point. One instance per process and store; any number of threads.
 *
 * <p>Every method that talks to the store throws {@link StoreException} when the store cannot do its part. Before the action
 * has run this means that it did not run. After it has run (only {@link dev.onlyonce.store.StoreOutcomeUnknown}) it means
 * that the effect happened and its record is in doubt: tell the client to retry, and nothing else.
 */
public final class Onlyonce implements AutoCloseable {
    private final Node node;
    private final Policy policy;
    private final Map<String, Policy> operations;

    private Onlyonce(Builder builder) {
        policy = builder.policy.build();
        operations = Map.copyOf(builder.operations);
        List<Policy> policies = new ArrayList<>(operations.values());
        policies.add(policy);
        node = new Node(builder.options(), policies);
    }

    /** Starts from {@link Policy#standard()}. The store is the caller's to close. */
    public static Builder builder(Store store) {
        return new Builder(store);
    }

    /**
     * Runs the action if, and only if, no request with this key has had its effect; otherwise answers what became of that.
     *
     * @throws X what the action throws, by identity
     */
    public <T, X extends Exception> Outcome<T> execute(
            Key key, Fingerprint fingerprint, Codec<T> codec, Action<T, X> action) throws X {
        return execute(key, fingerprint, policy(key.operation()), codec, action);
    }

    /**
     * The same under a policy of the caller's.
     *
     * @throws X what the action throws, by identity
     */
    public <T, X extends Exception> Outcome<T> execute(
            Key key, Fingerprint fingerprint, Policy policy, Codec<T> codec, Action<T, X> action) throws X {
        Begun begun = begin(key, fingerprint, policy);
        if (begun instanceof Begun.Answered answered) {
            return answered.outcome().map(codec::decode);
        }
        OpenClaim claim = ((Begun.Mine) begun).claim();
        return run(claim, policy.failures(), codec, action);
    }

    private <T, X extends Exception> Outcome<T> run(
            OpenClaim claim, FailureRule failures, Codec<T> codec, Action<T, X> action) throws X {
        T value;
        try {
            value = action.run(claim);
        } catch (Throwable thrown) {
            settle(claim, failures, thrown);
            throw thrown;
        }
        byte[] encoded;
        try {
            encoded = requireNonNull(codec.encode(value), "the encoded result");
        } catch (RuntimeException | Error e) {
            // The effect has happened: whatever is wrong with its result, it must not happen again.
            settle(claim, new Ending.CompletedWithoutResult(), e);
            throw e;
        }
        SettleResult result = claim.complete(encoded);
        return result instanceof SettleResult.Settled settled
                ? new Outcome.Executed<>(value, requireNonNull(settled.expiresAt()))
                : new Outcome.Unknown<>(node.retryAfterUnknown());
    }

    private static void settle(OpenClaim claim, FailureRule failures, Throwable thrown) {
        Ending unknown = new Ending.Unknown(thrown.getClass().getName());
        try {
            FailureRule.Verdict verdict = failures.judge(thrown);
            if (verdict instanceof FailureRule.Verdict.NoEffect) {
                settle(claim, new Ending.Retryable(thrown.getClass().getName()), thrown);
            } else if (verdict instanceof FailureRule.Verdict.Final failed) {
                settle(claim, new Ending.Failed(failed.failure()), thrown);
            } else {
                settle(claim, unknown, thrown);
            }
        } catch (RuntimeException | Error e) {
            // Either the rule broke, or its verdict cannot be recorded: nobody knows, then.
            suppress(thrown, e);
            try {
                settle(claim, unknown, thrown);
            } catch (RuntimeException | Error again) {
                suppress(thrown, again);
            }
        }
    }

    private static void suppress(Throwable thrown, Throwable other) {
        if (other != thrown) {
            thrown.addSuppressed(other);
        }
    }

    /** Ends a claim for a caller that must see what was thrown; recording goes on without it. */
    private static void settle(OpenClaim claim, Ending ending, Throwable thrown) {
        try {
            claim.settle(ending);
        } catch (StoreException e) {
            suppress(thrown, e);
        }
    }

    /** Claims for a caller that settles by itself; see {@link OpenClaim}. */
    public Begun begin(Key key, Fingerprint fingerprint) {
        return node.begin(key, fingerprint, policy(key.operation()));
    }

    /** The same under a policy of the caller's. */
    public Begun begin(Key key, Fingerprint fingerprint, Policy policy) {
        return node.begin(key, fingerprint, policy);
    }

    /**
     * The same without blocking. The stage is completed when the method above would return or throw. What follows on it runs
     * on a thread that others wait for, or on this one: it must be quick and must not block.
     *
     * @param blocking runs what blocks: waiting for a running duplicate, and claiming what another request has released. If
     *     it takes no more, the stage fails with {@link dev.onlyonce.store.StoreUnavailable}
     */
    public CompletionStage<Begun> begin(Key key, Fingerprint fingerprint, Policy policy, Executor blocking) {
        return node.begin(key, fingerprint, policy, blocking);
    }

    /** The answer, if this node has it in memory; never talks to the store, and so never blocks. Counted as a decision. */
    public Optional<Outcome<byte[]>> cached(Key key, Fingerprint fingerprint) {
        return node.cached(key, fingerprint);
    }

    /** The policy of an operation: its own, or the default. */
    public Policy policy(String operation) {
        return operations.getOrDefault(operation, policy);
    }

    /** The policy that an operation was given of its own, if it was. */
    public Optional<Policy> ownPolicy(String operation) {
        return Optional.ofNullable(operations.get(operation));
    }

    /** What stands in the store for a key, past what any cache says. */
    public Optional<Entry> find(Key key) {
        return node.find(key.entryId());
    }

    /**
     * The encoded result in an entry that was read from the store, as its {@link Codec} made it; empty if there is none,
     * because the entry is not completed or its result was not stored.
     */
    public Optional<byte[]> result(Entry entry) {
        return node.result(entry);
    }

    /** For operators: entries in the order of their ids. */
    public List<Entry> list(EntryQuery query) {
        return node.store().list(query);
    }

    /** How many entries a tenant has in the store, tombstones included; stops counting at {@code max}. */
    public int countStored(String tenant, int max) {
        return node.store().countStored(tenant, max);
    }

    /** How many entries there are in the store, tombstones included; stops counting at {@code max}. */
    public int countStored(int max) {
        return node.store().countStored(null, max);
    }

    /** For operators: what the audit has about a key, oldest first. */
    public List<AuditRecord> history(Key key) {
        return node.store().history(key.entryId());
    }

    /** For operators: what the audit has, oldest first. */
    public List<AuditRecord> audit(AuditQuery query) {
        return node.store().audit(query);
    }

    /**
     * For the reconciler and operators: moves an unknown entry on. A result is the operation's encoded result, as its
     * {@link Codec} makes it.
     */
    public SettleResult resolve(Resolution resolution) {
        return node.resolve(resolution);
    }

    /**
     * For operators: forgets a settled entry, so that its key starts anew.
     *
     * @return whether there was a settled entry to forget
     */
    public boolean evict(Key key, String who, String reason) {
        return node.evict(key.entryId(), who, reason);
    }

    /** Sweeps lapsed leases now; it also happens in the background. Returns how many entries changed. */
    public int sweep() {
        return node.sweep();
    }

    /**
     * Asks about all unknown entries whose operation has a {@link Reconciler} now, due or not; in the background it happens
     * when they are due. Blocks until all were asked about.
     */
    public Reconciler.Round reconcile() {
        return node.reconcile();
    }

    /** Purges expired entries and audit records now; it also happens in the background. Returns how many entries changed. */
    public int purge() {
        return node.purge();
    }

    /** How many claims this node holds now. */
    public int liveClaims() {
        return node.liveClaims();
    }

    /** The source of time that waiting and background work follow. */
    public Time time() {
        return node.time();
    }

    /** Stops heartbeats and background work. Actions that still run lose their lease unless they settle in time. */
    @Override
    public void close() {
        node.close();
    }

    /** Builds an {@link Onlyonce}. */
    public static final class Builder {
        private final Store store;
        private final Policy.Builder policy = Policy.builder();
        private final Map<String, Policy> operations = new HashMap<>();
        private final Map<String, Reconciler> reconcilers = new HashMap<>();
        private final List<Listener> listeners = new ArrayList<>();
        private String name = NodeName.ofThisProcess();
        private @Nullable Time time;
        private Duration sweepEvery = Duration.ofSeconds(1);
        private Duration purgeEvery = Duration.ofMinutes(1);
        private Duration reconcileEvery = Duration.ofSeconds(1);
        private Duration storeWaitMax = Duration.ofSeconds(5);
        private int queueMax = 10_000;
        private int waitersMax = 1_000;
        private long cacheBytesMax = 32L << 20;
        private Duration cacheFor = Duration.ofMinutes(10);
        private Duration auditRetention = Duration.ofDays(400);

        private Builder(Store store) {
            this.store = requireNonNull(store, "store");
        }

        /** How long a claim holds without a heartbeat, unless the operation says otherwise. */
        public Builder lease(Duration lease) {
            policy.lease(lease);
            return this;
        }

        /** How long retries are answered, counted from settling, unless the operation says otherwise. */
        public Builder retention(Duration retention) {
            policy.retention(retention);
            return this;
        }

        /** How long a key is remembered after that without its result, unless the operation says otherwise. */
        public Builder tombstone(Duration tombstone) {
            policy.tombstone(tombstone);
            return this;
        }

        /** What becomes of an entry whose owner died, unless the operation says otherwise. */
        public Builder onLeaseLost(OnLeaseLost onLeaseLost) {
            policy.onLeaseLost(onLeaseLost);
            return this;
        }

        /** How long a duplicate waits for the running one, unless the operation says otherwise. */
        public Builder waitMax(Duration waitMax) {
            policy.waitMax(waitMax);
            return this;
        }

        /** The largest result that is stored, unless the operation says otherwise. */
        public Builder resultBytesMax(int resultBytesMax) {
            policy.resultBytesMax(resultBytesMax);
            return this;
        }

        /** What exceptions prove, unless the operation says otherwise. */
        public Builder failures(FailureRule failures) {
            policy.failures(failures);
            return this;
        }

        /** How long a claim may be held before it is settled, unless the operation says otherwise; see {@link Policy}. */
        public Builder heldMax(Duration heldMax) {
            policy.heldMax(heldMax);
            return this;
        }

        /** A policy for one operation. */
        public Builder operation(String operation, Policy policy) {
            operations.put(operation, policy);
            return this;
        }

        /** Finds out about unknown entries of one operation. */
        public Builder reconciler(String operation, Reconciler reconciler) {
            reconcilers.put(operation, reconciler);
            return this;
        }

        /** How often unknown entries are looked for. */
        public Builder reconcileEvery(Duration reconcileEvery) {
            this.reconcileEvery = reconcileEvery;
            return this;
        }

        /** Is told of every decision and change. */
        public Builder listener(Listener listener) {
            listeners.add(listener);
            return this;
        }

        /** This node's name, for operators and the audit; at most 255 characters. {@code host:pid} unless told otherwise. */
        public Builder name(String name) {
            this.name = name;
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

        /** How long audit records are kept, whatever becomes of their entries; 400 days unless told otherwise. */
        public Builder auditRetention(Duration auditRetention) {
            this.auditRetention = auditRetention;
            return this;
        }

        private Node.Options options() {
            return new Node.Options(
                    store,
                    name,
                    time,
                    List.copyOf(listeners),
                    Map.copyOf(reconcilers),
                    new Node.Every(sweepEvery, purgeEvery, reconcileEvery),
                    new Node.Bounds(storeWaitMax, queueMax, waitersMax, cacheBytesMax, cacheFor, auditRetention));
        }

        /** Checks, builds and starts the background work; throws {@link IllegalArgumentException}. */
        public Onlyonce build() {
            return new Onlyonce(this);
        }
    }
}
