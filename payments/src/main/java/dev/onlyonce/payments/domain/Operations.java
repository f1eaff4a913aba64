package dev.onlyonce.payments.domain;

import dev.onlyonce.Policy;
import dev.onlyonce.http.Operation;
import java.time.Duration;
import java.util.List;

/**
 * The operations that claim their key in their own transaction; the others are annotated where they are. What is published
 * about them and what executes them take their policies from here.
 */
public final class Operations {
    /** A key that has paid once does not pay again after a day: it is refused with 410. */
    private static final Duration KEYS_REMEMBERED = Duration.ofDays(365);

    /**
     * A refund whose answer was lost can be resumed for so long; one that was forgotten could be made twice. Longer than {@link
     * ForgottenRefunds} takes to end it.
     */
    private static final Duration REFUNDS_REMEMBERED = Duration.ofDays(30);

    /** How long a transfer waits for another one with the same key that has not committed. */
    private static final Duration TRANSFER_WAIT = Duration.ofSeconds(5);

    private final Operation payment;
    private final Operation refund;
    private final Operation transfer;

    /**
     * Makes them.
     *
     * @param lease how long a worker's or a request's claim holds without a heartbeat
     * @param waitMax how long a client waits for the provider
     */
    public Operations(Duration lease, Duration waitMax) {
        payment = Operation.builder("POST", "/payments")
                .policy(Policy.builder()
                        .lease(lease)
                        .tombstone(KEYS_REMEMBERED)
                        .waitMax(waitMax)
                        .build())
                .build();
        refund = Operation.builder("POST", "/payments/{id}/refunds")
                .policy(Policy.builder()
                        .lease(lease)
                        .retention(REFUNDS_REMEMBERED)
                        .build())
                .build();
        transfer = Operation.builder("POST", "/transfers")
                .policy(Policy.builder().waitMax(TRANSFER_WAIT).build())
                .build();
    }

    /** Payments, the queued way. */
    public Operation payment() {
        return payment;
    }

    /** Refunds, the stepped way. */
    public Operation refund() {
        return refund;
    }

    /** Transfers, the transactional way. */
    public Operation transfer() {
        return transfer;
    }

    /** All of them. */
    public List<Operation> all() {
        return List.of(payment, transfer, refund);
    }
}
