package dev.onlyonce.spring.store;

import dev.onlyonce.spring.OnlyonceProperties.EncryptionSettings;
import dev.onlyonce.spring.operations.InvalidSettings;
import dev.onlyonce.store.Encryption;
import java.util.Base64;
import java.util.Map;
import java.util.stream.Collectors;

/** Reads {@code onlyonce.encryption.*}, and says what to change if it cannot. No message shows a key. */
final class EncryptionKeys {
    private EncryptionKeys() {}

    static Encryption read(EncryptionSettings settings) {
        Map<Integer, byte[]> keys = settings.keys().entrySet().stream()
                .collect(Collectors.toMap(Map.Entry::getKey, key -> decoded(key.getKey(), key.getValue())));
        Integer current = settings.current();
        byte[] key = current == null ? null : keys.remove(current);
        if (current == null || key == null) {
            throw new InvalidSettings(
                    "onlyonce.encryption.current is " + (current == null ? "missing" : current)
                            + ", which is none of the keys " + settings.keys().keySet(),
                    "Set onlyonce.encryption.current to the id of the key that seals new results, and"
                            + " onlyonce.encryption.keys.<id> to 16 or 32 random bytes in Base64 (openssl rand -base64 32).",
                    null);
        }
        try {
            Encryption encryption = Encryption.with(current, key);
            for (Map.Entry<Integer, byte[]> other : keys.entrySet()) {
                encryption = encryption.and(other.getKey(), other.getValue());
            }
            return encryption;
        } catch (IllegalArgumentException e) {
            throw new InvalidSettings(
                    "onlyonce.encryption.keys cannot be used: " + e.getMessage(),
                    "Make keys with: openssl rand -base64 32",
                    e);
        }
    }

    private static byte[] decoded(int id, String base64) {
        try {
            return Base64.getDecoder().decode(base64);
        } catch (IllegalArgumentException e) {
            throw new InvalidSettings(
                    "onlyonce.encryption.keys." + id + " is not Base64",
                    "Make keys with: openssl rand -base64 32",
                    null);
        }
    }
}
