package dev.onlyonce.spring.transactions;

import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentSkipListSet;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Methods that are {@code @Transactional} and {@code @Idempotent}, but run in the leased way although nobody asked for that:
 * their effects are made at most once and not exactly once. Said at start-up and in the actuator, never silent.
 */
public final class Downgrades {
    private static final Logger log = LoggerFactory.getLogger(Downgrades.class);

    private final Set<String> found = new ConcurrentSkipListSet<>();

    void add(String operation, String reason) {
        if (found.add(operation + ": " + reason)) {
            log.warn(
                    "{} is @Transactional, but runs leased and not in one transaction with its entry: {}. Say way = LEASED if"
                            + " that is meant.",
                    operation,
                    reason);
        }
    }

    public List<String> all() {
        return List.copyOf(found);
    }
}
