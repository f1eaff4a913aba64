package dev.onlyonce.payments.domain;

import dev.onlyonce.Codec;
import dev.onlyonce.DownstreamKey;
import dev.onlyonce.Key;
import dev.onlyonce.NotExecuted;
import dev.onlyonce.payments.db.Database;
import dev.onlyonce.payments.db.Sql;
import dev.onlyonce.payments.domain.Refunding.NotRefundable.Why;
import dev.onlyonce.payments.provider.Movement;
import dev.onlyonce.sql.steps.StepRunner;
import java.sql.SQLException;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Optional;
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
 * <p>Whoever resumes gets the results of the steps that are done; what nobody resumes, {@link ForgottenRefunds} ends.
 * Thread-safe.
 */
public final class Refunding {
    private static final String STEP = "refund";
    private static final JsonMapper JSON = new JsonMapper();

    private final Database database;
    private final Tables tables;
    private final ProviderClient provider;
    private final Limits limits;
    private final InstantSource clock;

    /** The tables that a refund touches, and who hears of it. */
    public record Tables(Payments payments, Refunds refunds, Announcements announcements) {
        /** Writes down how the provider decided, unless the refund has ended; gives back what was set aside if it declined. */
        void decide(Sql sql, Refund refund, Movement movement) throws SQLException {
            if (!refunds.decide(sql, refund.id(), movement)) {
                return;
            }
            if (movement.succeeded()) {
                announcements.refunded(sql, payments.get(sql, refund.paymentId()), refunds.get(sql, refund.id()));
            } else {
                payments.releaseRefund(sql, refund.paymentId(), refund.amount());
            }
        }
    }

    /**
     * What the provider declares.
     *
     * @param keyLifetime how long it honours a downstream key
     * @param absentAfter how long a call may be on its way at most
     */
    public record Limits(Duration keyLifetime, Duration absentAfter) {}

    /** Refunds payments. */
    public Refunding(Database database, Tables tables, ProviderClient provider, Limits limits, InstantSource clock) {
        this.database = database;
        this.tables = tables;
        this.provider = provider;
        this.limits = limits;
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

        private final Why why;

        /** Why not. */
        public enum Why {
            /** There is no such payment. */
            MISSING,
            /** The payment has not ended, or that it has is not written down yet, although its client may have been told. */
            PENDING,
            /** The payment did not succeed, or less than that is left of it. */
            REFUSED
        }

        NotRefundable(Why why, String message) {
            super(message);
            this.why = why;
        }

        /** Why not. */
        public Why why() {
            return why;
        }
    }

    /**
     * Refunds, or goes on with a refund that was begun.
     *
     * @return the refund, whose end is known
     * @throws NotRefundable before anything was done
     * @throws ProviderClient.NoAnswer if the provider does not answer clearly; the same request goes on
     */
    public Refund refund(StepRunner steps, Key key, String paymentId, long amount) throws SQLException {
        Begun begun = steps.local(
                "reserve", codec(Begun.class), connection -> reserve(database.on(connection), key, paymentId, amount));
        Movement movement = steps.repeatable(
                STEP, codec(Movement.class), downstreamKey -> ask(begun.refund(), begun.chargeId(), downstreamKey));
        return steps.local(
                "finish", codec(Refund.class), connection -> finish(database.on(connection), begun.refund(), movement));
    }

    private Begun reserve(Sql sql, Key key, String paymentId, long amount) throws SQLException {
        Payment payment = tables.payments
                .find(sql, key.tenant(), paymentId)
                .orElseThrow(() -> new NotRefundable(Why.MISSING, "there is no payment " + paymentId));
        if (payment.status().equals(Payment.PENDING)) {
            throw new NotRefundable(Why.PENDING, "the payment is pending; try again with the same key");
        }
        if (payment.providerId() == null || !tables.payments.reserveRefund(sql, paymentId, amount)) {
            throw new NotRefundable(Why.REFUSED, "the payment has not succeeded, or less than that is left of it");
        }
        Refund refund = tables.refunds.begin(sql, payment, amount, DownstreamKey.of(key, STEP));
        return new Begun(refund.id(), paymentId, amount, payment.providerId(), refund.createdAt());
    }

    private Movement ask(Refund refund, String chargeId, String downstreamKey) {
        Optional<Refunds.Asking> asking = database.transaction(sql -> tables.refunds.ask(sql, refund.id()));
        if (asking.isEmpty() || isOlderThan(refund.createdAt(), limits.keyLifetime.dividedBy(2))) {
            // It was ended meanwhile; or the provider may have forgotten the key. Its ledger has to tell what was done.
            Optional<Movement> made = provider.made("refunds", downstreamKey, refund.id());
            if (made.isPresent() || asking.isEmpty()) {
                return made.orElseGet(() -> declined(refund, chargeId, downstreamKey));
            }
        }
        ProviderClient.Reply reply = provider.refund(chargeId, refund, downstreamKey);
        if (reply instanceof ProviderClient.Reply.Decided decided) {
            return decided.movement();
        } else if (reply instanceof ProviderClient.Reply.Unclear unclear) {
            throw new ProviderClient.NoAnswer(unclear.reason(), null);
        }
        Refunds.Asking asked = asking.orElseThrow();
        database.transaction(sql -> {
            tables.refunds.notAsked(sql, refund.id(), asked);
            return true;
        });
        if (reply instanceof ProviderClient.Reply.NotSent not) {
            throw new NotExecuted(not.reason());
        }
        Optional<Movement> made = provider.made("refunds", downstreamKey, refund.id());
        if (made.isEmpty() && asked.before() != null && !isOlderThan(asked.before(), limits.absentAfter)) {
            throw new ProviderClient.NoAnswer("refused, but a call of before may still be on its way", null);
        }
        return made.orElseGet(() -> declined(refund, chargeId, downstreamKey));
    }

    private boolean isOlderThan(long time, Duration age) {
        return clock.millis() - time > age.toMillis();
    }

    /** As the provider's, but it has made none, so there is no name of its own. */
    private Movement declined(Refund refund, String chargeId, String downstreamKey) {
        return new Movement(
                "",
                "refund",
                Movement.DECLINED,
                refund.amount(),
                "",
                refund.id(),
                chargeId,
                downstreamKey,
                clock.millis());
    }

    private Refund finish(Sql sql, Refund refund, Movement movement) throws SQLException {
        tables.decide(sql, refund, movement);
        return tables.refunds.get(sql, refund.id());
    }

    private static <T> Codec<T> codec(Class<T> type) {
        return Codec.of(JSON::writeValueAsBytes, bytes -> JSON.readValue(bytes, type));
    }
}
