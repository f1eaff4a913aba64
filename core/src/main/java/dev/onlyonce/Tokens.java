package dev.onlyonce;

import java.security.SecureRandom;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Fencing tokens: unique, not secret. 64 random bits for the node and a counter, because asking the secure random
 * generator for every token costs more than the rest of a claim's way to the store.
 */
final class Tokens {
    private final long node = new SecureRandom().nextLong();
    private final AtomicLong count = new AtomicLong();

    UUID next() {
        return new UUID(node, count.incrementAndGet());
    }
}
