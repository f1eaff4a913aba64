package dev.onlyonce;

import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import java.util.Optional;

/** Placeholder until the canonical fingerprint is merged. */
public final class Fingerprint {
    public static final int DIGEST_BYTES = 32;
    private final int version;
    private final byte[] digest;

    private Fingerprint(int version, byte[] digest) {
        this.version = version;
        this.digest = digest;
    }

    public static Fingerprint of(byte[] body) {
        try {
            return new Fingerprint(1, MessageDigest.getInstance("SHA-256").digest(body));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e);
        }
    }

    public static Fingerprint stored(int version, byte[] digest) {
        return new Fingerprint(version, digest.clone());
    }

    public int version() {
        return version;
    }

    public byte[] digest() {
        return digest.clone();
    }

    public Optional<Fingerprint> in(int version) {
        return version == this.version ? Optional.of(this) : Optional.empty();
    }

    public boolean matches(Fingerprint other) {
        return version == other.version && MessageDigest.isEqual(digest, other.digest);
    }

    @Override
    public boolean equals(Object o) {
        return o instanceof Fingerprint f && matches(f);
    }

    @Override
    public int hashCode() {
        return Arrays.hashCode(digest);
    }
}
