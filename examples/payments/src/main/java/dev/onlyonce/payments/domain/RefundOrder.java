package dev.onlyonce.payments.domain;

import org.jspecify.annotations.Nullable;

/** What a client sends to have a payment refunded. */
public record RefundOrder(@Nullable Long amount) {

    /** Throws {@link Invalid}. */
    public void check() {
        new Invalid.Check().amount(amount).done();
    }
}
