package dev.onlyonce.client;

import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.format.DateTimeFormatter;
import java.util.Optional;

/** Times in the headers of answers, as durations from now. A date is compared with the server's own {@code Date}: clocks differ. */
final class AnswerTimes {
    private static final Duration LONGEST = Duration.ofDays(3650);

    private AnswerTimes() {}

    /** {@code Retry-After}: seconds or a date. */
    static Optional<Duration> retryAfter(CallResponse response, Instant now) {
        Optional<String> value = response.header("Retry-After").map(String::strip);
        if (value.isPresent() && value.get().matches("\\d{1,9}")) {
            return value.map(seconds -> bounded(Duration.ofSeconds(Long.parseLong(seconds))));
        }
        return until(value, response, now);
    }

    /** {@code Idempotency-Key-Expires}. */
    static Optional<Duration> keyLeft(CallResponse response, Instant now) {
        return until(response.header("Idempotency-Key-Expires"), response, now);
    }

    private static Optional<Duration> until(Optional<String> value, CallResponse response, Instant now) {
        Instant from = response.header("Date").flatMap(AnswerTimes::date).orElse(now);
        return value.flatMap(AnswerTimes::date).map(date -> bounded(Duration.between(from, date)));
    }

    private static Duration bounded(Duration duration) {
        if (duration.isNegative()) {
            return Duration.ZERO;
        }
        return duration.compareTo(LONGEST) > 0 ? LONGEST : duration;
    }

    private static Optional<Instant> date(String text) {
        DateTimeFormatter formatter =
                text.endsWith("GMT") ? DateTimeFormatter.RFC_1123_DATE_TIME : DateTimeFormatter.ISO_OFFSET_DATE_TIME;
        try {
            return Optional.of(Instant.from(formatter.parse(text.strip())));
        } catch (DateTimeException e) {
            return Optional.empty();
        }
    }
}
