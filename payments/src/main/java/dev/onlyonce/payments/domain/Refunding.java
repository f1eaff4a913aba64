package dev.onlyonce.payments.domain;

import dev.onlyonce.Codec;
import dev.onlyonce.Fingerprint;
import dev.onlyonce.Key;
import dev.onlyonce.NotExecuted;
import dev.onlyonce.Outcome;
import dev.onlyonce.payments.db.Database;
import dev.onlyonce.payments.db.Sql;
import dev.onlyonce.payments.provider.Movement;
import dev.onlyonce.sql.Stepped;
import dev.onlyonce.sql.Steps;
import java.sql.SQLException;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import tools.jackson.databind.json.JsonMapper;

/**
 * Refunds, the stepped way:
 *
 * <ol>
 *   <li>money is set aside on the payment, and the refund is written down;
 *   <li>the provider is asked, with the same downstream key by every attempt;
 *   <li>its answer is written down, and what was set aside is given back if it declined.
 * </ol>
 *
 * <p>Whoever resumes gets the results of the steps that are done. Thread-safe.
 */
public final class Refunding {
    private static final JsonMapper JSON = new JsonMapper();

    private final Database database;
    private final Tables tables;
    private final ProviderClient provider;
    private final Duration keyLifetime;
    private final InstantSource clock;

    /** The tables that a refund touches. */
    public record Tables(Payments payments, Refunds refunds) {}

    /**
     * Refunds payments.
     *
     * @param keyLifetime how long the provider honours a downstream key, as it declares
     */
    public Refunding(
            Database database, Tables tables, ProviderClient provider, Duration keyLifetime, InstantSource clock) {
        this.database = database;
        this.tables = tables;
        this.provider = provider;
        this.keyLifetime = keyLifetime;
        this.clock = clock;
    }

    /** What the first step came to. The tenant is no part of a refund's JSON, and nobody needs it here. */
    private record Begun(String refundId, String paymentId, long amount, String chargeId, long createdAt) {
        Refund refund() {
            return new Refund(refundId, "", paymentId, amount, Payment.PENDING, null, createdAt);
        }
    }

    /** The payment is not there, or does not allow it; nothing was done, and the key stays free. */
    public static final class NotRefundable extends RuntimeException {
        private static final long serialVersionUID = 1;

        /** Whether there is no such payment at all. */
        private final boolean missing;

        NotRefundable(boolean missing, String message) {
            super(message);
            this.missing = missing;
        }

        /** Whether there is no such payment at all. */
        public boolean isMissing() {
            return missing;
        }
    }

    /**
     * Refunds, or goes on with a refund that was begun; the result is the recorded answer.
     *
     * @throws NotRefundable before anything was done
     * @throws ProviderClient.NoAnswer if the provider does not answer clearly; the same request goes on
     */
    public Outcome<byte[]> refund(Stepped stepped, Key key, Fingerprint fingerprint, String paymentId, long amount)
            throws SQLException {
        return stepped.execute(key, fingerprint, Codec.bytes(), steps -> run(steps, key.tenant(), paymentId, amount));
    }

    private byte[] run(Steps steps, String tenant, String paymentId, long amount) throws SQLException {
        Codec<Begun> begunCodec = codec(Begun.class);
        Begun begun = steps.local(
                "reserve", begunCodec, connection -> reserve(database.on(connection), tenant, paymentId, amount));
        Movement movement = steps.repeatable(
                "refund", codec(Movement.class), downstreamKey -> ask(begun.refund(), begun.chargeId(), downstreamKey));
        return steps.local(
                "finish", Codec.bytes(), connection -> finish(database.on(connection), begun.refund(), movement));
    }

    private Begun reserve(Sql sql, String tenant, String paymentId, long amount) throws SQLException {
        Payment payment = tables.payments
                .find(sql, tenant, paymentId)
                .orElseThrow(() -> new NotRefundable(true, "there is no payment " + paymentId));
        if (payment.providerId() == null || !tables.payments.reserveRefund(sql, paymentId, amount)) {
            throw new NotRefundable(false, "the payment has not succeeded, or less than that is left of it");
        }
        Refund refund = tables.refunds.begin(sql, payment, amount);
        return new Begun(refund.id(), paymentId, amount, payment.providerId(), refund.createdAt());
    }

    private Movement ask(Refund refund, String chargeId, String downstreamKey) {
        if (clock.millis() - refund.createdAt() > keyLifetime.toMillis() / 2) {
            // The provider may have forgotten the key, so its ledger has to tell whether this was done long ago.
            List<Movement> made = provider.byKey("refunds", downstreamKey);
            if (!made.isEmpty()) {
                return made.get(0);
            }
        }
        ProviderClient.Reply reply = provider.refund(chargeId, refund, downstreamKey);
        if (reply instanceof ProviderClient.Reply.Decided decided) {
            return decided.movement();
        } else if (reply instanceof ProviderClient.Reply.NotSent not) {
            throw new NotExecuted(not.reason());
        }
        String reason = reply instanceof ProviderClient.Reply.Refused refused
                ? refused.reason()
                : ((ProviderClient.Reply.Unclear) reply).reason();
        throw new ProviderClient.NoAnswer(reason, null);
    }

    private byte[] finish(Sql sql, Refund refund, Movement movement) throws SQLException {
        Refund ended = tables.refunds.decide(sql, refund.id(), movement);
        if (!movement.succeeded()) {
            tables.payments.releaseRefund(sql, refund.paymentId(), refund.amount());
        }
        return PaymentAnswer.record(PaymentAnswer.of(ended));
    }

    private static <T> Codec<T> codec(Class<T> type) {
        return Codec.of(JSON::writeValueAsBytes, bytes -> JSON.readValue(bytes, type));
    }
}
