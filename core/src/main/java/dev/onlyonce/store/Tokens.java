package dev.onlyonce.store;

import java.nio.ByteBuffer;
import java.security.NoSuchAlgorithmException;
import java.security.SecureRandom;
import java.util.List;
import java.util.UUID;

/**
 * Fencing tokens: 128 random bits that no other process makes, not even one that was started from the same snapshot of a
 * JVM (SnapStart, CRaC, a cloned virtual machine). Every token is read from the operating system: whatever a process keeps,
 * be it a counter, a seed or a buffer, is copied with it. {@code SecureRandom.nextBytes} keeps a buffer and a state,
 * {@code UUID.randomUUID} uses it, and so neither will do; {@code generateSeed} of the generators below keeps nothing.
 *
 * <p>A token costs about a microsecond. A virtual machine that is cloned while it runs needs an operating system that
 * notices it (Linux 5.18 or newer, with a VM generation id).
 */
public final class Tokens {
    /** The operating system's own generators, which never block: of Unix and of Windows. */
    private static final List<String> SYSTEMS = List.of("NativePRNGNonBlocking", "Windows-PRNG");

    private static final SecureRandom SYSTEM = system();

    private Tokens() {}

    /** A new token. */
    public static UUID next() {
        ByteBuffer bytes = ByteBuffer.wrap(bytes(2 * Long.BYTES));
        return new UUID(bytes.getLong(), bytes.getLong());
    }

    /** New random bytes. */
    static byte[] bytes(int count) {
        return SYSTEM.generateSeed(count);
    }

    private static SecureRandom system() {
        for (String name : SYSTEMS) {
            try {
                return SecureRandom.getInstance(name);
            } catch (NoSuchAlgorithmException e) {
                // Another system.
            }
        }
        return new SecureRandom();
    }
}
