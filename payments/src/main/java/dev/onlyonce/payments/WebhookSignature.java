package dev.onlyonce.payments;

import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.time.Duration;
import java.time.Instant;
import java.util.HexFormat;
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
    /** The header that carries it. */
    public static final String HEADER = "Provider-Signature";

    /** How far the sender's time may be off, either way. Late deliveries are signed again when they are sent. */
    public static final Duration TOLERANCE = Duration.ofMinutes(5);

    private static final Pattern FORM = Pattern.compile("t=(\\d{1,12}),v1=([0-9a-f]{64})");

    private final SecretKeySpec secret;

    /** With the secret that sender and receiver share. */
    public WebhookSignature(String secret) {
        this.secret = new SecretKeySpec(secret.getBytes(StandardCharsets.UTF_8), "HmacSHA256");
    }

    /** The header's value for a body sent now. */
    public String sign(byte[] body, Instant now) {
        long time = now.getEpochSecond();
        return "t=" + time + ",v1=" + HexFormat.of().formatHex(hmac(time, body));
    }

    /** What is wrong with a signature, or null if nothing is. */
    public @Nullable String check(@Nullable String header, byte[] body, Instant now) {
        if (header == null) {
            return "the header " + HEADER + " is missing";
        }
        Matcher matcher = FORM.matcher(header);
        if (!matcher.matches()) {
            return "the header " + HEADER + " is malformed";
        }
        long time = Long.parseLong(matcher.group(1));
        // The signature first: what the time says means nothing without it.
        if (!MessageDigest.isEqual(hmac(time, body), HexFormat.of().parseHex(matcher.group(2)))) {
            return "the signature does not match";
        }
        Duration off = Duration.between(Instant.ofEpochSecond(time), now).abs();
        return off.compareTo(TOLERANCE) > 0 ? "the signature's time is off by more than " + TOLERANCE : null;
    }

    private byte[] hmac(long time, byte[] body) {
        try {
            Mac mac = Mac.getInstance("HmacSHA256");
            mac.init(secret);
            mac.update((time + ".").getBytes(StandardCharsets.UTF_8));
            return mac.doFinal(body);
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("every Java platform has HmacSHA256", e);
        }
    }
}
