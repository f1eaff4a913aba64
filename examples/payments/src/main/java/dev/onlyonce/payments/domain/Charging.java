package dev.onlyonce.payments.domain;

import dev.onlyonce.DownstreamKey;
import dev.onlyonce.Key;
import dev.onlyonce.payments.db.Database;
import dev.onlyonce.payments.provider.Movement;
import dev.onlyonce.spring.Delivers;
import dev.onlyonce.sql.outbox.Delivery;
import dev.onlyonce.sql.outbox.DeliveryHandler;
import dev.onlyonce.sql.outbox.OutboxRow;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Optional;
import tools.jackson.databind.json.JsonMapper;

/**
 * Payments, the queued way: {@link #order} writes the payment in the transaction that queues its charge; workers then ask the
 * provider, with the same downstream key each time, and write down its answer. Thread-safe.
 */
@Delivers(Charging.TOPIC)
public final class Charging implements DeliveryHandler {
    /** The outbox's name for calls that charge; with the client's key it makes the downstream key. */
    public static final String TOPIC = "charge";

    private static final JsonMapper JSON = new JsonMapper();

    private final Database database;
    private final Payments payments;
    private final ProviderClient provider;
    private final Duration keyLifetime;

    /**
     * Charges payments.
     *
     * @param keyLifetime how long the provider honours a downstream key, as it declares
     */
    public Charging(Database database, Payments payments, ProviderClient provider, Duration keyLifetime) {
        this.database = database;
        this.payments = payments;
        this.provider = provider;
        this.keyLifetime = keyLifetime;
    }

    /**
     * Writes the payment of a new order in the transaction of its request. If an operator has dropped its outbox row, and it was
     * then proven absent, the payment is there already and is queued again. One that has ended is another payment: its key was
     * forgotten since.
     */
    public Payment order(Key key, PaymentOrder order) {
        Payment prepared = payments.prepare(key.tenant(), order, DownstreamKey.of(key, TOPIC));
        return database.inCurrentTransaction(sql -> {
            Optional<Payment> before =
                    payments.byDownstreamKey(sql, prepared.downstreamKey()).filter(found -> found.isStill(prepared));
            if (before.isEmpty()) {
                payments.insert(sql, prepared);
            }
            return before.orElse(prepared);
        });
    }

    /** What the outbox keeps of a payment for {@link #deliver}. */
    public static byte[] call(Payment payment) {
        return JSON.writeValueAsBytes(Call.of(payment));
    }

    /** What the worker needs of a payment: all that does not change. */
    private record Call(
            String id,
            String tenant,
            long amount,
            String currency,
            String description,
            String source,
            String downstreamKey,
            long createdAt) {

        static Call of(Payment p) {
            return new Call(
                    p.id(),
                    p.tenant(),
                    p.amount(),
                    p.currency(),
                    p.description(),
                    p.source(),
                    p.downstreamKey(),
                    p.createdAt());
        }

        Payment payment() {
            return new Payment(
                    id,
                    tenant,
                    amount,
                    currency,
                    description,
                    source,
                    Payment.PENDING,
                    null,
                    null,
                    downstreamKey,
                    0,
                    createdAt);
        }
    }

    @Override
    public Delivery deliver(OutboxRow row) {
        Payment payment = payment(row);
        ProviderClient.Reply reply = provider.charge(payment, row.downstreamKey());
        if (reply instanceof ProviderClient.Reply.Decided decided) {
            return delivery(payment, decided.movement());
        } else if (reply instanceof ProviderClient.Reply.NotSent not) {
            return new Delivery.NotExecuted(not.reason());
        } else if (reply instanceof ProviderClient.Reply.Refused refused) {
            // It read the call and will not make it; trying again is harmless, and ends in the dead letter.
            return new Delivery.NotExecuted(refused.reason());
        }
        return new Delivery.Ambiguous(((ProviderClient.Reply.Unclear) reply).reason());
    }

    private static Delivery delivery(Payment payment, Movement charge) {
        Payment ended = payment.ended(charge.succeeded() ? Payment.SUCCEEDED : Payment.DECLINED, charge.id());
        byte[] result = PaymentAnswer.record(PaymentAnswer.of(ended));
        return charge.succeeded()
                ? new Delivery.Delivered(charge.id(), result)
                : new Delivery.Refused(charge.id(), result);
    }

    private static Payment payment(OutboxRow row) {
        return JSON.readValue(row.payload(), Call.class).payment();
    }

    @Override
    public Duration keyLifetime() {
        return keyLifetime;
    }

    @Override
    public void settled(Connection transaction, OutboxRow row, Delivery delivery) throws SQLException {
        // By the recorded answer and not by how it came about: it may also have been found out by the reconciler.
        byte[] result = delivery instanceof Delivery.Delivered delivered
                ? delivered.result()
                : delivery instanceof Delivery.Refused refused ? refused.result() : new byte[0];
        PaymentAnswer.Ended ended = result.length == 0 && delivery instanceof Delivery.Delivered found
                // An operator knows that it was charged, and no more.
                ? new PaymentAnswer.Ended(Payment.SUCCEEDED, found.providerId())
                : PaymentAnswer.read(result);
        payments.settle(database.on(transaction), payment(row).id(), ended.status(), ended.providerId());
    }
}
