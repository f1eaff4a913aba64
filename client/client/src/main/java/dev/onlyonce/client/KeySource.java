package dev.onlyonce.client;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.util.Base64;
import java.util.UUID;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/** Makes the key for a business id. It is asked once for each id; after that the journal knows the key. */
@FunctionalInterface
public interface KeySource {
    /** A key of 1 to 255 visible ASCII characters. */
    String make(String id);

    /** Random: 122 bits as a UUID. */
    static KeySource random() {
        return id ->
                uuid(4, ByteBuffer.wrap(FreshBytes.of(Long.BYTES)).getLong()).toString();
    }

    /** UUIDs of version 7, which begin with the time: keys made one after the other are stored one after the other. */
    static KeySource uuidV7(ClientTime time) {
        return id -> {
            long random = ByteBuffer.wrap(FreshBytes.of(Short.BYTES)).getShort();
            return uuid(7, (time.now().toEpochMilli() << 16) | (random & 0x0FFF))
                    .toString();
        };
    }

    /** A UUID that begins with these bits, except for its version. */
    private static UUID uuid(int version, long high) {
        long low = ByteBuffer.wrap(FreshBytes.of(Long.BYTES)).getLong();
        return new UUID((high & ~0xF000L) | (version << 12), (low & 0x3FFF_FFFF_FFFF_FFFFL) | 0x8000_0000_0000_0000L);
    }

    /**
     * Derived from the id by HMAC-SHA-256: the same key for the same id even if the journal is lost. Nobody can guess keys
     * without the secret, which needs at least 16 bytes and must never change.
     */
    static KeySource derived(byte[] secret) {
        if (secret.length < 16) {
            throw new IllegalArgumentException("The secret needs at least 16 bytes");
        }
        SecretKeySpec key = new SecretKeySpec(secret, "HmacSHA256");
        return id -> {
            try {
                Mac mac = Mac.getInstance("HmacSHA256");
                mac.init(key);
                byte[] made = mac.doFinal(id.getBytes(StandardCharsets.UTF_8));
                return Base64.getUrlEncoder().withoutPadding().encodeToString(made);
            } catch (GeneralSecurityException e) {
                throw new IllegalStateException("every JDK has HmacSHA256", e);
            }
        };
    }
}
