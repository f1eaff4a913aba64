package dev.onlyonce.payments.domain;

import org.jspecify.annotations.Nullable;

/**
 * What a client sends to have a payment made.
 *
 * @param currency an ISO 4217 code in any case
 * @param description for the client's books; may be missing
 * @param source the card, as the provider named it; {@code tok_declined} is always declined
 * @param customer whose card is charged if no source is named
 */
public record PaymentOrder(
        @Nullable Long amount,
        @Nullable String currency,
        @Nullable String description,
        @Nullable String source,
        @Nullable String customer) {

    /** Throws {@link Invalid}. */
    public void check() {
        new Invalid.Check()
                .amount(amount)
                .currency(currency)
                .optional(description, "description", 255)
                .optional(source, "source", 64)
                .optional(customer, "customer", 64)
                .done();
    }

    /** What the provider charges. */
    String charged() {
        String named = source == null ? customer : source;
        return named == null ? "tok_visa" : named;
    }
}
