package dev.onlyonce.payments.web;

import dev.onlyonce.Key;
import dev.onlyonce.Way;
import dev.onlyonce.payments.db.Database;
import dev.onlyonce.payments.domain.Charging;
import dev.onlyonce.payments.domain.Payment;
import dev.onlyonce.payments.domain.PaymentOrder;
import dev.onlyonce.payments.domain.Payments;
import dev.onlyonce.spring.Idempotent;
import dev.onlyonce.spring.Queued;
import java.security.Principal;
import org.springframework.http.HttpHeaders;
import org.springframework.http.MediaType;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RestController;

/** Payments, the queued way: key, payment and outbox row commit together, then {@link Charging} asks the provider. */
@RestController
class PaymentsController {
    private static final String RETRY_AFTER_SECONDS = "1";

    private final Database database;
    private final Payments payments;
    private final Charging charging;

    PaymentsController(Database database, Payments payments, Charging charging) {
        this.database = database;
        this.payments = payments;
        this.charging = charging;
    }

    @PostMapping(path = "/payments", consumes = MediaType.APPLICATION_JSON_VALUE)
    @Idempotent(way = Way.QUEUED, topic = Charging.TOPIC)
    Queued create(Key key, @RequestBody PaymentOrder order) {
        Payment payment = charging.order(key, order);
        return Queued.of(Charging.call(payment)).location("/payments/" + payment.id());
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
