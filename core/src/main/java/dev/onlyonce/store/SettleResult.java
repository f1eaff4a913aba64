package dev.onlyonce.store;

import java.time.Duration;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/** The answer to a {@link Settlement} or {@link Resolution}. */
public sealed interface SettleResult {

    /**
     * It is recorded, now or by an earlier try of the same settlement.
     *
     * @param settledAt when, by the store's clock
     * @param expiresAt when retention is over; empty for {@link State#UNKNOWN}, which does not expire
     */
    record Settled(Instant settledAt, @Nullable Instant expiresAt) implements SettleResult {
        /** How long the entry answers. */
        public Duration retention() {
            return expiresAt == null ? Duration.ZERO : Duration.between(settledAt, expiresAt);
        }
    }

    /**
     * The claim was lost before: nothing was changed.
     *
     * @param now where the entry stands; empty if it is gone
     */
    record Lost(@Nullable State now) implements SettleResult {}

    /**
     * Somebody else holds the row just now, or its server cannot take it; this settlement changed nothing and must be tried again. Only
     * {@link Store#settle} answers so; the engine repeats the settlement, and applications never see this.
     */
    record Busy() implements SettleResult {}
}
