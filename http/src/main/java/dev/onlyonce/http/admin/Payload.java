package dev.onlyonce.http.admin;

import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Base64;
import org.jspecify.annotations.Nullable;

/**
 * Stored bytes as operators see them: as text if they are text in UTF-8, else in Base64.
 *
 * @param cut whether only the beginning is shown
 */
record Payload(@Nullable String text, @Nullable String base64, boolean cut) {
    static final String HIDDEN = "payloads are hidden from you by configuration";
    static final Payload NONE = new Payload(null, null, false);
    /** More than anybody reads; the largest responses that are usually stored are shown whole. */
    private static final int SHOWN_BYTES_MAX = 1 << 20;

    static Payload of(byte[] bytes) {
        boolean cut = bytes.length > SHOWN_BYTES_MAX;
        byte[] shown = cut ? beginning(bytes, SHOWN_BYTES_MAX) : bytes;
        try {
            String text = StandardCharsets.UTF_8
                    .newDecoder()
                    .decode(ByteBuffer.wrap(shown))
                    .toString();
            return new Payload(text, null, cut);
        } catch (CharacterCodingException e) {
            return new Payload(null, Base64.getEncoder().encodeToString(shown), cut);
        }
    }

    /** A copy of the beginning, in which no character is cut in two. */
    static byte[] beginning(byte[] bytes, int max) {
        int end = Math.min(max, bytes.length);
        while (end < bytes.length && end > max - 4 && (bytes[end] & 0xc0) == 0x80) {
            end--;
        }
        return Arrays.copyOf(bytes, end);
    }
}
