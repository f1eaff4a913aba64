package dev.onlyonce.payments.domain;

import com.fasterxml.jackson.annotation.JsonProperty;
import org.jspecify.annotations.Nullable;

/** What a client sends to move money between two of its accounts. */
public record TransferOrder(
        @JsonProperty("from_account") @Nullable String fromAccount,
        @JsonProperty("to_account") @Nullable String toAccount,
        @Nullable Long amount) {

    /** Throws {@link Invalid}. */
    public void check() {
        new Invalid.Check()
                .text(fromAccount, "from_account", 64)
                .text(toAccount, "to_account", 64)
                .that(fromAccount == null || !fromAccount.equals(toAccount), "to_account", "must be another account")
                .amount(amount)
                .done();
    }
}
