package dev.onlyonce;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import java.util.Base64;

/**
 * The keys that an operation sends to the services behind it: every attempt sends the same one. The format is fixed:
 * changing it would make a retry look like a new request downstream.
 */
public final class DownstreamKey {
    /** 192 bits leave no chance of collision and make 32 characters, which every provider accepts. */
    private static final int BYTES = 24;

    private DownstreamKey() {}

    /** A pure function of tenant, operation, key and step: 32 URL-safe characters. */
    public static String of(Key key, String step) {
        Key.checkName("step", step);
        MessageDigest sha256;
        try {
            sha256 = MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java platform has SHA-256", e);
        }
        for (String part : new String[] {"onlyonce.downstream.1", key.tenant(), key.operation(), key.value(), step}) {
            byte[] bytes = part.getBytes(StandardCharsets.UTF_8);
            sha256.update(ByteBuffer.allocate(Integer.BYTES).putInt(0, bytes.length));
            sha256.update(bytes);
        }
        return Base64.getUrlEncoder().withoutPadding().encodeToString(Arrays.copyOf(sha256.digest(), BYTES));
    }
}
