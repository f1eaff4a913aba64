package dev.onlyonce;

import dev.onlyonce.fingerprint.Fingerprint;
import dev.onlyonce.internal.ForOthers;
import dev.onlyonce.store.CacheCounts;
import dev.onlyonce.store.Entry;
import dev.onlyonce.store.Store;
import dev.onlyonce.store.StoreException;
import dev.onlyonce.store.Time;
import java.time.Duration;
import java.util.Comparator;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * What every way to execute shares: the store, the node's name, the operations with their policies, the listeners, and the
 * engine. For code that offers a way of its own, such as transactions or HTTP; applications do not need it.
 */
public final class Registry {
    /** Operations are few; more than this means that their names contain ids. */
    private static final int OPERATIONS_MAX = 10_000;

    private final Parts parts;
    private final Engine engine;
    private final Policy standard;
    private final Map<String, Policy> policies;
    private final Map<String, Way> declared;
    private final Map<String, Way> ways;
    private final Map<String, Reconciler> reconcilers;

    /**
     * What the builder knows about operations.
     *
     * @param standard the policy of operations without one of their own
     */
    record Declared(
            Policy standard,
            Map<String, Policy> policies,
            Map<String, Way> ways,
            Map<String, Reconciler> reconcilers) {}

    Registry(Parts parts, Engine engine, Declared declared) {
        this.parts = parts;
        this.engine = engine;
        this.standard = declared.standard;
        this.policies = new ConcurrentHashMap<>(declared.policies);
        this.declared = Map.copyOf(declared.ways);
        this.ways = new ConcurrentHashMap<>(declared.ways);
        this.reconcilers = declared.reconcilers;
    }

    /** The store that all ways use, behind any cache in front of it. */
    public Store store() {
        return parts.store().origin();
    }

    /** What the shared cache in front of the store has done on this node; empty if there is none. */
    public Optional<CacheCounts> cache() {
        return parts.store().cache();
    }

    /** The source of time that waiting and background work follow. */
    public Time time() {
        return parts.time();
    }

    /** This node's name, for entries and the audit. */
    public String name() {
        return parts.name();
    }

    /** Passes an event to all listeners. */
    public void publish(Event event) {
        parts.tell(event);
    }

    /** Runs work that others wait for: listeners receive its events on threads of their own. */
    public void background(Runnable work) {
        ForOthers.run(work);
    }

    /** The policy of an operation: its own, or the default. */
    public Policy policy(String operation) {
        return policies.getOrDefault(operation, standard);
    }

    /** The policy of an operation's own, if it has one. */
    public Optional<Policy> ownPolicy(String operation) {
        return Optional.ofNullable(policies.get(operation));
    }

    /** The operations that the builder declared to be executed in a way. */
    public Set<String> declared(Way way) {
        return declared.entrySet().stream()
                .filter(operation -> operation.getValue() == way)
                .map(Map.Entry::getKey)
                .collect(Collectors.toUnmodifiableSet());
    }

    /** The operations that are known: declared, or used since the start. In the order of their names. */
    public Set<String> operations() {
        Set<String> names = new TreeSet<>(policies.keySet());
        names.addAll(ways.keySet());
        return names;
    }

    /** The way that an operation is executed, once that is fixed. */
    public Optional<Way> way(String operation) {
        return Optional.ofNullable(ways.get(operation));
    }

    /** Whether somebody finds out about the operation's unknown entries. */
    public boolean isReconciled(String operation) {
        return reconcilers.containsKey(operation);
    }

    /** The shortest lease of all policies. */
    public Duration shortestLease() {
        return Stream.concat(Stream.of(standard), policies.values().stream())
                .map(policy -> policy.terms().lease())
                .min(Comparator.naturalOrder())
                .orElseThrow();
    }

    /**
     * The policy of an operation that is about to be executed in a way. The first use fixes the way.
     *
     * @throws IllegalStateException if the operation is executed in another way
     */
    public Policy policy(String operation, Way way) {
        fix(operation, way);
        return policy(operation);
    }

    private void fix(String operation, Way way) {
        Way fixed = ways.get(operation);
        if (fixed == null) {
            fixed = ways.size() < OPERATIONS_MAX ? ways.putIfAbsent(operation, way) : way;
        }
        check(operation, way, fixed);
    }

    private static void check(String operation, Way way, @Nullable Way fixed) {
        if (fixed != null && fixed != way) {
            throw new IllegalStateException("operation " + operation + " is executed the " + fixed
                    + " way, so it cannot be executed the " + way
                    + " way as well: give one of the two another name");
        }
    }

    /**
     * Declares an operation that was not known when the engine was built, with its policy and its way.
     *
     * @throws IllegalArgumentException if the store cannot hold its results, or cannot execute it this way, or its reconciler
     *     believes an absence while a call may be on its way
     * @throws IllegalStateException if the operation is executed in another way
     */
    public void declare(String operation, Policy policy, Way way) {
        // However many operations there are: names in requests must not crowd out those that the application declares.
        policy.check(store().limits());
        way.check(operation, store());
        Reconciler reconciler = reconcilers.get(operation);
        if (reconciler != null) {
            policy.check(operation, reconciler);
        }
        check(operation, way, ways.putIfAbsent(operation, way));
        policies.put(operation, policy);
    }

    /**
     * Executes the leased way, under the caller's policy; otherwise as {@link Onlyonce#execute}.
     *
     * @throws X the action's exception, by identity
     * @throws IllegalStateException if the operation is executed in another way
     */
    public <T, X extends Exception> Outcome<T> execute(
            Key key, Fingerprint fingerprint, Policy policy, Codec<T> codec, Action<T, X> action) throws X {
        fix(key.operation(), Way.LEASED);
        return engine.execute(key, fingerprint, policy, codec, action);
    }

    /**
     * Begins under the caller's policy; otherwise as {@link Onlyonce#begin}. For any way that holds a lease: the caller has
     * fixed it by {@link #policy(String, Way)}.
     */
    public Begun begin(Key key, Fingerprint fingerprint, Policy policy) {
        return engine.begin(key, fingerprint, policy);
    }

    /**
     * The answer, if this node has it in memory; never a mismatch, which only the store can tell. Never asks the store, and so never blocks. Counted as a decision. A caller
     * that uses it claims with {@link #claim}, so that each request looks into memory once.
     *
     * @throws StoreException if the recorded request cannot be compared with this one
     */
    public Optional<Outcome<byte[]>> cached(Key key, Fingerprint fingerprint) {
        return engine.cached(key, fingerprint);
    }

    /**
     * Keeps a recorded answer in memory, as the leased way does: within the cache's bounds, and not if it was evicted here meanwhile. For a
     * way that settles entries itself. Does nothing with an entry that has no answer.
     *
     * @param entry committed, with its result as applications get it
     * @param sinceNanos by {@link #time}, when its transaction or its read began
     */
    public void remember(Entry entry, long sinceNanos) {
        engine.remember(entry, sinceNanos);
    }

    /**
     * Begins the leased way without looking into memory, and without blocking. The stage is completed when {@link #begin}
     * would return or throw. Dependent stages run on a thread that others wait for, or on this one: they must be quick and
     * must not block.
     *
     * @param blocking runs code that blocks: waiting for a running duplicate, and claiming an entry that another request
     *     has released. If it takes no more, the stage fails with {@link dev.onlyonce.store.StoreUnavailable}
     * @throws IllegalStateException if the operation is executed in another way
     */
    public CompletionStage<Begun> claim(Key key, Fingerprint fingerprint, Policy policy, Executor blocking) {
        fix(key.operation(), Way.LEASED);
        return engine.claim(key, fingerprint, policy, blocking);
    }

    /**
     * Begins the leased way without looking into memory; blocks.
     *
     * @throws IllegalStateException if the operation is executed in another way
     */
    public Begun claim(Key key, Fingerprint fingerprint, Policy policy) {
        fix(key.operation(), Way.LEASED);
        return engine.claim(key, fingerprint, policy);
    }

    /**
     * The answer to a request whose key is in use: a mismatch before anything else, then by state. Never
     * {@link Outcome.Executed}. A retryable entry is answered as in flight: claim it instead.
     *
     * @param retryAfter when to ask again about an entry in flight
     */
    public static Outcome<byte[]> answer(Key key, Fingerprint fingerprint, Entry entry, Duration retryAfter) {
        return Answer.of(key, fingerprint, entry, retryAfter);
    }
}
