package dev.onlyonce.payments.web;

import static java.util.Objects.requireNonNull;

import dev.onlyonce.Key;
import dev.onlyonce.Way;
import dev.onlyonce.payments.domain.Payment;
import dev.onlyonce.payments.domain.Refund;
import dev.onlyonce.payments.domain.RefundOrder;
import dev.onlyonce.payments.domain.Refunding;
import dev.onlyonce.spring.Idempotent;
import dev.onlyonce.sql.steps.StepRunner;
import java.net.URI;
import java.sql.SQLException;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RestController;

/** Refunds, the stepped way: a retry resumes after the last finished step. */
@RestController
class RefundsController {
    private final Refunding refunding;

    RefundsController(Refunding refunding) {
        this.refunding = refunding;
    }

    /** A refund whose answer was lost can be resumed for 30 days: longer than it takes to end a forgotten one. */
    @PostMapping(path = "/payments/{id}/refunds", consumes = MediaType.APPLICATION_JSON_VALUE)
    @Idempotent(way = Way.STEPPED, retention = "30d")
    ResponseEntity<Refund> create(Key key, @PathVariable String id, @RequestBody RefundOrder order, StepRunner steps)
            throws SQLException {
        order.check();
        Refund refund = refunding.refund(steps, key, id, requireNonNull(order.amount()));
        // Declined is an answer as final as any: 402, recorded and replayed.
        return refund.status().equals(Payment.SUCCEEDED)
                ? ResponseEntity.created(URI.create("/payments/" + refund.paymentId()))
                        .body(refund)
                : ResponseEntity.status(HttpStatus.PAYMENT_REQUIRED).body(refund);
    }
}
