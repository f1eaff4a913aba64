package dev.onlyonce.payments.domain;

import com.fasterxml.jackson.annotation.JsonIgnore;
import org.jspecify.annotations.Nullable;

/**
 * A refund of a payment, or of a part of it.
 *
 * @param status as a payment's
 * @param providerId the provider's name for it, once known
 * @param createdAt milliseconds since 1970
 */
public record Refund(
        String id,
        @JsonIgnore String tenant,
        String paymentId,
        long amount,
        String status,
        @Nullable String providerId,
        long createdAt) {}
