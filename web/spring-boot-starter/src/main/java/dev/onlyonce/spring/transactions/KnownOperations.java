package dev.onlyonce.spring.transactions;

import dev.onlyonce.Onlyonce;
import dev.onlyonce.Policy;
import dev.onlyonce.Way;
import dev.onlyonce.spring.Idempotent;
import dev.onlyonce.spring.operations.ChosenWay;
import dev.onlyonce.spring.operations.InvalidSettings;
import java.lang.reflect.Method;
import java.time.Duration;
import java.util.List;

/** Decides how annotated operations run, and tells the engine of them. */
public final class KnownOperations {
    private final Onlyonce once;
    private final WaySelector ways;
    private final Downgrades downgrades;

    KnownOperations(Onlyonce once, WaySelector ways, Downgrades downgrades) {
        this.once = once;
        this.ways = ways;
        this.downgrades = downgrades;
    }

    /** The way of an operation's method; notes if it is a weaker one than its {@code @Transactional} suggests. */
    public ChosenWay choose(Idempotent annotation, Method method, Class<?> type, String operation) {
        ways.downgrade(annotation, method, type).ifPresent(reason -> downgrade(operation, reason));
        return ways.choose(annotation, method, type);
    }

    /** Notes that an operation runs leased although it is {@code @Transactional}. */
    public void downgrade(String operation, String reason) {
        downgrades.add(operation, reason);
    }

    /** Entries that are stored under names that an operation had are executed as the operation is. */
    public void declareFormer(List<String> names, Policy policy, Way way) {
        for (String name : names) {
            // It may be the name of another operation now.
            if (once.registry().ownPolicy(name).isEmpty()) {
                declare(name, policy, way);
            }
        }
    }

    /** Declares an operation; throws {@link InvalidSettings} if it is executed in another way elsewhere. */
    public void declare(String operation, Policy policy, Way way) {
        // A queued request waits after its commit; to wait for an uncommitted duplicate would hold a connection.
        Policy declared =
                way == Way.QUEUED ? policy.toBuilder().waitMax(Duration.ZERO).build() : policy;
        try {
            once.registry().declare(operation, declared, way);
        } catch (IllegalStateException e) {
            throw new InvalidSettings(
                    "The operation \"" + operation + "\" is declared with two ways: " + e.getMessage(),
                    "Give one of the two another name: @Idempotent(operation = \"...\").",
                    e);
        }
    }
}
