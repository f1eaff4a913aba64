package dev.onlyonce.fingerprint;

import dev.onlyonce.fingerprint.MalformedRequest.Reason;
import java.math.BigDecimal;
import java.math.MathContext;
import java.math.RoundingMode;
import org.jspecify.annotations.Nullable;

/**
 * The canonical spelling of a JSON number: its significant digits, laid out as ECMAScript's {@code Number::toString} does.
 *
 * <ul>
 *   <li>{@link #appendExact} lays out the digits of the text itself. Equal values get equal spellings, different values
 *       different ones, however many digits they have. No floating point is involved, and no power of ten is expanded past
 *       21 digits.
 *   <li>{@link #appendDouble} lays out the shortest digits that round to the same double, as RFC 8785 says.
 * </ul>
 *
 * <p>Both agree on every number that is the shortest spelling of a double, which is what nearly every client sends.
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

    /** No double needs more significant digits to differ from its neighbours. */
    private static final int DOUBLE_DIGITS_MAX = 17;

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

    /** Appends the nearest double as RFC 8785 says; the reason if there is none. */
    static @Nullable Reason appendDouble(char[] text, int from, int to, ByteBuilder out) {
        double value = Double.parseDouble(new String(text, from, to - from));
        if (Double.isInfinite(value)) {
            return Reason.EXPONENT_TOO_LARGE;
        }
        if (value == 0) {
            out.append('0');
            return null;
        }
        BigDecimal shortest = shortest(Math.abs(value));
        char[] digits = shortest.unscaledValue().toString().toCharArray();
        layOut(value < 0, digits, digits.length, digits.length - shortest.scale(), out);
        return null;
    }

    /**
     * The decimal with the fewest digits that rounds to a positive double, and of those the nearest to it. Not taken from
     * {@code Double.toString}, which gives too many digits for some doubles before JDK 19.
     */
    private static BigDecimal shortest(double value) {
        BigDecimal exact = new BigDecimal(value);
        BigDecimal shortest = exact.round(new MathContext(DOUBLE_DIGITS_MAX, RoundingMode.HALF_EVEN));
        for (int digits = DOUBLE_DIGITS_MAX - 1; digits > 0; digits--) {
            BigDecimal shorter = exact.round(new MathContext(digits, RoundingMode.HALF_EVEN));
            if (shorter.doubleValue() != value) {
                // Below a power of two, doubles lie closer together than above it: there the nearest decimal may
                // round to the double below, and the next greater one to this.
                shorter = exact.round(new MathContext(digits, RoundingMode.UP));
            }
            if (shorter.doubleValue() != value) {
                return shortest;
            }
            shortest = shorter;
        }
        return shortest;
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
