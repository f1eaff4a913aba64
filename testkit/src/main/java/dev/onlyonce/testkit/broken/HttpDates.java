package dev.onlyonce.testkit.broken;

import dev.onlyonce.store.Time;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;

/** Dates as HTTP writes them. */
final class HttpDates {
    private HttpDates() {}

    static String now() {
        return of(Time.system().now());
    }

    static String tomorrow() {
        return of(Time.system().now().plus(Duration.ofDays(1)));
    }

    private static String of(Instant instant) {
        return DateTimeFormatter.RFC_1123_DATE_TIME.format(instant.atOffset(ZoneOffset.UTC));
    }
}
