package dev.onlyonce.payments.web;

import dev.onlyonce.Codec;
import dev.onlyonce.DownstreamKey;
import dev.onlyonce.Key;
import dev.onlyonce.Outcome;
import dev.onlyonce.fingerprint.Fingerprint;
import dev.onlyonce.http.HttpAnswer;
import dev.onlyonce.http.Operation;
import dev.onlyonce.payments.PaymentsProperties;
import dev.onlyonce.payments.db.Database;
import dev.onlyonce.payments.domain.Charging;
import dev.onlyonce.payments.domain.Operations;
import dev.onlyonce.payments.domain.Payment;
import dev.onlyonce.payments.domain.PaymentOrder;
import dev.onlyonce.payments.domain.Payments;
import dev.onlyonce.spring.Unprotected;
import dev.onlyonce.sql.outbox.Accepted;
import dev.onlyonce.sql.outbox.Outbox;
import dev.onlyonce.store.StoreException;
import jakarta.servlet.http.HttpServletRequest;
import java.security.Principal;
import java.time.Duration;
import java.util.Optional;
import org.springframework.http.HttpHeaders;
import org.springframework.http.MediaType;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RestController;

/** Payments, the queued way. */
@RestController
class PaymentsController {
    private static final String RETRY_AFTER_SECONDS = "1";

    private final Database database;
    private final Payments payments;
    private final Charging charging;
    private final Outbox outbox;
    private final Keyed keyed;
    private final Bodies bodies;
    private final Operation operation;
    private final Duration waitMax;

    PaymentsController(
            Database database,
            Payments payments,
            Charging charging,
            Outbox outbox,
            Keyed keyed,
            Bodies bodies,
            Operations operations,
            PaymentsProperties properties) {
        this.database = database;
        this.payments = payments;
        this.charging = charging;
        this.outbox = outbox;
        this.keyed = keyed;
        this.bodies = bodies;
        this.operation = operations.payment();
        this.waitMax = properties.waitMax();
    }

    @PostMapping(path = "/payments", consumes = MediaType.APPLICATION_JSON_VALUE)
    @Unprotected("claims its key in the transaction that writes the payment and the outbox row")
    ResponseEntity<byte[]> create(HttpServletRequest request, @RequestBody byte[] body) {
        PaymentOrder order = bodies.read(body, PaymentOrder.class);
        order.check();
        return keyed.handle(operation, request, body, (key, fingerprint) -> accept(key, fingerprint, order));
    }

    private HttpAnswer accept(Key key, Fingerprint fingerprint, PaymentOrder order) {
        Accepted<byte[]> accepted = charging.accept(outbox, key, fingerprint, order);
        if (!(accepted.outcome() instanceof Outcome.InFlight)) {
            return keyed.answer(operation, accepted.outcome());
        }
        Outcome<byte[]> outcome = await(key, fingerprint);
        HttpAnswer answer = accepted.isNew() ? keyed.first(outcome, operation) : keyed.answer(operation, outcome);
        return outcome instanceof Outcome.InFlight ? withLocation(answer, key) : answer;
    }

    /** Most providers answer within a moment; then the client gets the final answer at once. */
    private Outcome<byte[]> await(Key key, Fingerprint fingerprint) {
        Outcome<byte[]> pending = new Outcome.InFlight<>(true, Duration.ofSeconds(1));
        try {
            return outbox.await(key, fingerprint, Codec.bytes(), waitMax).orElse(pending);
        } catch (StoreException e) {
            // It is accepted, whatever can be read now.
            return pending;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return pending;
        }
    }

    private HttpAnswer withLocation(HttpAnswer answer, Key key) {
        Optional<Payment> payment =
                database.transaction(sql -> payments.byDownstreamKey(sql, DownstreamKey.of(key, Charging.TOPIC)));
        return payment.map(found -> answer.header(HttpHeaders.LOCATION, "/payments/" + found.id()))
                .orElse(answer);
    }

    @GetMapping("/payments/{id}")
    ResponseEntity<Payment> get(Principal tenant, @PathVariable String id) {
        Payment payment = database.transaction(sql -> payments.find(sql, tenant.getName(), id))
                .orElseThrow(() -> Refusal.notFound("payment " + id));
        ResponseEntity.BodyBuilder response = ResponseEntity.ok();
        if (payment.status().equals(Payment.PENDING)) {
            response.header(HttpHeaders.RETRY_AFTER, RETRY_AFTER_SECONDS);
        }
        return response.body(payment);
    }
}
