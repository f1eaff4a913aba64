package dev.onlyonce.client;

import java.time.Duration;

/**
 * When a client tries again, and when it stops. Immutable.
 *
 * @param limits how long and how often
 * @param pauses how long to wait between attempts
 * @param server what to expect of the server
 */
public record RetryPolicy(Limits limits, Pauses pauses, Server server) {
    private static final RetryPolicy STANDARD = builder().build();

    /**
     * Bounds of a call.
     *
     * @param deadline for the whole call
     * @param attemptTimeout for one attempt
     * @param attemptsMax failed attempts; waiting for a request that is running is bounded by the deadline alone
     */
    public record Limits(Duration deadline, Duration attemptTimeout, int attemptsMax) {}

    /**
     * Pauses: a random time up to a bound that doubles with each failure, and never less than {@code Retry-After}.
     *
     * @param first the bound after the first failure
     * @param longest the largest bound
     * @param retryShare retries as a share of the calls that succeed; a few more are always allowed
     */
    public record Pauses(Duration first, Duration longest, double retryShare) {}

    /**
     * What to expect of the server.
     *
     * @param keyLifetime how long it remembers a key
     * @param honoursKeys whether it recognises keys at all
     * @param acceptedIsDone whether a 202 with {@code Retry-After} is the final answer
     */
    public record Server(Duration keyLifetime, boolean honoursKeys, boolean acceptedIsDone) {}

    /** One minute, eight attempts, keys that live for 24 hours. */
    public static RetryPolicy standard() {
        return STANDARD;
    }

    /** Starts from {@link #standard}. */
    public static Builder builder() {
        return new Builder();
    }

    /** Builds a {@link RetryPolicy}. */
    public static final class Builder {
        private Duration deadline = Duration.ofSeconds(60);
        private Duration attemptTimeout = Duration.ofSeconds(15);
        private int attemptsMax = 8;
        private Duration firstPause = Duration.ofMillis(200);
        private Duration longestPause = Duration.ofSeconds(10);
        private double retryShare = 0.1;
        private Duration keyLifetime = Duration.ofHours(24);
        private boolean honoursKeys = true;
        private boolean acceptedIsDone;

        private Builder() {}

        /** How long a call may take in all. When it is over, the call is in doubt and the key is kept. */
        public Builder deadline(Duration deadline) {
            this.deadline = positive("deadline", deadline);
            return this;
        }

        /** How long one attempt may take, from connecting to the last byte of the answer. */
        public Builder attemptTimeout(Duration timeout) {
            this.attemptTimeout = positive("attemptTimeout", timeout);
            return this;
        }

        /** How many attempts may fail. Answers that ask to wait do not count. */
        public Builder attemptsMax(int attempts) {
            if (attempts < 1 || attempts > 1000) {
                throw new IllegalArgumentException("attemptsMax must be between 1 and 1000: " + attempts);
            }
            this.attemptsMax = attempts;
            return this;
        }

        /** The longest pause after the first failure. The real one is random; the bound doubles with each failure. */
        public Builder firstPause(Duration pause) {
            this.firstPause = positive("firstPause", pause);
            return this;
        }

        /** The bound of all pauses that the client chooses itself. */
        public Builder longestPause(Duration pause) {
            this.longestPause = positive("longestPause", pause);
            return this;
        }

        /** How many retries the client makes for each call that succeeds, beyond the first ten. */
        public Builder retryShare(double share) {
            if (!(share >= 0 && share <= 10)) {
                throw new IllegalArgumentException("retryShare must be between 0 and 10: " + share);
            }
            this.retryShare = share;
            return this;
        }

        /**
         * How long the server remembers a key. The client does not repeat a call that was sent longer ago: the server could take it
         * for a new one. If an answer says when the key expires, that counts instead.
         */
        public Builder keyLifetime(Duration lifetime) {
            this.keyLifetime = positive("keyLifetime", lifetime);
            return this;
        }

        /** False for a server that ignores keys: then the client repeats only what was certainly not executed. */
        public Builder honoursKeys(boolean honours) {
            this.honoursKeys = honours;
            return this;
        }

        /** Whether a 202 with {@code Retry-After} is the final answer. If not, the client asks again until there is another. */
        public Builder acceptedIsDone(boolean done) {
            this.acceptedIsDone = done;
            return this;
        }

        /** Builds it. */
        public RetryPolicy build() {
            return new RetryPolicy(
                    new Limits(deadline, attemptTimeout, attemptsMax),
                    new Pauses(firstPause, longestPause, retryShare),
                    new Server(keyLifetime, honoursKeys, acceptedIsDone));
        }

        private static Duration positive(String name, Duration value) {
            if (value.isNegative() || value.isZero() || value.compareTo(Duration.ofDays(3650)) > 0) {
                throw new IllegalArgumentException(name + " must be positive and at most ten years: " + value);
            }
            return value;
        }
    }
}
