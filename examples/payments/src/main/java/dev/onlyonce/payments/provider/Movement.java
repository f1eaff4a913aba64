package dev.onlyonce.payments.provider;

import com.fasterxml.jackson.annotation.JsonProperty;
import org.jspecify.annotations.Nullable;

/**
 * A line of the provider's ledger: one charge or refund that was really made, or declined.
 *
 * @param kind {@code charge} or {@code refund}
 * @param status {@code succeeded} or {@code declined}
 * @param amount in the currency's smallest unit
 * @param reference the caller's name for it
 * @param chargeId for refunds, what was refunded
 * @param idempotencyKey the key it came with, if any
 * @param createdAt milliseconds since 1970
 */
public record Movement(
        String id,
        String kind,
        String status,
        long amount,
        String currency,
        String reference,
        @JsonProperty("charge_id") @Nullable String chargeId,
        @JsonProperty("idempotency_key") @Nullable String idempotencyKey,
        @JsonProperty("created_at") long createdAt) {

    /** The status of a movement that took place. */
    public static final String SUCCEEDED = "succeeded";

    /** The status of a movement that was refused. */
    public static final String DECLINED = "declined";

    /** Whether money moved. */
    public boolean succeeded() {
        return status.equals(SUCCEEDED);
    }
}
