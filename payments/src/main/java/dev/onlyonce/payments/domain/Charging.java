package dev.onlyonce.payments.domain;

import dev.onlyonce.Codec;
import dev.onlyonce.DownstreamKey;
import dev.onlyonce.Key;
import dev.onlyonce.fingerprint.Fingerprint;
import dev.onlyonce.payments.db.Database;
import dev.onlyonce.payments.provider.Movement;
import dev.onlyonce.sql.outbox.Accepted;
import dev.onlyonce.sql.outbox.Delivery;
import dev.onlyonce.sql.outbox.DeliveryHandler;
import dev.onlyonce.sql.outbox.Outbox;
import dev.onlyonce.sql.outbox.OutboxCall;
import dev.onlyonce.sql.outbox.OutboxRow;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import tools.jackson.databind.json.JsonMapper;

/**
 * Payments, the queued way: {@link #accept} writes the payment and the order to charge it in one transaction; workers then
 * ask the provider, with the same downstream key each time, and write down its answer. Thread-safe.
 */
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

    /** Accepts a payment unless its key was accepted before. */
    public Accepted<byte[]> accept(Outbox outbox, Key key, Fingerprint fingerprint, PaymentOrder order) {
        Payment prepared = payments.prepare(key.tenant(), order, DownstreamKey.of(key, TOPIC));
        return database.transaction(sql -> {
            // If an operator has dropped its row, and it was then proven absent, this request queues it again. One that
            // has
            // ended is another one: its key was forgotten since.
            Payment payment = payments.byDownstreamKey(sql, prepared.downstreamKey())
                    .filter(before -> before.isStill(prepared))
                    .orElse(prepared);
            byte[] call = JSON.writeValueAsBytes(Call.of(payment));
            Accepted<byte[]> accepted =
                    outbox.accept(sql.connection(), key, fingerprint, Codec.bytes(), new OutboxCall(TOPIC, call));
            if (accepted.isNew() && payment.equals(prepared)) {
                payments.insert(sql, payment);
            }
            return accepted;
        });
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
