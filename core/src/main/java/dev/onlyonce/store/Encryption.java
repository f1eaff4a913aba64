package dev.onlyonce.store;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import javax.crypto.Cipher;
import javax.crypto.spec.GCMParameterSpec;
import javax.crypto.spec.SecretKeySpec;
import org.jspecify.annotations.Nullable;

/**
 * Seals recorded results with AES-GCM, so that a reader of the database cannot read them, and nobody can change a
 * sealed one or move it to another entry unnoticed. A record that was never sealed is accepted as it is, so a writer to the
 * database can still replace one. Keys have ids: new records are sealed with the current key, older ones opened
 * with theirs. Immutable; any number of threads.
 *
 * <p>Format 1, which never changes: the bytes {@code C5 4F 45 01}, the key's id (4 bytes), a random nonce (12 bytes), ciphertext
 * and tag. Authenticated with it are those first 8 bytes, the entry's tenant, scope and key, and the use of the record.
 */
public final class Encryption {
    /** No entry's result begins so unsealed: they begin with their own format. Nor does JSON or other UTF-8. */
    private static final byte[] MAGIC = {(byte) 0xC5, 'O', 'E', 1};

    private static final int HEAD_BYTES = 8;
    private static final int NONCE_BYTES = 12;
    private static final int TAG_BYTES = 16;

    private final int current;
    private final Map<Integer, SecretKeySpec> keys;

    private Encryption(int current, Map<Integer, SecretKeySpec> keys) {
        this.current = current;
        this.keys = Map.copyOf(keys);
    }

    /**
     * With this key from now on. What was recorded before, without encryption, is still read.
     *
     * @param id tells this key from earlier and later ones; stored with every record
     * @param key 16 or 32 random bytes
     * @throws IllegalArgumentException if the key has another length
     */
    public static Encryption with(int id, byte[] key) {
        return new Encryption(id, Map.of(id, checked(id, key)));
    }

    /**
     * The same, and records that another key has sealed can be opened: an earlier one, until the last of its records is past
     * retention; or the next one, before any node seals with it.
     *
     * @throws IllegalArgumentException if the id is taken, or the key has not 16 or 32 bytes
     */
    public Encryption and(int id, byte[] key) {
        Map<Integer, SecretKeySpec> more = new HashMap<>(keys);
        if (more.put(id, checked(id, key)) != null) {
            throw new IllegalArgumentException("there are two keys with the id " + id);
        }
        return new Encryption(current, more);
    }

    private static SecretKeySpec checked(int id, byte[] key) {
        if (key.length != 16 && key.length != 32) {
            throw new IllegalArgumentException("a key must have 16 or 32 bytes, but key " + id + " has " + key.length);
        }
        return new SecretKeySpec(key, "AES");
    }

    /**
     * Seals a record.
     *
     * @param id of the entry it belongs to
     * @param use tells the records of one entry apart; opening needs the same
     */
    public byte[] seal(EntryId id, String use, byte[] plain) {
        // Fresh from the system: copies of one process must not seal two records with one nonce.
        byte[] nonce = Tokens.bytes(NONCE_BYTES);
        byte[] head = ByteBuffer.allocate(HEAD_BYTES).put(MAGIC).putInt(current).array();
        try {
            byte[] sealed = cipher(Cipher.ENCRYPT_MODE, head, nonce, id, use).doFinal(plain);
            return ByteBuffer.allocate(HEAD_BYTES + NONCE_BYTES + sealed.length)
                    .put(head)
                    .put(nonce)
                    .put(sealed)
                    .array();
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("every Java platform has AES-GCM", e);
        }
    }

    /** Whether a record was sealed, with any key. */
    public static boolean isSealed(byte[] record) {
        return record.length >= HEAD_BYTES + NONCE_BYTES + TAG_BYTES
                && Arrays.equals(record, 0, MAGIC.length, MAGIC, 0, MAGIC.length);
    }

    /** The id of the key that sealed a record. */
    public static int keyOf(byte[] sealed) {
        return ByteBuffer.wrap(sealed).getInt(MAGIC.length);
    }

    /**
     * Opens a record; one that was never sealed is returned as it is.
     *
     * @throws EntryUnreadable if its key is not known here, or it was changed or belongs elsewhere
     */
    public byte[] open(EntryId id, String use, byte[] record) {
        if (!isSealed(record)) {
            return record;
        }
        if (!keys.containsKey(keyOf(record))) {
            throw unopened(id, record, "which is not configured here: add it to the keys", null);
        }
        byte[] head = Arrays.copyOf(record, HEAD_BYTES);
        byte[] nonce = Arrays.copyOfRange(record, HEAD_BYTES, HEAD_BYTES + NONCE_BYTES);
        int from = HEAD_BYTES + NONCE_BYTES;
        try {
            return cipher(Cipher.DECRYPT_MODE, head, nonce, id, use).doFinal(record, from, record.length - from);
        } catch (GeneralSecurityException e) {
            throw unopened(id, record, "but not with the one configured here, or it was changed or moved", e);
        }
    }

    private static EntryUnreadable unopened(
            EntryId id, byte[] record, String why, @Nullable GeneralSecurityException cause) {
        return new EntryUnreadable("A record of " + id + " was sealed with key " + keyOf(record) + ", " + why, cause);
    }

    private Cipher cipher(int mode, byte[] head, byte[] nonce, EntryId id, String use) throws GeneralSecurityException {
        Cipher cipher = Cipher.getInstance("AES/GCM/NoPadding");
        cipher.init(mode, keys.get(keyOf(head)), new GCMParameterSpec(TAG_BYTES * Byte.SIZE, nonce));
        cipher.updateAAD(head);
        for (String part : List.of(id.tenant(), id.scope(), id.key(), use)) {
            byte[] bytes = part.getBytes(StandardCharsets.UTF_8);
            cipher.updateAAD(ByteBuffer.allocate(Integer.BYTES).putInt(0, bytes.length));
            cipher.updateAAD(bytes);
        }
        return cipher;
    }
}
