package dev.onlyonce.payments.domain;

import dev.onlyonce.http.WebhookRejected;
import dev.onlyonce.payments.db.Database;
import dev.onlyonce.payments.db.Sql;
import dev.onlyonce.payments.provider.Movement;
import java.sql.SQLException;
import java.util.Optional;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.json.JsonMapper;

/**
 * Applies the provider's events. Events only add what the provider says to the payment; who asks for the outcome of
 * a payment in doubt finds it there ({@link ChargeReconciler}). What was said is not taken back, so the order in which events
 * arrive does not matter. Thread-safe.
 */
public final class ProviderEvents {
    private final Database database;
    private final Payments payments;
    /** The provider's spelling is its own, whatever ours is. */
    private final JsonMapper json = new JsonMapper();

    /** Applies events to these payments. */
    public ProviderEvents(Database database, Payments payments) {
        this.database = database;
        this.payments = payments;
    }

    /**
     * Applies an event in the Spring transaction that this thread is in.
     *
     * @throws WebhookRejected if it cannot be read
     */
    public void apply(byte[] body) {
        ProviderEvent event;
        try {
            event = json.readValue(body, ProviderEvent.class);
        } catch (JacksonException e) {
            throw new WebhookRejected("the event cannot be read");
        }
        String type = event.type();
        if (type == null) {
            throw new WebhookRejected("the event has no type");
        }
        Movement charge = event.data();
        if (charge != null && "charge".equals(charge.kind())) {
            database.inCurrentTransaction(sql -> {
                apply(sql, type, charge);
                return type;
            });
        }
    }

    private void apply(Sql sql, String type, Movement charge) throws SQLException {
        Optional<Payment> payment = charge.idempotencyKey() == null
                ? Optional.empty()
                : payments.byDownstreamKey(sql, charge.idempotencyKey())
                        .filter(found -> found.id().equals(charge.reference()));
        if (payment.isEmpty()) {
            return;
        }
        if (type.equals("charge.created")) {
            payments.noteProviderId(sql, payment.get().id(), charge.id());
        } else {
            payments.noteEnd(sql, payment.get().id(), charge);
        }
    }
}
