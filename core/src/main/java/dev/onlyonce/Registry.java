package dev.onlyonce;

import dev.onlyonce.fingerprint.Fingerprint;
import dev.onlyonce.store.Entry;
import dev.onlyonce.store.Store;
import dev.onlyonce.store.StoreException;
import dev.onlyonce.store.Time;
import java.time.Duration;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;

/**
 * What every way to execute shares: the store, the node's name, the operations with their policies, the listeners, and the
 * engine. For code that offers a way of its own, such as transactions or HTTP; applications have no need of it.
 */
public final class Registry {
    private final Parts parts;
    private final Operations operations;
    private final Engine engine;

    Registry(Parts parts, Operations operations, Engine engine) {
        this.parts = parts;
        this.operations = operations;
        this.engine = engine;
    }

    /** The store that all ways use. */
    public Store store() {
        return parts.store();
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
        parts.events().tell(event);
    }

    /** The policy of an operation: its own, or the default. */
    public Policy policy(String operation) {
        return operations.policy(operation);
    }

    /** The policy of an operation's own, if it has one. */
    public Optional<Policy> ownPolicy(String operation) {
        return operations.ownPolicy(operation);
    }

    /** The operations that were declared to be executed in a way. */
    public Set<String> declared(Way way) {
        return operations.declared(way);
    }

    /** The shortest lease of all policies. */
    public Duration shortestLease() {
        return operations.shortestLease();
    }

    /**
     * The policy of an operation that is about to be executed in a way. The first use fixes the way.
     *
     * @throws IllegalStateException if the operation is executed in another way
     */
    public Policy policy(String operation, Way way) {
        return operations.policy(operation, way);
    }

    /**
     * Executes under the caller's policy; otherwise as {@link Onlyonce#execute}.
     *
     * @throws X the action's exception, by identity
     */
    public <T, X extends Exception> Outcome<T> execute(
            Key key, Fingerprint fingerprint, Policy policy, Codec<T> codec, Action<T, X> action) throws X {
        return engine.execute(key, fingerprint, policy, codec, action);
    }

    /** Begins under the caller's policy; otherwise as {@link Onlyonce#begin}. */
    public Begun begin(Key key, Fingerprint fingerprint, Policy policy) {
        return engine.begin(key, fingerprint, policy);
    }

    /**
     * The answer, if this node has it in memory. Never asks the store, and so never blocks. Counted as a decision. A caller
     * that uses it claims with {@link #claim}, so that each request looks into memory once.
     *
     * @throws StoreException if the recorded request cannot be compared with this one
     */
    public Optional<Outcome<byte[]>> cached(Key key, Fingerprint fingerprint) {
        return engine.cached(key, fingerprint);
    }

    /**
     * Begins without looking into memory, and without blocking. The stage is completed when {@link #begin} would return or
     * throw. Dependent stages run on a thread that others wait for, or on this one: they must be quick and must not block.
     *
     * @param blocking runs code that blocks: waiting for a running duplicate, and claiming an entry that another request
     *     has released. If it takes no more, the stage fails with {@link dev.onlyonce.store.StoreUnavailable}
     */
    public CompletionStage<Begun> claim(Key key, Fingerprint fingerprint, Policy policy, Executor blocking) {
        return engine.claim(key, fingerprint, policy, blocking);
    }

    /** Begins without looking into memory; blocks. */
    public Begun claim(Key key, Fingerprint fingerprint, Policy policy) {
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
