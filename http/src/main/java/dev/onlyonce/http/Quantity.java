package dev.onlyonce.http;

import java.time.Duration;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Durations and sizes as people write them. */
public final class Quantity {
    private static final Pattern FORM = Pattern.compile("(\\d+)\\s*([A-Za-z]*)");
    private static final Map<String, Long> MILLIS =
            Map.of("ms", 1L, "s", 1000L, "m", 60_000L, "min", 60_000L, "h", 3_600_000L, "d", 86_400_000L);
    private static final Map<String, Long> BYTES =
            Map.of("", 1L, "B", 1L, "KiB", 1L << 10, "MiB", 1L << 20, "GiB", 1L << 30, "kB", 1000L, "MB", 1_000_000L);

    private Quantity() {}

    /** Such as {@code 500ms}, {@code 30s}, {@code 5m}, {@code 24h}, {@code 7d}; throws {@link IllegalArgumentException}. */
    public static Duration duration(String text) {
        return Duration.ofMillis(parse(text, MILLIS, "a duration such as 500ms, 30s, 5m, 24h or 7d"));
    }

    /** Such as {@code 512}, {@code 64KiB}, {@code 1MiB}; throws {@link IllegalArgumentException}. */
    public static long bytes(String text) {
        return parse(text, BYTES, "a size such as 512, 64KiB or 1MiB");
    }

    private static long parse(String text, Map<String, Long> units, String expected) {
        Matcher form = FORM.matcher(text.trim());
        Long unit = form.matches() ? units.get(form.group(2)) : null;
        if (unit == null) {
            throw new IllegalArgumentException("\"" + text + "\" is not " + expected);
        }
        try {
            return Math.multiplyExact(Long.parseLong(form.group(1)), unit);
        } catch (ArithmeticException | NumberFormatException e) {
            throw new IllegalArgumentException("\"" + text + "\" is too large", e);
        }
    }
}
