package dev.onlyonce.fingerprint;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.math.BigDecimal;
import java.math.MathContext;
import java.math.RoundingMode;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Rounds numbers to doubles, as RFC 8785 does and our canonical form does not. */
final class Doubles {
    /** No double needs more significant digits to differ from its neighbours. */
    private static final int DIGITS_MAX = 17;

    private static final Pattern STRING_OR_NUMBER = Pattern.compile("\"(?:[^\"\\\\]|\\\\.)*\"|-?\\d[\\d.eE+-]*");

    private Doubles() {}

    /** A JSON text with every number rounded. */
    static byte[] round(byte[] json) {
        return STRING_OR_NUMBER
                .matcher(new String(json, UTF_8))
                .replaceAll(match ->
                        Matcher.quoteReplacement(match.group().startsWith("\"") ? match.group() : round(match.group())))
                .getBytes(UTF_8);
    }

    /** The shortest digits that round to the same double. */
    static String round(String number) {
        double value = Double.parseDouble(number);
        return value == 0 ? "0" : (value < 0 ? "-" : "") + shortest(Math.abs(value));
    }

    /**
     * The decimal with the fewest digits that rounds to a positive double, and of those the nearest to it. Not taken from
     * {@code Double.toString}, which gives too many digits for some doubles before JDK 19.
     */
    private static BigDecimal shortest(double value) {
        BigDecimal exact = new BigDecimal(value);
        BigDecimal shortest = exact.round(new MathContext(DIGITS_MAX, RoundingMode.HALF_EVEN));
        for (int digits = DIGITS_MAX - 1; digits > 0; digits--) {
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
}
