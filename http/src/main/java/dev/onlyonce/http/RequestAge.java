package dev.onlyonce.http;

import java.time.Duration;
import java.time.Instant;
import java.util.Optional;

/**
 * Refuses requests that were made long ago, so that a captured or forgotten one cannot run as new once its key is past
 * retention. It only helps if the header is protected, for example by a signature over the request.
 *
 * @param header says when the client made the request, the same on every retry: an IMF-fixdate, ISO 8601 or Unix seconds
 * @param max how old a request may be; at most the retention, or a stale one may run as new
 * @param aheadMax how far the client's clock may be ahead
 */
public record RequestAge(String header, Duration max, Duration aheadMax) {
    /** Clocks that are set over the network stay within this. */
    public static final Duration AHEAD_MAX = Duration.ofMinutes(5);

    /** Checks the signs. */
    public RequestAge {
        if (max.isNegative() || max.isZero() || aheadMax.isNegative()) {
            throw new IllegalArgumentException("max must be positive and aheadMax must not be negative");
        }
    }

    /** With the usual allowance for clocks that are ahead. */
    public static RequestAge of(String header, Duration max) {
        return new RequestAge(header, max, AHEAD_MAX);
    }

    /** What is wrong with the request's time, if anything. */
    Optional<Problem.Report> check(Headers headers, Instant now) {
        Optional<String> sent = headers.first(header);
        if (sent.isEmpty()) {
            return Optional.of(Problem.TIMESTAMP_MISSING.because("the request has no " + header + " header"));
        }
        Optional<Instant> made = HttpDate.parse(sent.get());
        if (made.isEmpty()) {
            return Optional.of(
                    Problem.TIMESTAMP_REJECTED.because(header + " is not an HTTP date, ISO 8601 or Unix seconds"));
        }
        if (made.get().plus(max).isBefore(now)) {
            return Optional.of(Problem.TIMESTAMP_REJECTED.because("the request is older than " + max));
        }
        if (made.get().minus(aheadMax).isAfter(now)) {
            return Optional.of(Problem.TIMESTAMP_REJECTED.because("the request comes from the future"));
        }
        return Optional.empty();
    }
}
