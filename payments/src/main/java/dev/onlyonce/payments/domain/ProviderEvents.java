package dev.onlyonce.payments.domain;

import static java.util.Objects.requireNonNull;

import dev.onlyonce.payments.db.Database;
import dev.onlyonce.payments.db.Sql;
import dev.onlyonce.payments.provider.Movement;
import dev.onlyonce.sql.inbox.Inbox;
import dev.onlyonce.sql.inbox.InboxMessage;
import java.sql.SQLException;
import java.util.Optional;

/**
 * Applies the provider's events, each once. Events only add what the provider says to the payment; who asks for the outcome of
 * a payment in doubt finds it there ({@link ChargeReconciler}). What was said is not taken back, so the order in which events
 * arrive does not matter. Thread-safe.
 */
public final class ProviderEvents {
    private static final String SOURCE = "provider";

    private final Inbox inbox;
    private final Database database;
    private final Payments payments;

    /** Applies events to these payments. */
    public ProviderEvents(Inbox inbox, Database database, Payments payments) {
        this.inbox = inbox;
        this.database = database;
        this.payments = payments;
    }

    /** Applies an event unless it was applied before; says whether it did. */
    public boolean receive(ProviderEvent event) {
        try {
            return inbox.apply(new InboxMessage(SOURCE, requireNonNull(event.id())), transaction -> {
                if (event.data() != null && event.data().kind().equals("charge")) {
                    apply(database.on(transaction), requireNonNull(event.type()), event.data());
                }
            });
        } catch (SQLException e) {
            throw new Database.Unavailable(e);
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
