package dev.onlyonce;

import dev.onlyonce.store.Store;
import dev.onlyonce.store.Time;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;

/**
 * What all ways to execute share: the store, the operations with their policies, the listeners, the time, and this node's name.
 * For code that offers a way of its own; applications do not need it. Safe for any number of threads.
 */
public final class Registry {
    /** Operations are few; more than this means that somebody puts ids into their names. */
    private static final int OPERATIONS_MAX = 10_000;

    private final Store store;
    private final Time time;
    private final String name;
    private final Events events;
    private final Policy standard;
    private final Map<String, Policy> policies;
    private final Map<String, Way> declared;
    private final Map<String, Way> ways = new ConcurrentHashMap<>();

    Registry(
            Store store,
            Time time,
            String name,
            Events events,
            Policy standard,
            Map<String, Policy> policies,
            Map<String, Way> ways) {
        this.store = store;
        this.time = time;
        this.name = name;
        this.events = events;
        this.standard = standard;
        this.policies = new ConcurrentHashMap<>(policies);
        this.declared = Map.copyOf(ways);
        this.ways.putAll(ways);
    }

    /** The store that all ways use. */
    public Store store() {
        return store;
    }

    /** The source of time that waiting and background work follow. */
    public Time time() {
        return time;
    }

    /** This node's name, for entries and the audit. */
    public String name() {
        return name;
    }

    /** The policy of an operation: its own, or the default. */
    public Policy policy(String operation) {
        return policies.getOrDefault(operation, standard);
    }

    /** The policy that an operation was given of its own, if it was. */
    public Optional<Policy> ownPolicy(String operation) {
        return Optional.ofNullable(policies.get(operation));
    }

    /** The operations that were declared to be executed in a way. */
    public Set<String> declared(Way way) {
        return declared.entrySet().stream()
                .filter(operation -> operation.getValue() == way)
                .map(Map.Entry::getKey)
                .collect(Collectors.toUnmodifiableSet());
    }

    /** The shortest lease of all policies. */
    public Duration shortestLease() {
        Duration shortest = standard.terms().lease();
        for (Policy policy : policies.values()) {
            Duration lease = policy.terms().lease();
            shortest = lease.compareTo(shortest) < 0 ? lease : shortest;
        }
        return shortest;
    }

    /**
     * The policy of an operation that is about to be executed in a way. The first use fixes the way.
     *
     * @throws IllegalStateException if the operation is executed in another way
     */
    public Policy policy(String operation, Way way) {
        Way fixed = ways.get(operation);
        if (fixed == null) {
            fixed = ways.size() < OPERATIONS_MAX ? ways.putIfAbsent(operation, way) : way;
        }
        if (fixed != null && fixed != way) {
            throw new IllegalStateException("operation " + operation + " is executed the " + fixed
                    + " way, so it cannot be executed the " + way
                    + " way as well: give one of the two another name");
        }
        return policy(operation);
    }

    /**
     * Declares an operation that was not known when the engine was built, with its policy and its way.
     *
     * @throws IllegalStateException if the operation is executed in another way
     */
    public void declare(String operation, Policy policy, Way way) {
        policy(operation, way);
        policies.put(operation, policy);
    }

    /** Passes an event to all listeners. */
    public void publish(Event event) {
        events.tell(event);
    }
}
