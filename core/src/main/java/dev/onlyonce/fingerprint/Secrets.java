package dev.onlyonce.fingerprint;

import java.security.InvalidKeyException;
import java.security.NoSuchAlgorithmException;
import java.util.Map;
import java.util.Optional;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/** The secrets that fingerprints may be made with, by id; id 0 is none. Immutable. */
final class Secrets {
    static final String ALGORITHM = "HmacSHA256";
    static final Secrets NONE = new Secrets(0, Map.of());

    private final int current;
    private final Map<Integer, SecretKeySpec> byId;

    Secrets(int current, Map<Integer, SecretKeySpec> byId) {
        this.current = current;
        this.byId = Map.copyOf(byId);
    }

    /** The id of the secret that new fingerprints are made with. */
    int current() {
        return current;
    }

    /** The digest that is stored for a request's plain digest under a secret; empty if the secret is not known. */
    Optional<byte[]> seal(int id, byte[] plain) {
        if (id == 0) {
            return Optional.of(plain);
        }
        SecretKeySpec secret = byId.get(id);
        if (secret == null) {
            return Optional.empty();
        }
        try {
            Mac mac = Mac.getInstance(ALGORITHM);
            mac.init(secret);
            return Optional.of(mac.doFinal(plain));
        } catch (NoSuchAlgorithmException | InvalidKeyException e) {
            throw new IllegalStateException("every Java platform has " + ALGORITHM, e);
        }
    }
}
