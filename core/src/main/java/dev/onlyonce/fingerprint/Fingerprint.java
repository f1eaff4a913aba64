package dev.onlyonce.fingerprint;

import dev.onlyonce.fingerprint.CanonicalRequest.BodyKind;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Identifies a request: the SHA-256 of its canonical bytes, and the version of the algorithm that made it. Two
 * requests have the same fingerprint if and only if they ask for the same thing.
 *
 * <p>The version holds the algorithm in its low 8 bits and the id of a secret in the bits above (0: none). With a
 * secret, the digest is the HMAC-SHA-256 of the plain one, so that a stored fingerprint does not let anybody who reads it
 * try out likely requests. A fingerprint made from a request can say what it would be {@linkplain #in in another version},
 * so that neither an upgrade nor a new secret makes a retry look like another request.
 *
 * <p>Algorithm 1 is the request alone. Algorithm 2 is {@linkplain #boundTo bound} to the caller's credentials: the first half
 * of the digest is that of algorithm 1, the second half is made from the first half and the credentials. So the credentials can
 * be checked without the request, are never stored, and give another digest in every entry.
 *
 * <p>A fingerprint may carry its request's {@linkplain #target target}, for operators. Stores keep it and never compare it.
 *
 * <p>An immutable value: equal if version and digest are.
 */
public final class Fingerprint {
    /** The length of every digest. */
    public static final int DIGEST_BYTES = 32;

    /** The longest target, in UTF-8: enough to recognise a request, little enough to be part of every entry. */
    public static final int TARGET_BYTES_MAX = 512;

    /** As many bits of the version as the algorithm takes. */
    private static final int ALGORITHM_BITS = 8;

    private static final int ALGORITHM_MASK = (1 << ALGORITHM_BITS) - 1;

    /** The algorithm that adds the caller's credentials to {@link CanonicalRequest#ALGORITHM}. */
    private static final int BOUND = 2;

    /** 128 bits for the request and as many for the credentials: nobody finds others that fit. */
    private static final int BOUND_REQUEST_BYTES = DIGEST_BYTES / 2;

    /** What fits above the algorithm in an int that stores may keep signed. */
    static final int SECRET_ID_MAX = Integer.MAX_VALUE >>> ALGORITHM_BITS;

    private final int version;
    private final byte[] digest;
    /** Null if a store gave this fingerprint. */
    private final @Nullable Source source;

    private final @Nullable String target;

    /**
     * From which the digests of all versions are made.
     *
     * @param plain the digest without a secret
     * @param credentials null unless the fingerprint is bound
     */
    private record Source(
            byte[] plain, Secrets secrets, @Nullable String credentials) {}

    private Fingerprint(int version, byte[] digest, @Nullable Source source, @Nullable String target) {
        this.version = version;
        this.digest = digest;
        this.source = source;
        this.target = target;
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
     * A fingerprint that a store read back. It can be compared, but not converted to another version.
     *
     * @throws IllegalArgumentException if the digest does not have {@link #DIGEST_BYTES} bytes
     */
    public static Fingerprint stored(int version, byte[] digest) {
        return stored(version, digest, null);
    }

    /** As {@link #stored(int, byte[])}, with the {@linkplain #target target} that was stored beside it, or null. */
    public static Fingerprint stored(int version, byte[] digest, @Nullable String target) {
        if (digest.length != DIGEST_BYTES) {
            throw new IllegalArgumentException(
                    "a fingerprint has " + DIGEST_BYTES + " bytes, this one has " + digest.length);
        }
        return new Fingerprint(version, digest.clone(), null, TargetText.clean(target));
    }

    /** The fingerprint of a canonical request, by the current secret. */
    static Fingerprint of(CanonicalRequest request, Secrets secrets) {
        MessageDigest sha256 = sha256();
        sha256.update(request.array(), 0, request.size());
        byte[] plain = sha256.digest();
        Fingerprint unsealed =
                new Fingerprint(CanonicalRequest.ALGORITHM, plain, new Source(plain, secrets, null), null);
        return unsealed.in(version(secrets.current(), CanonicalRequest.ALGORITHM))
                .orElseThrow();
    }

    private static Fingerprint ofBody(BodyKind kind, byte[] body) {
        Fingerprinter.checkSize(body, Fingerprinter.BODY_BYTES_MAX_DEFAULT);
        CanonicalRequest request = new CanonicalRequest(body.length);
        request.body(kind, body, Ignored.NONE);
        return of(request, Secrets.NONE);
    }

    private static int version(int secretId, int algorithm) {
        return secretId << ALGORITHM_BITS | algorithm;
    }

    private static MessageDigest sha256() {
        try {
            return MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java platform has SHA-256", e);
        }
    }

    /**
     * The fingerprint of the same request from a caller with these credentials: another caller's never matches it. Entries that
     * were stored without credentials still match.
     *
     * @param text everything that the caller shows; empty if it shows nothing. Not stored
     * @throws IllegalStateException if this one was {@linkplain #stored read from a store}
     */
    public Fingerprint boundTo(String text) {
        if (source == null) {
            throw new IllegalStateException("a stored fingerprint cannot be bound");
        }
        Fingerprint bound = new Fingerprint(version, digest, new Source(source.plain, source.secrets, text), target);
        return bound.in(version(version >>> ALGORITHM_BITS, BOUND)).orElseThrow();
    }

    /**
     * Whether a caller with these credentials may see a request with this fingerprint: always, unless it is
     * {@linkplain #boundTo bound} to others. Never if its secret is not known.
     */
    boolean isFor(String text, Secrets known) {
        if ((version & ALGORITHM_MASK) != BOUND) {
            return true;
        }
        return bind(version >>> ALGORITHM_BITS, digest, text, known)
                .filter(bound -> MessageDigest.isEqual(digest, bound))
                .isPresent();
    }

    private static Optional<byte[]> bind(int secretId, byte[] sealed, String text, Secrets secrets) {
        MessageDigest sha256 = sha256();
        sha256.update(sealed, 0, BOUND_REQUEST_BYTES);
        sha256.update(text.getBytes(StandardCharsets.UTF_8));
        return secrets.seal(secretId, sha256.digest()).map(caller -> {
            byte[] bound = Arrays.copyOf(sealed, DIGEST_BYTES);
            System.arraycopy(caller, 0, bound, BOUND_REQUEST_BYTES, DIGEST_BYTES - BOUND_REQUEST_BYTES);
            return bound;
        });
    }

    /**
     * The same fingerprint with its request's {@linkplain #target target}. A text that is too long is cut and ends with "…";
     * control characters and other invisible ones are replaced.
     *
     * @param text for example {@code POST /v1/charges/ch_1/refund}; null or empty for none. No query: it may hold secrets
     */
    public Fingerprint about(@Nullable String text) {
        return new Fingerprint(version, digest, source, TargetText.clean(text));
    }

    /**
     * What the request was made for, for operators: where many paths are one operation, its name does not tell. Never compared:
     * the path is part of the digest.
     *
     * @return for example {@code POST /v1/charges/ch_1/refund}; null if nobody said
     */
    public @Nullable String target() {
        return target;
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
        Source from = source;
        if (from == null || otherVersion <= 0) {
            return Optional.empty();
        }
        int algorithm = otherVersion & ALGORITHM_MASK;
        String credentials = from.credentials;
        if (algorithm != CanonicalRequest.ALGORITHM && (algorithm != BOUND || credentials == null)) {
            return Optional.empty();
        }
        int secretId = otherVersion >>> ALGORITHM_BITS;
        Optional<byte[]> sealed = from.secrets.seal(secretId, from.plain);
        if (algorithm == BOUND && credentials != null) {
            sealed = sealed.flatMap(request -> bind(secretId, request, credentials, from.secrets));
        }
        return sealed.map(other -> new Fingerprint(otherVersion, other, from, target));
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
