package dev.onlyonce.payments.provider;

import com.fasterxml.jackson.annotation.JsonProperty;
import org.jspecify.annotations.Nullable;

/** What a customer asks the provider for; which members are needed depends on the kind. */
record Order(
        long amount,
        @Nullable String currency,
        @Nullable String reference,
        @Nullable String source,
        @JsonProperty("charge_id") @Nullable String chargeId) {}
