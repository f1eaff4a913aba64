package dev.onlyonce.http;

import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.time.Duration;
import java.time.Instant;
import java.util.HexFormat;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import org.jspecify.annotations.Nullable;

/**
 * Signs webhooks and checks them: {@code t=<seconds since 1970>,v1=<HMAC-SHA256 of "t.body", hexadecimal>}. The time is under
 * the signature, so that a recorded webhook cannot be sent again much later. Thread-safe.
 */
public final class WebhookSignature {
    /** How far the sender's time may be off, either way, unless told otherwise. Late deliveries are signed when they are sent. */
    public static final Duration TOLERANCE = Duration.ofMinutes(5);

    private static final Pattern FORM = Pattern.compile("t=(\\d{1,12}),v1=([0-9a-f]{64})");
    private static final String ALGORITHM = "HmacSHA256";

    private final SecretKeySpec secret;
    private final Duration tolerance;

    /** With the secret that sender and receiver share. */
    public WebhookSignature(String secret) {
        this(secret, TOLERANCE);
    }

    /** As above, for senders whose clocks are better or worse. */
    public WebhookSignature(String secret, Duration tolerance) {
        this.secret = new SecretKeySpec(secret.getBytes(StandardCharsets.UTF_8), ALGORITHM);
        this.tolerance = tolerance;
    }

    /** The signature of a body that is sent now. */
    public String sign(byte[] body, Instant now) {
        long time = now.getEpochSecond();
        return "t=" + time + ",v1=" + HexFormat.of().formatHex(hmac(time, body));
    }

    /**
     * Checks the bytes as they came, before anything reads them. Takes the same time for every wrong signature.
     *
     * @param signature the header's value, if there is one
     * @return what is wrong, for the sender; empty if nothing is
     */
    public Optional<String> refusal(@Nullable String signature, byte[] body, Instant now) {
        if (signature == null) {
            return Optional.of("the signature is missing");
        }
        Matcher matcher = FORM.matcher(signature);
        if (!matcher.matches()) {
            return Optional.of("the signature is malformed");
        }
        long time = Long.parseLong(matcher.group(1));
        // The signature first: what the time says means nothing without it.
        if (!MessageDigest.isEqual(hmac(time, body), HexFormat.of().parseHex(matcher.group(2)))) {
            return Optional.of("the signature does not match");
        }
        Duration off = Duration.between(Instant.ofEpochSecond(time), now).abs();
        return off.compareTo(tolerance) > 0
                ? Optional.of("the signature's time is off by more than " + tolerance)
                : Optional.empty();
    }

    private byte[] hmac(long time, byte[] body) {
        try {
            Mac mac = Mac.getInstance(ALGORITHM);
            mac.init(secret);
            mac.update((time + ".").getBytes(StandardCharsets.UTF_8));
            return mac.doFinal(body);
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("every Java platform has " + ALGORITHM, e);
        }
    }
}
