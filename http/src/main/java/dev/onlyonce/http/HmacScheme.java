package dev.onlyonce.http;

import static java.util.Objects.requireNonNull;

import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import org.jspecify.annotations.Nullable;

/**
 * Webhooks that are signed with a secret which sender and receiver share (HMAC). Checks them, and signs them for senders and
 * tests. Any of several secrets will do, so that a secret can be replaced: add the new one here, then at the sender, then remove
 * the old one here. Immutable and thread-safe.
 *
 * <ol>
 *   <li>Each header must be there exactly once. A second line might be what somebody else reads.
 *   <li>The signature is checked next: what a header says means nothing without it. All secrets are tried on all signatures, each
 *       compared in constant time.
 *   <li>Last the time, if it is signed: it may be off by the tolerance, either way.
 * </ol>
 */
public final class HmacScheme implements WebhookScheme {
    /** How far the sender's time may be off, either way, by default. Senders sign each delivery when they send it. */
    public static final Duration TOLERANCE = Duration.ofMinutes(5);

    /** Longer headers are not read. Sixteen signatures take half of it. */
    private static final int HEADER_LENGTH_MAX = 4096;

    private static final String TIMESTAMP = "{timestamp}";
    private static final String ID = "{id}";
    private static final String BODY = "{body}";

    /** Unix seconds from 2001 to 2286. Of fixed length, so that it cannot be confused with digits that follow it. */
    private static final Pattern SECONDS = Pattern.compile("[0-9]{10}");

    /** How a signature is written. */
    public enum Encoding {
        /** Hexadecimal, in either case. */
        HEX,
        /** Base64 of RFC 4648, section 4. */
        BASE64
    }

    private final Builder settings;
    private final SignatureFormat format;
    private final int signatureBytes;

    private HmacScheme(Builder builder) {
        settings = builder;
        format = builder.format == null ? SignatureFormat.plain(builder.prefix, builder.encoding) : builder.format;
        signatureBytes = mac(builder.keys.get(0)).getMacLength();
    }

    /** For a sender that signs the body alone, in hexadecimal, in this header. */
    public static Builder builder(String header) {
        return new Builder(header);
    }

    /** Starts from this scheme, with its secrets. */
    public Builder toBuilder() {
        return new Builder(settings);
    }

    @Override
    public WebhookId id() {
        return settings.id;
    }

    @Override
    public Optional<Duration> tolerance() {
        return settings.isTimed() ? Optional.of(settings.tolerance) : Optional.empty();
    }

    @Override
    public List<String> changingMembers() {
        return settings.changingMembers;
    }

    /** The headers of a webhook that is sent now, signed with every secret that the format has room for. */
    public Headers sign(String id, byte[] body, Instant now) {
        String time = Long.toString(now.getEpochSecond());
        List<byte[]> signatures =
                settings.keys.stream().map(key -> hmac(key, time, id, body)).toList();
        Headers headers = Headers.of(settings.header, format.write(time, signatures));
        if (settings.timestampHeader != null) {
            headers = headers.plus(settings.timestampHeader, time);
        }
        return settings.idHeader == null ? headers : headers.plus(settings.idHeader, id);
    }

    @Override
    public Optional<String> refusal(Headers headers, byte[] body, Instant now) {
        try {
            check(headers, body, now);
            return Optional.empty();
        } catch (Refused e) {
            return Optional.of(e.why);
        }
    }

    private static final class Refused extends Exception {
        private static final long serialVersionUID = 1;

        private final String why;

        Refused(String why) {
            super(why, null, false, false);
            this.why = why;
        }
    }

    private void check(Headers headers, byte[] body, Instant now) throws Refused {
        SignatureFormat.Read read = format.read(only(headers, settings.header))
                .orElseThrow(() -> new Refused("the header " + settings.header + " is malformed"));
        if (read.signatures().isEmpty()) {
            throw new Refused("the header " + settings.header + " has no signature of the version v1");
        }
        String time = settings.timestampHeader == null ? read.time() : only(headers, settings.timestampHeader);
        if (time != null && !SECONDS.matcher(time).matches()) {
            throw new Refused("the signature's time is malformed");
        }
        String id = settings.idHeader == null ? "" : only(headers, settings.idHeader);
        if (id.chars().anyMatch(c -> settings.aroundId().indexOf(c) >= 0)) {
            // "a.1" and "2" would be signed as "a" and "1.2" are.
            throw new Refused("the id has a character that separates it from what else is signed");
        }
        if (!matches(read.signatures(), time == null ? "" : time, id, body)) {
            throw new Refused("the signature does not match");
        }
        if (time != null) {
            checkTime(Duration.between(Instant.ofEpochSecond(Long.parseLong(time)), now));
        }
    }

    private static String only(Headers headers, String name) throws Refused {
        List<String> lines = headers.values(name);
        if (lines.isEmpty()) {
            throw new Refused("the header " + name + " is missing");
        }
        if (lines.size() > 1) {
            throw new Refused("the header " + name + " was sent more than once");
        }
        if (lines.get(0).length() > HEADER_LENGTH_MAX) {
            throw new Refused("the header " + name + " is longer than " + HEADER_LENGTH_MAX + " characters");
        }
        return lines.get(0);
    }

    private boolean matches(List<byte[]> signatures, String time, String id, byte[] body) {
        boolean found = false;
        for (SecretKeySpec key : settings.keys) {
            byte[] expected = hmac(key, time, id, body);
            for (byte[] signature : signatures) {
                found |= signature.length == signatureBytes && MessageDigest.isEqual(expected, signature);
            }
        }
        return found;
    }

    private void checkTime(Duration age) throws Refused {
        if (age.abs().compareTo(settings.tolerance) > 0) {
            throw new Refused("it was signed " + age.abs() + (age.isNegative() ? " in the future" : " ago")
                    + " by this server's clock, and " + settings.tolerance + " are allowed");
        }
    }

    private byte[] hmac(SecretKeySpec key, String time, String id, byte[] body) {
        Mac mac = mac(key);
        int at = settings.content.indexOf(BODY);
        mac.update(filled(settings.content.substring(0, at), time, id));
        mac.update(body);
        return mac.doFinal(filled(settings.content.substring(at + BODY.length()), time, id));
    }

    /** The id last: nothing in it is replaced. */
    private static byte[] filled(String text, String time, String id) {
        return text.replace(TIMESTAMP, time).replace(ID, id).getBytes(StandardCharsets.UTF_8);
    }

    private static Mac mac(SecretKeySpec key) {
        try {
            Mac mac = Mac.getInstance(key.getAlgorithm());
            mac.init(key);
            return mac;
        } catch (GeneralSecurityException e) {
            throw new IllegalArgumentException("this Java platform has no " + key.getAlgorithm(), e);
        }
    }

    /** The headers only: settings get printed. */
    @Override
    public String toString() {
        return "HmacScheme[" + settings.header + "]";
    }

    /** Builds an {@link HmacScheme}. Not thread-safe. */
    public static final class Builder {
        private String header;
        private @Nullable SignatureFormat format;
        private String prefix = "";
        private Encoding encoding = Encoding.HEX;
        private String algorithm = "HmacSHA256";
        private @Nullable String timestampHeader;
        private @Nullable String idHeader;
        private String content = BODY;
        private WebhookId id = WebhookId.bodyDigest();
        private List<String> changingMembers = List.of();
        private Duration tolerance = TOLERANCE;
        private List<SecretKeySpec> keys = List.of();
        private List<byte[]> secrets = List.of();

        private Builder(String header) {
            this.header = requireNonNull(header, "header");
        }

        private Builder(Builder other) {
            header = other.header;
            format = other.format;
            prefix = other.prefix;
            encoding = other.encoding;
            algorithm = other.algorithm;
            timestampHeader = other.timestampHeader;
            idHeader = other.idHeader;
            content = other.content;
            id = other.id;
            changingMembers = other.changingMembers;
            tolerance = other.tolerance;
            secrets = other.secrets;
        }

        /** The header with the signature. */
        public Builder header(String name) {
            this.header = requireNonNull(name, "name");
            return this;
        }

        /** What stands before the signature, such as {@code sha256=}. */
        public Builder prefix(String text) {
            this.prefix = requireNonNull(text, "text");
            this.format = null;
            return this;
        }

        /** How the signature is written. */
        public Builder encoding(Encoding encoding) {
            this.encoding = requireNonNull(encoding, "encoding");
            this.format = null;
            return this;
        }

        /** The algorithm, as {@link Mac} names it. */
        public Builder algorithm(String name) {
            this.algorithm = requireNonNull(name, "name");
            return this;
        }

        /** The header with the time of sending, in Unix seconds. The signed content must contain it. */
        public Builder timestampHeader(String name) {
            this.timestampHeader = requireNonNull(name, "name");
            return this;
        }

        /** The header with the id, if the signed content contains it. It is then the id of the webhook, too. */
        public Builder idHeader(String name) {
            this.idHeader = requireNonNull(name, "name");
            this.id = WebhookId.header(name);
            return this;
        }

        /** What is signed, such as <code>v0:{timestamp}:{body}</code>. It may contain the id, too: <code>{id}</code>. */
        public Builder content(String template) {
            this.content = requireNonNull(template, "template");
            return this;
        }

        /** Where the id of the webhook is. By default the digest of the body. */
        public Builder id(WebhookId id) {
            this.id = requireNonNull(id, "id");
            return this;
        }

        /** JSON pointers of members that differ between two deliveries of the same webhook. */
        public Builder changingMembers(String... pointers) {
            this.changingMembers = List.of(pointers);
            return this;
        }

        /** How far the sender's time may be off, either way. */
        public Builder tolerance(Duration tolerance) {
            if (tolerance.isNegative() || tolerance.isZero()) {
                throw new IllegalArgumentException("the tolerance must be positive");
            }
            this.tolerance = tolerance;
            return this;
        }

        /** The secrets, whose UTF-8 bytes are the keys: the current one first, which signs. Replaces those set before. */
        public Builder secrets(String... secrets) {
            return keys(Arrays.stream(secrets)
                    .map(secret -> secret.isBlank() ? new byte[0] : secret.getBytes(StandardCharsets.UTF_8))
                    .toList());
        }

        /** As above, for secrets in Base64, with or without {@code whsec_} before it. */
        public Builder base64Secrets(String... secrets) {
            List<byte[]> decoded = new ArrayList<>();
            for (String secret : secrets) {
                String base64 = secret.startsWith("whsec_") ? secret.substring("whsec_".length()) : secret;
                try {
                    decoded.add(Base64.getDecoder().decode(base64));
                } catch (IllegalArgumentException e) {
                    // Without the cause: its message quotes the secret.
                    throw new IllegalArgumentException("a secret of " + header + " is not Base64");
                }
            }
            return keys(decoded);
        }

        private Builder keys(List<byte[]> secrets) {
            if (secrets.isEmpty() || secrets.stream().anyMatch(secret -> secret.length == 0)) {
                throw new IllegalArgumentException(
                        "the webhooks of " + header + " need a secret that is not empty: anybody could sign them");
            }
            this.secrets = secrets;
            return this;
        }

        Builder format(SignatureFormat format) {
            this.format = format;
            return this;
        }

        private boolean isTimed() {
            return timestampHeader != null || (format != null && format.hasTime());
        }

        /** The characters that separate the id from the rest of the content. */
        private String aroundId() {
            int start = content.indexOf(ID);
            int end = start + ID.length();
            return start < 0
                    ? ""
                    : content.substring(Math.max(0, start - 1), start)
                            + content.substring(end, Math.min(content.length(), end + 1));
        }

        /**
         * Builds it.
         *
         * @throws IllegalArgumentException if there is no secret, no such algorithm, or the content does not fit the headers
         */
        public HmacScheme build() {
            boolean timed = isTimed();
            if (content.indexOf(BODY) < 0 || content.indexOf(BODY) != content.lastIndexOf(BODY)) {
                throw new IllegalArgumentException("the signed content must contain " + BODY + " once: " + content);
            }
            if (timed != content.contains(TIMESTAMP)) {
                throw new IllegalArgumentException(
                        timed
                                ? "the signed content must contain " + TIMESTAMP
                                        + ": a time that is not signed proves nothing"
                                : "the signed content contains " + TIMESTAMP
                                        + ": say which header it is in (timestampHeader)");
            }
            if ((idHeader != null) != content.contains(ID)) {
                throw new IllegalArgumentException(
                        idHeader != null
                                ? "the signed content does not contain " + ID + ": use id(WebhookId.header(…)) instead"
                                : "the signed content contains " + ID + ": say which header it is in (idHeader)");
            }
            if (aroundId().contains("{") || aroundId().contains("}")) {
                throw new IllegalArgumentException(
                        "a character must separate " + ID + " from what else is signed: " + content);
            }
            if (secrets.isEmpty()) {
                throw new IllegalArgumentException("the webhooks of " + header + " need a secret");
            }
            Builder copy = new Builder(this);
            copy.keys = secrets.stream()
                    .map(secret -> new SecretKeySpec(secret, algorithm))
                    .toList();
            return new HmacScheme(copy);
        }
    }
}
