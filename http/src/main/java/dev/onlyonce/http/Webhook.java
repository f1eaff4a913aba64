package dev.onlyonce.http;

import dev.onlyonce.fingerprint.Fingerprint;
import java.nio.charset.StandardCharsets;

/**
 * A webhook whose signature has been checked.
 *
 * @param source who sends it: ids are unique within a source
 * @param id the same for each delivery; 1 to 255 visible ASCII characters
 * @param headers all header lines. Most schemes do not sign them: do not decide anything by them
 * @param body the bytes that were signed. Not copied: do not modify it
 * @param content what a second delivery is compared by; {@code Inbox} takes it with source and id
 */
public record Webhook(String source, String id, Headers headers, byte[] body, Fingerprint content) {
    /** The body as text. */
    public String text() {
        return new String(body, StandardCharsets.UTF_8);
    }

    /** The source and the length: bodies and ids do not belong into logs. */
    @Override
    public String toString() {
        return "Webhook[" + source + ", " + body.length + " bytes]";
    }
}
