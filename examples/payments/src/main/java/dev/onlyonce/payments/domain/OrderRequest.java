package dev.onlyonce.payments.domain;

import com.fasterxml.jackson.annotation.JsonProperty;
import org.jspecify.annotations.Nullable;

/**
 * What a client sends to create an order.
 *
 * @param clientOrderId the client's own name for it, unique among its orders: a repeat finds the order there
 */
public record OrderRequest(
        @JsonProperty("client_order_id") @Nullable String clientOrderId,
        @Nullable String item,
        @Nullable Long quantity) {

    /** Throws {@link Invalid}. */
    public void check() {
        new Invalid.Check()
                .text(clientOrderId, "client_order_id", 128)
                .text(item, "item", 255)
                .that(
                        quantity != null && quantity > 0 && quantity <= 1_000_000,
                        "quantity",
                        "must be from 1 to 1000000")
                .done();
    }
}
