package dev.onlyonce;

import dev.onlyonce.internal.CanonicalRequest;
import dev.onlyonce.internal.CanonicalRequest.BodyKind;
import dev.onlyonce.internal.Ignored;
import dev.onlyonce.internal.Utf8;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * What a request is known by: the SHA-256 of its canonical bytes, and the version of the algorithm that made it. Two
 * requests have the same fingerprint if and only if they ask for the same thing.
 *
 * <p>The version holds the algorithm in its low 8 bits (1 now) and the id of a secret in the bits above (0: none). With a
 * secret, the digest is the HMAC-SHA-256 of the plain one, so that a stored fingerprint does not let anybody who reads it
 * try out likely requests. A fingerprint made from a request can say what it would be {@linkplain #in in another version},
 * so that neither an upgrade nor a new secret makes a retry look like another request.
 *
 * <p>An immutable value: equal if version and digest are.
 */
public final class Fingerprint {
    /** The length of every digest. */
    public static final int DIGEST_BYTES = 32;

    /** As many bits of the version as the algorithm takes. */
    private static final int ALGORITHM_BITS = 8;

    private static final int ALGORITHM_MASK = (1 << ALGORITHM_BITS) - 1;

    /** What fits above the algorithm in an int that stores may keep signed. */
    static final int SECRET_ID_MAX = Integer.MAX_VALUE >>> ALGORITHM_BITS;

    private final int version;
    private final byte[] digest;
    /** The digest without a secret, from which those with one are made; null if a store gave this fingerprint. */
    private final byte @Nullable [] plain;

    private final Secrets secrets;

    private Fingerprint(int version, byte[] digest, byte @Nullable [] plain, Secrets secrets) {
        this.version = version;
        this.digest = digest;
        this.plain = plain;
        this.secrets = secrets;
    }

    /**
     * The fingerprint of opaque bytes, compared one by one.
     *
     * @throws MalformedRequest if there are more than {@link Fingerprinter#BODY_BYTES_MAX_DEFAULT}
     */
    public static Fingerprint of(byte[] body) {
        return ofBody(BodyKind.BYTES, body);
    }

    /**
     * The fingerprint of a JSON text in UTF-8: order of members, white space and spelling of numbers and strings do not
     * matter.
     *
     * @throws MalformedRequest if it is not JSON, has a duplicate member, or goes over a limit
     */
    public static Fingerprint ofJson(byte[] json) {
        if (json.length == 0) {
            throw new MalformedRequest(MalformedRequest.Reason.MALFORMED_JSON, "the text is not JSON: it is empty");
        }
        return ofBody(BodyKind.JSON, json);
    }

    /** As {@link #ofJson(byte[])}. */
    public static Fingerprint ofJson(String json) {
        return ofJson(Utf8.encode(json));
    }

    /**
     * What a store read back. It can be compared, but not brought into another version.
     *
     * @throws IllegalArgumentException if the digest does not have {@link #DIGEST_BYTES} bytes
     */
    public static Fingerprint stored(int version, byte[] digest) {
        if (digest.length != DIGEST_BYTES) {
            throw new IllegalArgumentException(
                    "a fingerprint has " + DIGEST_BYTES + " bytes, this one has " + digest.length);
        }
        return new Fingerprint(version, digest.clone(), null, Secrets.NONE);
    }

    /** The fingerprint of a canonical request, by the current secret. */
    static Fingerprint of(CanonicalRequest request, Secrets secrets) {
        byte[] plain = sha256(request);
        Fingerprint unsealed = new Fingerprint(CanonicalRequest.ALGORITHM, plain, plain, secrets);
        return unsealed.in(version(secrets.current())).orElseThrow();
    }

    private static Fingerprint ofBody(BodyKind kind, byte[] body) {
        Fingerprinter.checkSize(body, Fingerprinter.BODY_BYTES_MAX_DEFAULT);
        CanonicalRequest request = new CanonicalRequest(body.length);
        request.body(kind, body, Ignored.NONE);
        return of(request, Secrets.NONE);
    }

    private static int version(int secretId) {
        return secretId << ALGORITHM_BITS | CanonicalRequest.ALGORITHM;
    }

    private static byte[] sha256(CanonicalRequest request) {
        try {
            MessageDigest sha256 = MessageDigest.getInstance("SHA-256");
            sha256.update(request.array(), 0, request.size());
            return sha256.digest();
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java platform has SHA-256", e);
        }
    }

    /** The algorithm (low 8 bits) and the id of the secret (the bits above). */
    public int version() {
        return version;
    }

    /** The digest, a copy. */
    public byte[] digest() {
        return digest.clone();
    }

    /**
     * The fingerprint of the same request by another version; empty if this one cannot compute it, because the version's
     * algorithm or secret is not known here or because this one was {@linkplain #stored read from a store}.
     */
    public Optional<Fingerprint> in(int otherVersion) {
        if (otherVersion == version) {
            return Optional.of(this);
        }
        boolean known = otherVersion > 0 && (otherVersion & ALGORITHM_MASK) == CanonicalRequest.ALGORITHM;
        byte[] unsealed = plain;
        if (unsealed == null || !known) {
            return Optional.empty();
        }
        return secrets.seal(otherVersion >>> ALGORITHM_BITS, unsealed)
                .map(keyed -> new Fingerprint(otherVersion, keyed, unsealed, secrets));
    }

    /** Whether version and digest are equal, in a time that does not tell where they differ. */
    public boolean matches(Fingerprint other) {
        return version == other.version && MessageDigest.isEqual(digest, other.digest);
    }

    @Override
    public boolean equals(@Nullable Object object) {
        return object instanceof Fingerprint other && matches(other);
    }

    @Override
    public int hashCode() {
        return Objects.hash(version, Arrays.hashCode(digest));
    }

    /** The version and the first bytes, enough to tell two apart in a log. */
    @Override
    public String toString() {
        return "Fingerprint[" + version + ":" + HexFormat.of().formatHex(digest, 0, 4) + "…]";
    }
}
