package dev.onlyonce.payments.web;

import static java.util.Objects.requireNonNull;

import dev.onlyonce.Key;
import dev.onlyonce.fingerprint.Fingerprint;
import dev.onlyonce.http.HttpAnswer;
import dev.onlyonce.http.Operation;
import dev.onlyonce.payments.db.Database;
import dev.onlyonce.payments.domain.Operations;
import dev.onlyonce.payments.domain.RefundOrder;
import dev.onlyonce.payments.domain.Refunding;
import dev.onlyonce.spring.Unprotected;
import dev.onlyonce.sql.steps.Steps;
import dev.onlyonce.store.StoreException;
import jakarta.servlet.http.HttpServletRequest;
import java.sql.SQLException;
import org.springframework.http.MediaType;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RestController;

/** Refunds, the stepped way. */
@RestController
class RefundsController {
    private final Refunding refunding;
    private final Steps stepped;
    private final Keyed keyed;
    private final Bodies bodies;
    private final Operation operation;

    RefundsController(Refunding refunding, Steps stepped, Keyed keyed, Bodies bodies, Operations operations) {
        this.refunding = refunding;
        this.stepped = stepped;
        this.keyed = keyed;
        this.bodies = bodies;
        this.operation = operations.refund();
    }

    @PostMapping(path = "/payments/{id}/refunds", consumes = MediaType.APPLICATION_JSON_VALUE)
    @Unprotected("claims its key and records its steps by itself")
    ResponseEntity<byte[]> create(HttpServletRequest request, @PathVariable String id, @RequestBody byte[] body) {
        RefundOrder order = bodies.read(body, RefundOrder.class);
        order.check();
        long amount = requireNonNull(order.amount());
        return keyed.handle(operation, request, body, (key, fingerprint) -> refund(key, fingerprint, id, amount));
    }

    private HttpAnswer refund(Key key, Fingerprint fingerprint, String paymentId, long amount) {
        try {
            return keyed.answer(operation, refunding.refund(stepped, key, fingerprint, paymentId, amount));
        } catch (SQLException | StoreException e) {
            // Not as for others: some of the steps may have been done.
            throw new Database.Unavailable(e);
        }
    }
}
