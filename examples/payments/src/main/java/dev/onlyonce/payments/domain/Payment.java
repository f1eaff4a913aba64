package dev.onlyonce.payments.domain;

import com.fasterxml.jackson.annotation.JsonIgnore;
import org.jspecify.annotations.Nullable;

/**
 * A payment.
 *
 * @param amount in the currency's smallest unit
 * @param status {@code pending} until the provider's answer is known, then {@code succeeded}, {@code declined} or {@code
 *     failed} for good
 * @param providerId the provider's name for it, once known
 * @param providerSaid how it ended, as the provider told by itself; empty if it has not
 * @param downstreamKey the idempotency key under which the provider is asked for it
 * @param refunded how much of it is refunded, or being refunded
 * @param createdAt milliseconds since 1970
 */
public record Payment(
        String id,
        @JsonIgnore String tenant,
        long amount,
        String currency,
        String description,
        @JsonIgnore String source,
        String status,
        @Nullable String providerId,
        @JsonIgnore @Nullable String providerSaid,
        @JsonIgnore String downstreamKey,
        long refunded,
        long createdAt) {

    /** Accepted; the provider's answer is not known yet. */
    public static final String PENDING = "pending";

    /** Charged. */
    public static final String SUCCEEDED = "succeeded";

    /** Refused by the provider; nothing was charged. */
    public static final String DECLINED = "declined";

    /** Given up: proven not to have been charged. */
    public static final String FAILED = "failed";

    /** Whether this is pending, and what was ordered is what the other one orders. */
    public boolean isStill(Payment order) {
        return status.equals(PENDING)
                && amount == order.amount
                && currency.equals(order.currency)
                && source.equals(order.source)
                && description.equals(order.description);
    }

    /** The same, with how it ended and the provider's name for it. */
    public Payment ended(String status, @Nullable String providerId) {
        return new Payment(
                id,
                tenant,
                amount,
                currency,
                description,
                source,
                status,
                providerId,
                providerSaid,
                downstreamKey,
                refunded,
                createdAt);
    }
}
