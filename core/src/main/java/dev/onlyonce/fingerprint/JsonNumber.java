package dev.onlyonce.fingerprint;

import dev.onlyonce.fingerprint.MalformedRequest.Reason;
import org.jspecify.annotations.Nullable;

/**
 * The canonical spelling of a JSON number: its significant digits, laid out as ECMAScript's {@code Number::toString} does.
 * Equal values get equal spellings and different values different ones, however many digits they have. No floating point is
 * involved, and no power of ten is expanded past 21 digits.
 *
 * <p>RFC 8785 rounds to a double first. Both agree on every number that is the shortest spelling of a double, which is what
 * nearly every client sends.
 */
final class JsonNumber {
    /** What Jackson, too, takes by default; no real quantity needs more, and the cost of a number stays trivial. */
    static final int NUMBER_CHARS_MAX = 1_000;

    /** Beyond decimal128 (6,144), the widest decimal type in use; receivers that expand larger powers of ten would suffer. */
    static final int EXPONENT_MAX = 9_999;

    /** From this many digits on, ECMAScript writes an exponent. */
    private static final int PLAIN_DIGITS_MAX = 21;

    /** Up to this many zeros may follow "0." before ECMAScript writes an exponent. */
    private static final int LEADING_ZEROS_MAX = 5;

    private JsonNumber() {}

    /** Appends an integer (no fraction, no exponent) exactly; the reason if it is refused. */
    static @Nullable Reason appendInteger(char[] text, int from, int to, ByteBuilder out) {
        boolean negativeZero = to - from == 2 && text[from] == '-' && text[from + 1] == '0';
        if (to - from <= PLAIN_DIGITS_MAX && !negativeZero) {
            out.appendAscii(text, from, to);
            return null;
        }
        return appendExact(text, from, to, out);
    }

    /** Appends the exact value of a number; the reason if it is refused. */
    static @Nullable Reason appendExact(char[] text, int from, int to, ByteBuilder out) {
        if (to - from > NUMBER_CHARS_MAX) {
            return Reason.NUMBER_TOO_LONG;
        }
        boolean negative = text[from] == '-';
        char[] digits = new char[to - from];
        int count = 0;
        int point = 0; // the value is 0.DIGITS times ten to the power of point
        boolean fraction = false;
        int i = negative ? from + 1 : from;
        for (; i < to && (text[i] | 0x20) != 'e'; i++) {
            char c = text[i];
            if (c == '.') {
                fraction = true;
            } else if (count > 0 || c != '0') {
                digits[count++] = c;
                point += fraction ? 0 : 1;
            } else {
                point -= fraction ? 1 : 0;
            }
        }
        while (count > 0 && digits[count - 1] == '0') {
            count--;
        }
        if (count == 0) {
            out.append('0');
            return null;
        }
        if (i < to) {
            point += exponent(text, i + 1, to);
        }
        if (Math.abs(point - 1) > EXPONENT_MAX) {
            return Reason.EXPONENT_TOO_LARGE;
        }
        layOut(negative, digits, count, point, out);
        return null;
    }

    /** The exponent, held far outside what is allowed if it is larger than that, so that it cannot overflow. */
    private static int exponent(char[] text, int from, int to) {
        boolean negative = text[from] == '-';
        int value = 0;
        for (int i = negative || text[from] == '+' ? from + 1 : from; i < to; i++) {
            value = Math.min(value * 10 + text[i] - '0', 100 * EXPONENT_MAX);
        }
        return negative ? -value : value;
    }

    /** Appends 0.DIGITS times ten to the power of {@code point}, as ECMA-262 6.1.6.1.20 lays a number out. */
    private static void layOut(boolean negative, char[] digits, int count, int point, ByteBuilder out) {
        if (negative) {
            out.append('-');
        }
        if (point > PLAIN_DIGITS_MAX || point < -LEADING_ZEROS_MAX) {
            out.append(digits[0]);
            if (count > 1) {
                out.append('.');
                out.appendAscii(digits, 1, count);
            }
            out.append('e');
            out.append(point > 0 ? '+' : '-');
            out.appendAscii(Integer.toString(Math.abs(point - 1)));
        } else if (point <= 0) {
            out.appendAscii("0.");
            appendZeros(-point, out);
            out.appendAscii(digits, 0, count);
        } else if (count <= point) {
            out.appendAscii(digits, 0, count);
            appendZeros(point - count, out);
        } else {
            out.appendAscii(digits, 0, point);
            out.append('.');
            out.appendAscii(digits, point, count);
        }
    }

    private static void appendZeros(int count, ByteBuilder out) {
        for (int i = 0; i < count; i++) {
            out.append('0');
        }
    }
}
