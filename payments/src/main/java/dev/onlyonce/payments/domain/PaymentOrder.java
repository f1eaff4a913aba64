package dev.onlyonce.payments.domain;

import org.jspecify.annotations.Nullable;

/**
 * What a client sends to have a payment made.
 *
 * @param description for the client's books; may be missing
 * @param source the card, as the provider named it; {@code tok_declined} is always declined
 */
public record PaymentOrder(
        @Nullable Long amount,
        @Nullable String currency,
        @Nullable String description,
        @Nullable String source) {

    /** Throws {@link Invalid}. */
    public void check() {
        new Invalid.Check()
                .amount(amount)
                .currency(currency)
                .optional(description, "description", 255)
                .optional(source, "source", 64)
                .done();
    }
}
