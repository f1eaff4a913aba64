package dev.onlyonce.client;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.SecureRandom;
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
        return id -> UUID.randomUUID().toString();
    }

    /** UUIDs of version 7, which begin with the time: keys made one after the other are stored one after the other. */
    static KeySource uuidV7(ClientTime time) {
        SecureRandom random = new SecureRandom();
        return id -> {
            byte[] bytes = new byte[16];
            random.nextBytes(bytes);
            ByteBuffer buffer = ByteBuffer.wrap(bytes);
            long high = (time.now().toEpochMilli() << 16) | 0x7000 | (buffer.getShort(6) & 0x0FFF);
            long low = (buffer.getLong(8) & 0x3FFF_FFFF_FFFF_FFFFL) | 0x8000_0000_0000_0000L;
            return new UUID(high, low).toString();
        };
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
