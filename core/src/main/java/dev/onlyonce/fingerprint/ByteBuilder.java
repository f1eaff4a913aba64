package dev.onlyonce.fingerprint;

import java.nio.ByteBuffer;
import java.util.Arrays;

/** A growing array of bytes to which text is appended as UTF-8. Not thread-safe. */
final class ByteBuilder {
    /** What follows the backslash for each ASCII character that a JSON string escapes; 'u' for the four-digit form, 0 for none. */
    private static final byte[] ESCAPES = new byte[0x80];

    private static final byte[] HEX = {'0', '1', '2', '3', '4', '5', '6', '7', '8', '9', 'a', 'b', 'c', 'd', 'e', 'f'};

    /** A UTF-16 unit takes at most three bytes of UTF-8, an escape six. */
    private static final int UNIT_BYTES_MAX = 6;

    static {
        Arrays.fill(ESCAPES, 0, 0x20, (byte) 'u');
        ESCAPES['\b'] = 'b';
        ESCAPES['\t'] = 't';
        ESCAPES['\n'] = 'n';
        ESCAPES['\f'] = 'f';
        ESCAPES['\r'] = 'r';
        ESCAPES['"'] = '"';
        ESCAPES['\\'] = '\\';
    }

    private byte[] bytes;
    private int size;

    ByteBuilder(int capacity) {
        bytes = new byte[capacity];
    }

    int size() {
        return size;
    }

    /** The bytes so far; only the first {@link #size()} count, and only until the next append. */
    byte[] array() {
        return bytes;
    }

    byte[] toByteArray() {
        return Arrays.copyOf(bytes, size);
    }

    void append(int b) {
        reserve(1);
        bytes[size++] = (byte) b;
    }

    void append(byte[] source, int from, int to) {
        reserve(to - from);
        System.arraycopy(source, from, bytes, size, to - from);
        size += to - from;
    }

    /** Appends characters that are known to be ASCII. */
    void appendAscii(char[] text, int from, int to) {
        reserve(to - from);
        for (int i = from; i < to; i++) {
            bytes[size++] = (byte) text[i];
        }
    }

    void appendAscii(String text) {
        for (int i = 0; i < text.length(); i++) {
            append(text.charAt(i));
        }
    }

    /** Begins a section, which is preceded by its length; returns where it starts. */
    int beginSection() {
        reserve(Integer.BYTES);
        size += Integer.BYTES;
        return size;
    }

    /** Writes the length of the section: four bytes, big-endian. */
    void endSection(int start) {
        ByteBuffer.wrap(bytes).putInt(start - Integer.BYTES, size - start);
    }

    /** Forgets everything from {@code newSize} on. */
    void truncate(int newSize) {
        size = newSize;
    }

    /** Appends a text as UTF-8; false, with the text half written, if it has a lone surrogate. */
    boolean appendUtf8(String text) {
        char[] chars = text.toCharArray();
        return appendUnits(chars, 0, chars.length, false);
    }

    /** Appends a JSON string with its quotes, escaped as RFC 8785 says; false, half written, if it has a lone surrogate. */
    boolean appendJsonString(char[] text, int from, int to) {
        reserve(to - from + 2);
        byte[] target = bytes;
        int at = size;
        target[at++] = '"';
        int i = from;
        // Nearly every string is plain ASCII without escapes, and one byte a character is reserved for it.
        while (i < to) {
            char c = text[i];
            if (c >= 0x80 || ESCAPES[c] != 0) {
                break;
            }
            target[at++] = (byte) c;
            i++;
        }
        size = at;
        boolean whole = i == to || appendUnits(text, i, to, true);
        append('"');
        return whole;
    }

    private boolean appendUnits(char[] text, int from, int to, boolean escape) {
        for (int i = from; i < to; i++) {
            reserve(UNIT_BYTES_MAX);
            char c = text[i];
            if (c < 0x80) {
                if (escape && ESCAPES[c] != 0) {
                    appendEscape(c);
                } else {
                    bytes[size++] = (byte) c;
                }
            } else if (c < 0x800) {
                bytes[size++] = (byte) (0xC0 | (c >> 6));
                appendTail(c);
            } else if (!Character.isSurrogate(c)) {
                bytes[size++] = (byte) (0xE0 | (c >> 12));
                appendTail(c >> 6);
                appendTail(c);
            } else if (Character.isHighSurrogate(c) && i + 1 < to && Character.isLowSurrogate(text[i + 1])) {
                i++;
                int point = Character.toCodePoint(c, text[i]);
                bytes[size++] = (byte) (0xF0 | (point >> 18));
                appendTail(point >> 12);
                appendTail(point >> 6);
                appendTail(point);
            } else {
                return false;
            }
        }
        return true;
    }

    /** A byte that continues a character of UTF-8, with its six lowest bits. */
    private void appendTail(int bits) {
        bytes[size++] = (byte) (0x80 | (bits & 0x3F));
    }

    private void appendEscape(char c) {
        bytes[size++] = '\\';
        bytes[size++] = ESCAPES[c];
        if (ESCAPES[c] == 'u') {
            bytes[size++] = '0';
            bytes[size++] = '0';
            bytes[size++] = HEX[c >> 4];
            bytes[size++] = HEX[c & 0xF];
        }
    }

    private void reserve(int more) {
        if (bytes.length - size < more) {
            bytes = Arrays.copyOf(bytes, Math.max(bytes.length * 2, size + more));
        }
    }
}
