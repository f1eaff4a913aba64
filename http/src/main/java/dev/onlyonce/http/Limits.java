package dev.onlyonce.http;

/**
 * What one tenant may do; 0 is no limit. Requests over a limit get 429. Each node counts by itself: on n nodes a tenant may use n times
 * the new keys, live keys and look-ups. Stored keys are counted in the store that all nodes share. Immutable; {@link #builder}
 * makes one.
 */
public final class Limits {
    private static final Limits NONE = builder().build();

    private final int newKeysPerSecond;
    private final int liveMax;
    private final int storedMax;
    private final int lookUpsPerSecond;

    private Limits(Builder builder) {
        newKeysPerSecond = builder.newKeysPerSecond;
        liveMax = builder.liveMax;
        storedMax = builder.storedMax;
        lookUpsPerSecond = builder.lookUpsPerSecond;
    }

    /** No limits. */
    public static Limits none() {
        return NONE;
    }

    /** Starts without limits. */
    public static Builder builder() {
        return new Builder();
    }

    /** New keys a second, and as many at once after a pause. */
    public int newKeysPerSecond() {
        return newKeysPerSecond;
    }

    /** Requests being executed at once. */
    public int liveMax() {
        return liveMax;
    }

    /** Entries that the store holds for the tenant: running, settled and tombstones. */
    public int storedMax() {
        return storedMax;
    }

    /** Requests a second to the status resource, and as many at once after a pause. */
    public int lookUpsPerSecond() {
        return lookUpsPerSecond;
    }

    /** Whether new keys are limited in any way. */
    boolean limitsKeys() {
        return newKeysPerSecond > 0 || liveMax > 0 || storedMax > 0;
    }

    /** Whether anything is limited. */
    boolean limitsAnything() {
        return limitsKeys() || lookUpsPerSecond > 0;
    }

    @Override
    public String toString() {
        return "Limits[newKeysPerSecond=" + newKeysPerSecond + ", liveMax=" + liveMax + ", storedMax=" + storedMax
                + ", lookUpsPerSecond=" + lookUpsPerSecond + "]";
    }

    /** Builds {@link Limits}. Every setting is 0 by default, and refuses negative numbers. */
    public static final class Builder {
        private int newKeysPerSecond;
        private int liveMax;
        private int storedMax;
        private int lookUpsPerSecond;

        private Builder() {}

        /** New keys a second, and as many at once after a pause. */
        public Builder newKeysPerSecond(int keys) {
            this.newKeysPerSecond = checked(keys);
            return this;
        }

        /** Requests being executed at once. */
        public Builder liveMax(int requests) {
            this.liveMax = checked(requests);
            return this;
        }

        /** Entries that the store holds for the tenant: running, settled and tombstones. */
        public Builder storedMax(int entries) {
            this.storedMax = checked(entries);
            return this;
        }

        /** Requests a second to the status resource, and as many at once after a pause. */
        public Builder lookUpsPerSecond(int lookUps) {
            this.lookUpsPerSecond = checked(lookUps);
            return this;
        }

        private static int checked(int limit) {
            if (limit < 0) {
                throw new IllegalArgumentException("limits must not be negative; 0 is none");
            }
            return limit;
        }

        /** Builds them. */
        public Limits build() {
            return new Limits(this);
        }
    }
}
