package dev.onlyonce.http;

import dev.onlyonce.store.Entry;
import dev.onlyonce.store.State;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Refuses requests that were made long ago, so that a captured or forgotten one cannot run as new once its key is past
 * retention. A retry of a key that exists is answered, however old it is: an earlier attempt may have been executed. It only
 * helps if the header is protected, for example by a signature over the request.
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

    /**
     * Why a request must not run as new.
     *
     * @param report the answer to it
     * @param until when a first attempt of it would still have run; null if never
     */
    record Objection(Problem.Report report, @Nullable Instant until) {
        /** Whether this is the entry of an earlier attempt of the request, which was in time. */
        boolean isAnsweredBy(Entry entry, Profile profile) {
            boolean runsAsNew = entry.state() == State.EXPIRED && !profile.tombstones();
            return !runsAsNew && (until == null || !entry.createdAt().isAfter(until));
        }
    }

    /** What is wrong with the request's time; null if nothing is. */
    @Nullable
    Objection check(Headers headers, Instant now) {
        Optional<String> sent = headers.first(header);
        if (sent.isEmpty()) {
            return new Objection(Problem.TIMESTAMP_MISSING.because("the request has no " + header + " header"), null);
        }
        Optional<Instant> made = HttpDate.parse(sent.get());
        if (made.isEmpty()) {
            return new Objection(
                    Problem.TIMESTAMP_MISSING.because(header + " is not an HTTP date, ISO 8601 or Unix seconds"), null);
        }
        if (made.get().plus(max).isBefore(now)) {
            // The store's clock and that of the node that took the first attempt differ.
            return rejected(
                    "the request is older than " + max, made.get().plus(max).plus(aheadMax));
        }
        return made.get().minus(aheadMax).isAfter(now) ? rejected("the request comes from the future", null) : null;
    }

    private static Objection rejected(String detail, @Nullable Instant until) {
        return new Objection(Problem.TIMESTAMP_REJECTED.because(detail), until);
    }
}
