package dev.onlyonce.benchmarks;

import dev.onlyonce.Codec;
import dev.onlyonce.Key;
import dev.onlyonce.Onlyonce;
import dev.onlyonce.Outcome;
import dev.onlyonce.fingerprint.Fingerprint;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.UUID;
import java.util.concurrent.ThreadLocalRandom;

/** The operation that every contender does: a fresh key, and a response of 512 bytes. */
final class Work {
    static final String TENANT = "acme";
    static final String OPERATION = "POST /payments";
    static final int RESPONSE_BYTES = 512;
    static final Fingerprint FINGERPRINT = Fingerprint.of("{\"amount\":10}".getBytes(StandardCharsets.UTF_8));
    static final byte[] DIGEST = FINGERPRINT.digest();

    private Work() {}

    /** A random UUID as clients make them, by a generator that costs next to nothing. */
    static String newKey() {
        ThreadLocalRandom random = ThreadLocalRandom.current();
        return new UUID(random.nextLong(), random.nextLong()).toString();
    }

    /** Bytes that do not compress, as an encrypted or signed answer would be. */
    static byte[] response() {
        byte[] response = new byte[RESPONSE_BYTES];
        ThreadLocalRandom.current().nextBytes(response);
        return response;
    }

    static byte[] bytes(UUID uuid) {
        return ByteBuffer.allocate(16)
                .putLong(uuid.getMostSignificantBits())
                .putLong(uuid.getLeastSignificantBits())
                .array();
    }

    /** One fresh operation by the engine. */
    static void execute(Onlyonce once) {
        Key key = Key.of(TENANT, OPERATION, newKey());
        Outcome<byte[]> outcome = once.execute(key, FINGERPRINT, Codec.bytes(), claim -> response());
        if (!(outcome instanceof Outcome.Executed)) {
            throw new IllegalStateException("a fresh key was answered with " + outcome);
        }
    }
}
