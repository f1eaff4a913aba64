package dev.onlyonce.fingerprint;

import dev.onlyonce.fingerprint.CanonicalRequest.BodyKind;
import dev.onlyonce.fingerprint.MalformedRequest.Reason;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.SortedSet;
import java.util.StringJoiner;
import java.util.TreeSet;
import javax.crypto.spec.SecretKeySpec;
import org.jspecify.annotations.Nullable;

/**
 * How HTTP requests become fingerprints: one instance per operation, immutable, for any number of threads.
 *
 * <p>Two requests have the same fingerprint if and only if they agree in
 *
 * <ul>
 *   <li>the method, in upper case; path and query as they were sent, byte for byte (no query is an empty one);
 *   <li>the {@linkplain Builder#headers selected headers}: several lines of a header count as one, joined by ", ";
 *   <li>the body. JSON ({@code application/json}, {@code text/json}, {@code …+json}, in UTF-8) is compared by its canonical
 *       form, {@code application/x-www-form-urlencoded} as a list of names and values, anything else, compressed bodies too,
 *       byte for byte. No bytes are no body, whatever the content type says.
 * </ul>
 *
 * <p>The content type matters only in choosing among those three; select it as a header if it should count by itself.
 */
public final class Fingerprinter {
    /** 1 MiB: far more than a command needs, little enough that a body and its canonical form fit in memory many times. */
    public static final int BODY_BYTES_MAX_DEFAULT = 1 << 20;

    /** 64 MiB: the canonical form can be some times as long as the body, and an array must still hold it. */
    public static final int BODY_BYTES_MAX_LIMIT = 1 << 26;

    /**
     * The most memory that making a fingerprint takes, for each byte of the body, the body itself not counted. Measured for the
     * JSON texts that take the most: many short members, and numbers whose canonical form is long.
     */
    public static final int MEMORY_FACTOR = 16;

    /** A shorter secret could be found by trying. */
    public static final int SECRET_BYTES_MIN = 16;

    private static final String ENCODING = "content-encoding";
    private static final Fingerprinter STANDARD = builder().build();

    private final Ignored ignored;
    private final List<String> headers;
    private final List<String> looksAt;
    private final int bodyBytesMax;
    private final Secrets secrets;

    private Fingerprinter(Builder builder) {
        ignored = Ignored.at(builder.ignored);
        headers = List.copyOf(builder.headers);
        SortedSet<String> looked = new TreeSet<>(builder.headers);
        looked.add(ENCODING);
        looksAt = List.copyOf(looked);
        bodyBytesMax = builder.bodyBytesMax;
        secrets = new Secrets(builder.currentSecret, builder.secrets);
    }

    /** Method, path, query and the whole body; no headers, no secret. */
    public static Fingerprinter standard() {
        return STANDARD;
    }

    /** Starts from the {@linkplain #standard() standard} one. */
    public static Builder builder() {
        return new Builder();
    }

    /** The headers that may make a difference, in lower case; a {@link Request} needs no others. */
    public List<String> headers() {
        return looksAt;
    }

    /**
     * The fingerprint of a request, in the current version.
     *
     * @throws MalformedRequest if the body is not what its content type says, is ambiguous, or goes over a limit
     */
    public Fingerprint fingerprint(Request request) {
        checkSize(request.body, bodyBytesMax);
        CanonicalRequest canonical = new CanonicalRequest(request.body.length + request.path.length());
        canonical.text(CanonicalRequest.METHOD, request.method.toUpperCase(Locale.ROOT));
        canonical.text(CanonicalRequest.PATH, request.path);
        if (request.query != null && !request.query.isEmpty()) {
            canonical.text(CanonicalRequest.QUERY, request.query);
        }
        for (String name : headers) {
            String value = header(request, name);
            if (value != null) {
                canonical.text(CanonicalRequest.HEADER_NAME, name);
                canonical.text(CanonicalRequest.HEADER_VALUE, value);
            }
        }
        BodyKind kind = BodyKind.of(request.contentType, header(request, ENCODING));
        canonical.body(kind, request.body, ignored);
        return Fingerprint.of(canonical, secrets);
    }

    /**
     * Whether a caller with these credentials may see a stored request: always, unless its fingerprint is
     * {@linkplain Fingerprint#boundTo bound} to others.
     */
    public boolean isFor(Fingerprint stored, String credentials) {
        return stored.isFor(credentials, secrets);
    }

    static void checkSize(byte[] body, int bytesMax) {
        if (body.length > bytesMax) {
            throw new MalformedRequest(
                    Reason.BODY_TOO_LARGE, "the body has " + body.length + " bytes; the limit is " + bytesMax);
        }
    }

    /** The value of a header, or null. Several lines are joined by a comma, as HTTP allows every proxy to do. */
    private static @Nullable String header(Request request, String name) {
        StringJoiner lines = new StringJoiner(", ");
        boolean present = false;
        for (Map.Entry<String, List<String>> header : request.headers.entrySet()) {
            if (name.equalsIgnoreCase(header.getKey())) {
                for (String line : header.getValue()) {
                    lines.add(line.strip());
                    present = true;
                }
            }
        }
        return present ? lines.toString() : null;
    }

    /**
     * What a fingerprint is made from.
     *
     * @param method the method
     * @param path the path as it was sent, not decoded
     * @param query what follows the question mark, as it was sent, or null
     * @param headers the lines of each header; upper and lower case of the names do not matter
     * @param contentType the value of the content type header, or null
     * @param body the bytes of the body, none if there is no body; not copied, so leave them as they are
     */
    public record Request(
            String method,
            String path,
            @Nullable String query,
            Map<String, List<String>> headers,
            @Nullable String contentType,
            byte[] body) {
        public Request {
            Objects.requireNonNull(method, "method");
            Objects.requireNonNull(path, "path");
            Objects.requireNonNull(headers, "headers");
            Objects.requireNonNull(body, "body");
        }
    }

    /** What to compare, and with which secret. Not thread-safe. */
    public static final class Builder {
        private final List<String> ignored = new ArrayList<>();
        private final SortedSet<String> headers = new TreeSet<>();
        private final Map<Integer, SecretKeySpec> secrets = new HashMap<>();
        private int bodyBytesMax = BODY_BYTES_MAX_DEFAULT;
        private int currentSecret;

        private Builder() {}

        /**
         * Leaves parts of JSON bodies out of the comparison, each named by a JSON pointer (RFC 6901) such as
         * {@code /sentAt} or {@code /items/0/note}. They must still be well-formed.
         *
         * @throws IllegalArgumentException when building, if one is not a JSON pointer or names the whole body
         */
        public Builder ignore(String... jsonPointers) {
            ignored.addAll(List.of(jsonPointers));
            return this;
        }

        /** Compares these headers too. A header that is absent differs from one that is empty. */
        public Builder headers(String... names) {
            for (String name : names) {
                headers.add(name.toLowerCase(Locale.ROOT));
            }
            return this;
        }

        /**
         * Refuses longer bodies.
         *
         * @throws IllegalArgumentException if it is negative or more than {@link #BODY_BYTES_MAX_LIMIT}
         */
        public Builder bodyBytesMax(int bytes) {
            if (bytes < 0 || bytes > BODY_BYTES_MAX_LIMIT) {
                throw new IllegalArgumentException("bodyBytesMax must be 0 to " + BODY_BYTES_MAX_LIMIT + ": " + bytes);
            }
            bodyBytesMax = bytes;
            return this;
        }

        /**
         * Makes fingerprints with a secret from now on. Entries that were stored without one still match.
         *
         * @param id tells this secret from earlier and later ones; stored with each fingerprint; from 1 on
         * @throws IllegalArgumentException if the id is out of range or taken, if there is a current secret already, or if the
         *     secret has fewer than {@link #SECRET_BYTES_MIN} bytes
         */
        public Builder secret(int id, byte[] secret) {
            if (currentSecret != 0) {
                throw new IllegalArgumentException("there can be only one current secret");
            }
            add(id, secret);
            currentSecret = id;
            return this;
        }

        /**
         * Recognises what was stored under an earlier secret. Keep it until the last entry made with it is past its retention.
         *
         * @throws IllegalArgumentException if the id is out of range or taken, or if the secret has fewer than
         *     {@link #SECRET_BYTES_MIN} bytes
         */
        public Builder previousSecret(int id, byte[] secret) {
            add(id, secret);
            return this;
        }

        /** The fingerprinter. Throws {@link IllegalArgumentException} if an ignored JSON pointer is none. */
        public Fingerprinter build() {
            return new Fingerprinter(this);
        }

        private void add(int id, byte[] secret) {
            if (id < 1 || id > Fingerprint.SECRET_ID_MAX) {
                throw new IllegalArgumentException(
                        "a secret's id must be 1 to " + Fingerprint.SECRET_ID_MAX + ": " + id);
            }
            if (secret.length < SECRET_BYTES_MIN) {
                throw new IllegalArgumentException("a secret must have at least " + SECRET_BYTES_MIN + " bytes");
            }
            if (secrets.putIfAbsent(id, new SecretKeySpec(secret, Secrets.ALGORITHM)) != null) {
                throw new IllegalArgumentException("there are two secrets with the id " + id);
            }
        }
    }
}
