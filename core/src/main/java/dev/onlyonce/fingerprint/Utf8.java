package dev.onlyonce.fingerprint;

import dev.onlyonce.fingerprint.MalformedRequest.Reason;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/**
 * Strict UTF-8, both ways. The JSON parser takes overlong forms and encoded surrogates for the characters they seem to stand for;
 * receivers that do not would see another body, so such bytes are refused before it sees them.
 */
final class Utf8 {
    private static final VarHandle LONGS = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
    private static final long HIGH_BITS = 0x8080808080808080L;

    private Utf8() {}

    /**
     * The bytes of a text.
     *
     * @throws MalformedRequest if it has a lone surrogate, for which others would put a question mark
     */
    static byte[] encode(String text) {
        ByteBuilder bytes = new ByteBuilder(text.length() + 16);
        if (!bytes.appendUtf8(text)) {
            throw new MalformedRequest(Reason.LONE_SURROGATE, "the text holds half of a surrogate pair");
        }
        return bytes.toByteArray();
    }

    /** The index of the first byte, not before {@code from}, that is not part of valid UTF-8, or -1 if there is none. */
    static int firstInvalid(byte[] bytes, int from) {
        int i = asciiEnd(bytes, from);
        while (i < bytes.length) {
            int length = sequenceLength(bytes, i);
            if (length == 0) {
                return i;
            }
            i += length;
        }
        return -1;
    }

    /** Eight bytes at a time, since most bodies are ASCII to the end; stops at or a little before the first that is not. */
    private static int asciiEnd(byte[] bytes, int from) {
        int i = from;
        while (i + Long.BYTES <= bytes.length && ((long) LONGS.get(bytes, i) & HIGH_BITS) == 0) {
            i += Long.BYTES;
        }
        return i;
    }

    /** How many bytes the character at {@code i} takes, 0 if it is not valid; by table 3-7 of the Unicode standard. */
    private static int sequenceLength(byte[] bytes, int i) {
        int first = bytes[i] & 0xFF;
        if (first < 0x80) {
            return 1;
        }
        int length = first < 0xC2 || first > 0xF4 ? 0 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
        int low = first == 0xE0 ? 0xA0 : first == 0xF0 ? 0x90 : 0x80;
        int high = first == 0xED ? 0x9F : first == 0xF4 ? 0x8F : 0xBF;
        boolean valid = within(bytes, i + 1, low, high);
        for (int next = 2; next < length; next++) {
            valid &= within(bytes, i + next, 0x80, 0xBF);
        }
        return valid ? length : 0;
    }

    private static boolean within(byte[] bytes, int i, int low, int high) {
        return i < bytes.length && (bytes[i] & 0xFF) >= low && (bytes[i] & 0xFF) <= high;
    }
}
