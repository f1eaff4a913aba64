package dev.onlyonce.payments.events;

import com.fasterxml.jackson.annotation.JsonProperty;
import dev.onlyonce.payments.domain.Invalid;
import dev.onlyonce.payments.domain.Payment;
import dev.onlyonce.payments.domain.Refund;
import java.time.Instant;
import tools.jackson.databind.json.JsonMapper;

/**
 * Money has moved.
 *
 * @param id of the payment or refund: there is one event for each
 * @param type {@link #PAID} or {@link #REFUNDED}
 * @param tenant whose money
 * @param paymentId the payment; events of one payment arrive in order
 * @param amount in the currency's smallest unit, not negative
 * @param at when the payment or refund was begun, in milliseconds since 1970
 */
public record PaymentEvent(
        String id,
        String type,
        String tenant,
        @JsonProperty("payment_id") String paymentId,
        long amount,
        String currency,
        long at) {

    /** A payment was charged. */
    public static final String PAID = "payment.succeeded";

    /** A refund was made. */
    public static final String REFUNDED = "refund.succeeded";

    /** As in the books' table. */
    private static final int NAME_MAX = 64;

    private static final JsonMapper JSON = new JsonMapper();

    /** Throws {@link IllegalArgumentException} for an event that nobody can have meant. */
    public PaymentEvent {
        if (!type.equals(PAID) && !type.equals(REFUNDED)) {
            throw new IllegalArgumentException("not a type of event: " + type);
        }
        if (amount <= 0) {
            throw new IllegalArgumentException("an amount of " + amount + " at " + Instant.ofEpochMilli(at));
        }
    }

    /** A payment has succeeded. */
    public static PaymentEvent of(Payment payment) {
        return new PaymentEvent(
                payment.id(),
                PAID,
                payment.tenant(),
                payment.id(),
                payment.amount(),
                payment.currency(),
                payment.createdAt());
    }

    /** A refund has succeeded. */
    public static PaymentEvent of(Payment payment, Refund refund) {
        return new PaymentEvent(
                refund.id(),
                REFUNDED,
                payment.tenant(),
                payment.id(),
                refund.amount(),
                payment.currency(),
                refund.createdAt());
    }

    /** As it is sent. */
    public byte[] json() {
        return JSON.writeValueAsBytes(this);
    }

    /** Reads {@link #json}. Throws a {@link RuntimeException} if it is something else, or cannot be posted. */
    public static PaymentEvent read(byte[] json) {
        PaymentEvent event = JSON.readValue(json, PaymentEvent.class);
        new Invalid.Check()
                .text(event.id, "id", NAME_MAX)
                .text(event.tenant, "tenant", NAME_MAX)
                .text(event.paymentId, "payment_id", NAME_MAX)
                .amount(event.amount)
                .currency(event.currency)
                .done();
        return event;
    }
}
