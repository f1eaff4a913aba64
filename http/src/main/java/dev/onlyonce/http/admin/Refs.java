package dev.onlyonce.http.admin;

import dev.onlyonce.store.EntryId;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.SecureRandom;
import java.util.Arrays;
import java.util.Base64;
import javax.crypto.Cipher;
import javax.crypto.Mac;
import javax.crypto.spec.GCMParameterSpec;
import javax.crypto.spec.SecretKeySpec;

/**
 * An entry's id as one opaque word: to ask for it, and to continue a listing after it. For callers who may not see keys it is sealed with a
 * secret of this process, so that it says nothing about the key, and is the same each time.
 */
final class Refs {
    private static final String SEPARATOR = "\n";
    private static final char OPEN = 'k';
    private static final char SEALED = 's';
    private static final int NONCE_BYTES = 12;
    private static final int TAG_BITS = 128;

    private final byte[] secret = new byte[32];
    private final byte[] nonces = new byte[32];

    Refs() {
        SecureRandom random = new SecureRandom();
        random.nextBytes(secret);
        random.nextBytes(nonces);
    }

    String of(EntryId id, boolean open) {
        byte[] text = String.join(SEPARATOR, id.tenant(), id.scope(), id.key()).getBytes(StandardCharsets.UTF_8);
        return open ? OPEN + encode(text) : SEALED + encode(seal(text));
    }

    /** Whether it says nothing about the key. */
    static boolean isSealed(String ref) {
        return !ref.isEmpty() && ref.charAt(0) == SEALED;
    }

    EntryId read(String ref) {
        try {
            byte[] bytes = Base64.getUrlDecoder().decode(ref.isEmpty() ? "" : ref.substring(1));
            byte[] text = ref.charAt(0) == SEALED ? open(bytes) : bytes;
            String[] parts = new String(text, StandardCharsets.UTF_8).split(SEPARATOR, -1);
            if (parts.length == 3 && (ref.charAt(0) == OPEN || ref.charAt(0) == SEALED)) {
                return new EntryId(parts[0], parts[1], parts[2]);
            }
        } catch (IllegalArgumentException | IndexOutOfBoundsException | GeneralSecurityException e) {
            // Falls through to the same message.
        }
        throw new IllegalArgumentException(
                "this is not a reference that a listing gave, or the program has been restarted since: look the key up"
                        + " again");
    }

    private static String encode(byte[] bytes) {
        return Base64.getUrlEncoder().withoutPadding().encodeToString(bytes);
    }

    /** The nonce is made from the text: the same text gives the same word, and no two texts share a nonce. */
    private byte[] seal(byte[] text) {
        try {
            Mac mac = Mac.getInstance("HmacSHA256");
            mac.init(new SecretKeySpec(nonces, "HmacSHA256"));
            byte[] nonce = Arrays.copyOf(mac.doFinal(text), NONCE_BYTES);
            byte[] sealed = cipher(Cipher.ENCRYPT_MODE, nonce).doFinal(text);
            byte[] both = Arrays.copyOf(nonce, NONCE_BYTES + sealed.length);
            System.arraycopy(sealed, 0, both, NONCE_BYTES, sealed.length);
            return both;
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("every Java platform has AES-GCM and HMAC-SHA-256", e);
        }
    }

    private byte[] open(byte[] both) throws GeneralSecurityException {
        byte[] nonce = Arrays.copyOf(both, NONCE_BYTES);
        return cipher(Cipher.DECRYPT_MODE, nonce).doFinal(both, NONCE_BYTES, Math.max(0, both.length - NONCE_BYTES));
    }

    private Cipher cipher(int mode, byte[] nonce) throws GeneralSecurityException {
        Cipher cipher = Cipher.getInstance("AES/GCM/NoPadding");
        cipher.init(mode, new SecretKeySpec(secret, "AES"), new GCMParameterSpec(TAG_BITS, nonce));
        return cipher;
    }
}
