package dev.onlyonce.http;

import java.time.DateTimeException;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Locale;
import java.util.Optional;

/** Dates in headers. */
final class HttpDate {
    /** IMF-fixdate of RFC 9110; the formatter of the JDK leaves out the zero before a one-digit day. */
    private static final DateTimeFormatter FIXDATE = DateTimeFormatter.ofPattern(
                    "EEE, dd MMM yyyy HH:mm:ss 'GMT'", Locale.ROOT)
            .withZone(ZoneOffset.UTC);

    /** Unix times from 2001 to 2286: anything else is a number that was meant otherwise. */
    private static final int UNIX_SECONDS_DIGITS = 10;

    /** The last one made. Most answers of a second expire in the same one, and making a text of it costs a microsecond. */
    private static volatile Formatted last = new Formatted(0, FIXDATE.format(Instant.EPOCH));

    private record Formatted(long second, String text) {}

    private HttpDate() {}

    /** As an IMF-fixdate, rounded down to the second: never later than the instant itself. */
    static String format(Instant instant) {
        Formatted formatted = last;
        if (formatted.second != instant.getEpochSecond()) {
            formatted = new Formatted(instant.getEpochSecond(), FIXDATE.format(instant));
            last = formatted;
        }
        return formatted.text;
    }

    /** From an IMF-fixdate, ISO 8601 in UTC or with an offset, or Unix seconds; empty if it is none of them. */
    static Optional<Instant> parse(String text) {
        try {
            if (text.length() == UNIX_SECONDS_DIGITS && text.chars().allMatch(c -> c >= '0' && c <= '9')) {
                return Optional.of(Instant.ofEpochSecond(Long.parseLong(text)));
            }
            DateTimeFormatter formatter = text.endsWith("GMT") ? FIXDATE : DateTimeFormatter.ISO_OFFSET_DATE_TIME;
            return Optional.of(Instant.from(formatter.parse(text)));
        } catch (DateTimeException e) {
            return Optional.empty();
        }
    }
}
