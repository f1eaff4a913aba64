package dev.onlyonce.http;

/**
 * What one tenant may do; 0 is no limit. Going over gets 429. Each node counts by itself: on n nodes a tenant may use n times
 * the new keys, live keys and look-ups. Stored keys are counted in the store that all nodes share.
 *
 * @param newKeysPerSecond new keys a second, and as many at once after a pause
 * @param liveMax requests being executed at once
 * @param storedMax entries that the store holds for the tenant: running, settled and tombstones
 * @param lookUpsPerSecond requests a second to the status resource, and as many at once after a pause
 */
public record Limits(int newKeysPerSecond, int liveMax, int storedMax, int lookUpsPerSecond) {
    /** Checks the signs. */
    public Limits {
        if (newKeysPerSecond < 0 || liveMax < 0 || storedMax < 0 || lookUpsPerSecond < 0) {
            throw new IllegalArgumentException("limits must not be negative; 0 is none");
        }
    }

    /** No limits. */
    public static Limits none() {
        return new Limits(0, 0, 0, 0);
    }

    /** Whether new keys are limited in any way. */
    boolean limitKeys() {
        return newKeysPerSecond > 0 || liveMax > 0 || storedMax > 0;
    }
}
