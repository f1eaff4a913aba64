package dev.onlyonce.payments.domain;

import static java.util.Objects.requireNonNull;

import dev.onlyonce.payments.db.Database;
import dev.onlyonce.payments.db.Sql;
import dev.onlyonce.payments.provider.Movement;
import java.sql.SQLException;
import java.time.InstantSource;
import java.util.Optional;

/**
 * Applies the provider's events. The event's id is written in the transaction of its effect: a repeat finds it there and does
 * nothing, and an event whose effect failed is not remembered. Events only add what the provider says to the payment; who asks
 * for the outcome of a payment in doubt finds it there ({@link ChargeReconciler}). What was said is not taken back, so the order
 * in which events arrive does not matter. Thread-safe.
 */
public final class ProviderEvents {
    private final Database database;
    private final Payments payments;
    private final InstantSource clock;

    /** Applies events to these payments. */
    public ProviderEvents(Database database, Payments payments, InstantSource clock) {
        this.database = database;
        this.payments = payments;
        this.clock = clock;
    }

    /** Applies an event unless it was applied before; says whether it did. */
    public boolean receive(ProviderEvent event) {
        return database.transaction(sql -> {
            boolean isNew = sql.insertUnlessThere(
                    "INSERT INTO webhook_event (id, type, received_at) VALUES (?, ?, ?)",
                    event.id(),
                    event.type(),
                    clock.millis());
            if (isNew && event.data() != null && event.data().kind().equals("charge")) {
                apply(sql, requireNonNull(event.type()), event.data());
            }
            return isNew;
        });
    }

    private void apply(Sql sql, String type, Movement charge) throws SQLException {
        Optional<Payment> payment = charge.idempotencyKey() == null
                ? Optional.empty()
                : payments.byDownstreamKey(sql, charge.idempotencyKey());
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
