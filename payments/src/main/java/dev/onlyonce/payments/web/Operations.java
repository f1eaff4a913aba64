package dev.onlyonce.payments.web;

import dev.onlyonce.Onlyonce;
import dev.onlyonce.Policy;
import dev.onlyonce.http.Boundary;
import dev.onlyonce.http.Operation;
import java.time.Duration;

/** The operations that claim their key in their own transaction; the others are annotated where they are. */
final class Operations {
    /** How long a request waits for another one with the same key that is just being accepted. */
    private static final Duration WAIT = Duration.ofSeconds(5);

    private static final Policy POLICY = Policy.builder().waitMax(WAIT).build();

    static final Operation PAYMENT =
            Operation.builder("POST", "/payments").policy(POLICY).build();
    static final Operation TRANSFER =
            Operation.builder("POST", "/transfers").policy(POLICY).build();
    static final Operation REFUND =
            Operation.builder("POST", "/payments/{id}/refunds").policy(POLICY).build();

    private Operations() {}

    static Boundary boundary(Onlyonce once) {
        return Boundary.builder(once)
                .operation(PAYMENT)
                .operation(TRANSFER)
                .operation(REFUND)
                .build();
    }
}
