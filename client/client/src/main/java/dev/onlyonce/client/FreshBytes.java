package dev.onlyonce.client;

import java.security.NoSuchAlgorithmException;
import java.security.SecureRandom;
import java.util.List;

/**
 * Random bytes that are read from the operating system each time. A buffer or a seed in this process would be copied with it:
 * two processes that start from one snapshot of a JVM must not make the same keys.
 */
final class FreshBytes {
    private static final SecureRandom SYSTEM = system();

    private FreshBytes() {}

    /** New random bytes. */
    static byte[] of(int count) {
        // nextBytes has a buffer and a state; generateSeed of these generators has neither.
        return SYSTEM.generateSeed(count);
    }

    private static SecureRandom system() {
        for (String name : List.of("NativePRNGNonBlocking", "Windows-PRNG")) {
            try {
                return SecureRandom.getInstance(name);
            } catch (NoSuchAlgorithmException e) {
                // Another system.
            }
        }
        return new SecureRandom();
    }
}
