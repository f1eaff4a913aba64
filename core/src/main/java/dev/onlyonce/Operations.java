package dev.onlyonce;

import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;

/** The policies of all operations, and the one way in which each is executed. */
final class Operations {
    /** Operations are few; more than this means that their names contain ids. */
    private static final int OPERATIONS_MAX = 10_000;

    private final Policy standard;
    private final Map<String, Policy> policies;
    private final Map<String, Way> declared;
    private final Map<String, Way> ways = new ConcurrentHashMap<>();

    Operations(Policy standard, Map<String, Policy> policies, Map<String, Way> ways) {
        this.standard = standard;
        this.policies = Map.copyOf(policies);
        this.declared = Map.copyOf(ways);
        this.ways.putAll(ways);
    }

    Policy policy(String operation) {
        return policies.getOrDefault(operation, standard);
    }

    Optional<Policy> ownPolicy(String operation) {
        return Optional.ofNullable(policies.get(operation));
    }

    Set<String> declared(Way way) {
        return declared.entrySet().stream()
                .filter(operation -> operation.getValue() == way)
                .map(Map.Entry::getKey)
                .collect(Collectors.toUnmodifiableSet());
    }

    /** See {@link Registry#policy(String, Way)}. */
    Policy policy(String operation, Way way) {
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

    Duration shortestLease() {
        Duration shortest = standard.terms().lease();
        for (Policy policy : policies.values()) {
            Duration lease = policy.terms().lease();
            shortest = lease.compareTo(shortest) < 0 ? lease : shortest;
        }
        return shortest;
    }
}
