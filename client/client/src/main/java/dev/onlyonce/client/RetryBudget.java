package dev.onlyonce.client;

/**
 * Retries are a share of successes, so that an outage is not multiplied by its clients. Each success puts a part of a retry in,
 * each retry takes one out.
 */
final class RetryBudget {
    /** So that the first failure of a quiet client can be retried. */
    private static final double RESERVE = 10;
    /** A good hour does not pay for a bad day. */
    private static final double MOST = 100;

    private final double share;
    private double tokens = RESERVE;

    RetryBudget(double share) {
        this.share = share;
    }

    synchronized void succeeded() {
        tokens = Math.min(MOST, tokens + share);
    }

    synchronized boolean take() {
        if (tokens < 1) {
            return false;
        }
        tokens -= 1;
        return true;
    }
}
