package dev.onlyonce.redis;

import dev.onlyonce.store.CacheOptions;
import dev.onlyonce.store.Encryption;
import dev.onlyonce.store.Entry;
import dev.onlyonce.store.EntryId;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.List;
import java.util.Optional;

/**
 * Seals the entries in the shared cache, so that nobody who reads Redis can read them, and nobody who writes to it can make one up,
 * change one, or move one to another key or another store.
 *
 * @param name of the store that is cached
 */
record CacheSeal(Encryption encryption, String name) {
    private static final int SECRET_CHARACTERS_MIN = 32;
    private static final int SECRET_KEY_ID = 0;

    /**
     * As the options say.
     *
     * @throws IllegalArgumentException if they have neither encryption nor a long secret, or no name
     */
    static CacheSeal of(CacheOptions options) {
        if (options.name().isBlank()) {
            throw new IllegalArgumentException(
                    "the shared cache needs a name for the store that it caches: the same on all nodes of the store, and another for"
                            + " every other store");
        }
        if (options.encryption() != null) {
            return new CacheSeal(options.encryption(), options.name());
        }
        String secret = options.secret();
        if (secret == null || secret.length() < SECRET_CHARACTERS_MIN) {
            throw new IllegalArgumentException("the shared cache needs a secret of at least " + SECRET_CHARACTERS_MIN
                    + " characters, the same on all nodes, because whoever can write to Redis could make up answers"
                    + " without it: set one (openssl rand -base64 32), or turn on the encryption of the store");
        }
        byte[] key = sha256().digest(secret.getBytes(StandardCharsets.UTF_8));
        return new CacheSeal(Encryption.with(SECRET_KEY_ID, key), options.name());
    }

    /** The name of an entry's key in Redis. It does not show the client's key. */
    byte[] key(EntryId id) {
        MessageDigest digest = sha256();
        for (String part : List.of(name, id.tenant(), id.scope(), id.key())) {
            byte[] bytes = part.getBytes(StandardCharsets.UTF_8);
            digest.update(ByteBuffer.allocate(Integer.BYTES).putInt(0, bytes.length));
            digest.update(bytes);
        }
        byte[] prefix = Partitions.bytes("onlyonce-cache:");
        return ByteBuffer.allocate(prefix.length + digest.getDigestLength())
                .put(prefix)
                .put(digest.digest())
                .array();
    }

    byte[] seal(Entry entry) {
        return encryption.seal(entry.id(), use(), CachedEntry.write(entry));
    }

    /** The entry as it was sealed for this id; empty if it was not sealed with our key, or has been tampered with. */
    Optional<Entry> open(EntryId id, byte[] sealed) {
        if (!Encryption.isSealed(sealed)) {
            return Optional.empty();
        }
        try {
            return Optional.of(CachedEntry.read(id, encryption.open(id, use(), sealed)));
        } catch (RuntimeException e) {
            return Optional.empty();
        }
    }

    private String use() {
        return "cache " + name;
    }

    private static MessageDigest sha256() {
        try {
            return MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java platform has SHA-256", e);
        }
    }
}
