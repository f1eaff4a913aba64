package dev.onlyonce.messages;

import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;

/**
 * How often and for how long a message that fails is tried again.
 *
 * @param triesMax how often it is tried in all
 * @param first the pause after the first failure; it doubles with each
 * @param longest the longest pause
 * @param blockMax for how long a message that fails may keep those behind it waiting; then it is given up, whatever its tries
 */
public record RetryLimits(int triesMax, Duration first, Duration longest, Duration blockMax) {
    /** Five tries, 1 second to 10 seconds apart, at most a minute. */
    public static final RetryLimits STANDARD =
            new RetryLimits(5, Duration.ofSeconds(1), Duration.ofSeconds(10), Duration.ofMinutes(1));

    /** Keeps the doubled pause within a long. */
    private static final int DOUBLINGS_MAX = 20;

    /** Checks; throws {@link IllegalArgumentException}. */
    public RetryLimits {
        if (triesMax < 1 || first.isNegative() || longest.compareTo(first) < 0 || blockMax.isNegative()) {
            throw new IllegalArgumentException(
                    "triesMax must be at least 1, no duration negative, and the longest pause not the shorter");
        }
    }

    /** Whether to give up a message that has failed this many times, first this long ago. */
    public boolean isOver(int tried, Duration since) {
        return tried >= triesMax || since.compareTo(blockMax) >= 0;
    }

    /** The pause before the next try; half of it is random, so that messages that failed together do not come back together. */
    public Duration pause(int tried) {
        long doubled = first.toNanos() << Math.min(Math.max(tried - 1, 0), DOUBLINGS_MAX);
        long full = doubled < 0 ? longest.toNanos() : Math.min(longest.toNanos(), doubled);
        return Duration.ofNanos(full / 2 + ThreadLocalRandom.current().nextLong(full / 2 + 1));
    }
}
