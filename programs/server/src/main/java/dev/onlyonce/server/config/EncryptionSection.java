package dev.onlyonce.server.config;

import dev.onlyonce.store.Encryption;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The keys that stored responses are sealed with, under {@code store.encryption}. No message shows a key. */
final class EncryptionSection {
    private static final String MAKE = "; make one with: (umask 077; openssl rand -base64 32 > FILE)";

    private final Section section;

    EncryptionSection(Section section) {
        this.section = section;
    }

    @Nullable
    Encryption read() {
        int current = section.number("current", 1, 0, Integer.MAX_VALUE);
        Map<Integer, byte[]> keys = new LinkedHashMap<>();
        section.map("keys").forEach((id, file) -> {
            try {
                keys.put(Integer.valueOf(id), key(section.resolve(file)));
            } catch (NumberFormatException e) {
                section.wrong("keys", "\"" + id + "\" is not a number; write for example keys: {1: key-1}");
            } catch (IllegalArgumentException e) {
                section.wrong("keys", String.valueOf(e.getMessage()));
            }
        });
        section.end();
        byte[] key = keys.remove(current);
        if (key == null) {
            section.wrong(
                    "current",
                    "there is no key " + current + "; write for example keys: {" + current + ": key-" + current + "}");
            return null;
        }
        Encryption encryption = Encryption.with(current, key);
        for (Map.Entry<Integer, byte[]> other : keys.entrySet()) {
            encryption = encryption.and(other.getKey(), other.getValue());
        }
        return encryption;
    }

    private static byte[] key(Path file) {
        String text;
        try {
            OwnerOnly.check(file);
            text = Files.readString(file).strip();
        } catch (IOException e) {
            throw new IllegalArgumentException("the file " + file + " does not exist or cannot be read" + MAKE, e);
        }
        byte[] key = decoded(text);
        if (key.length != 16 && key.length != 32) {
            throw new IllegalArgumentException(file + " has not 16 or 32 bytes in Base64" + MAKE);
        }
        return key;
    }

    /** Nothing, if it is not Base64: the message of what is thrown would show a part of it. */
    private static byte[] decoded(String text) {
        try {
            return Base64.getDecoder().decode(text);
        } catch (IllegalArgumentException e) {
            return new byte[0];
        }
    }
}
