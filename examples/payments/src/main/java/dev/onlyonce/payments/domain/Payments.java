package dev.onlyonce.payments.domain;

import static java.util.Objects.requireNonNull;
import static java.util.Objects.requireNonNullElse;

import dev.onlyonce.payments.db.Sql;
import dev.onlyonce.payments.provider.Movement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.InstantSource;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** The payments' table. Every method works in the caller's transaction. Thread-safe. */
public final class Payments {
    private static final String SELECT = """
            SELECT id, tenant, amount, currency, description, source, status, provider_id, provider_said, downstream_key,
                   refunded, created_at
            FROM payment
            """;

    private final InstantSource clock;
    private final Announcements announcements;

    /**
     * The table.
     *
     * @param clock dates payments
     * @param announcements hear of those that succeed
     */
    public Payments(InstantSource clock, Announcements announcements) {
        this.clock = clock;
        this.announcements = announcements;
    }

    /** A payment that the provider has not been asked for yet; nothing is written. Throws {@link Invalid}. */
    public Payment prepare(String tenant, PaymentOrder order, String downstreamKey) {
        order.check();
        return new Payment(
                "pay_" + UUID.randomUUID(),
                tenant,
                requireNonNull(order.amount()),
                requireNonNull(order.currency()).toUpperCase(Locale.ROOT),
                requireNonNullElse(order.description(), ""),
                order.charged(),
                Payment.PENDING,
                null,
                null,
                downstreamKey,
                0,
                clock.millis());
    }

    /** Writes a new payment. */
    public void insert(Sql sql, Payment payment) throws SQLException {
        sql.update(
                """
                INSERT INTO payment (id, tenant, amount, currency, description, source, status, downstream_key, created_at)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
                """,
                payment.id(),
                payment.tenant(),
                payment.amount(),
                payment.currency(),
                payment.description(),
                payment.source(),
                payment.status(),
                payment.downstreamKey(),
                payment.createdAt());
    }

    /** Writes down how a pending payment ended; one that has ended stays as it is. */
    public void settle(Sql sql, String id, String status, @Nullable String providerId) throws SQLException {
        boolean ended = sql.update(
                        "UPDATE payment SET status = ?, provider_id = COALESCE(?, provider_id) WHERE id = ? AND status = ?",
                        status,
                        providerId,
                        id,
                        Payment.PENDING)
                == 1;
        if (ended && status.equals(Payment.SUCCEEDED)) {
            announcements.paid(sql, get(sql, id));
        }
    }

    /** Writes down the provider's name for a payment, unless it is known. */
    public void noteProviderId(Sql sql, String id, String providerId) throws SQLException {
        sql.update("UPDATE payment SET provider_id = ? WHERE id = ? AND provider_id IS NULL", providerId, id);
    }

    /** Writes down how the provider says a payment ended, unless it has said so before: it does not take that back. */
    public void noteEnd(Sql sql, String id, Movement charge) throws SQLException {
        sql.update(
                "UPDATE payment SET provider_said = ?, provider_id = ? WHERE id = ? AND provider_said IS NULL",
                charge.succeeded() ? Payment.SUCCEEDED : Payment.DECLINED,
                charge.id(),
                id);
    }

    /** A payment that is there. */
    public Payment get(Sql sql, String id) throws SQLException {
        return sql.first(Payments::read, SELECT + "WHERE id = ?", id)
                .orElseThrow(() -> new IllegalStateException("there is no payment " + id));
    }

    /** A tenant's payment; another tenant's is simply not there. */
    public Optional<Payment> find(Sql sql, String tenant, String id) throws SQLException {
        return sql.first(Payments::read, SELECT + "WHERE id = ? AND tenant = ?", id, tenant);
    }

    /** The payment that the provider was asked for under this key; the last one, if the key was forgotten and used again. */
    public Optional<Payment> byDownstreamKey(Sql sql, String downstreamKey) throws SQLException {
        return sql.first(Payments::read, SELECT + "WHERE downstream_key = ? ORDER BY created_at DESC", downstreamKey);
    }

    /** All payments that were accepted in a period; to: exclusive. */
    public List<Payment> period(Sql sql, long from, long to) throws SQLException {
        return sql.list(
                Payments::read, SELECT + "WHERE created_at >= ? AND created_at < ? ORDER BY created_at, id", from, to);
    }

    /** Sets money aside for a refund, if that much is left; says whether it is. */
    public boolean reserveRefund(Sql sql, String id, long amount) throws SQLException {
        return sql.update(
                        "UPDATE payment SET refunded = refunded + ? WHERE id = ? AND status = ? AND refunded + ? <= amount",
                        amount,
                        id,
                        Payment.SUCCEEDED,
                        amount)
                == 1;
    }

    /** Gives back what was set aside for a refund that the provider declined. */
    public void releaseRefund(Sql sql, String id, long amount) throws SQLException {
        sql.update("UPDATE payment SET refunded = refunded - ? WHERE id = ?", amount, id);
    }

    private static Payment read(ResultSet row) throws SQLException {
        return new Payment(
                row.getString(1),
                row.getString(2),
                row.getLong(3),
                row.getString(4),
                row.getString(5),
                row.getString(6),
                row.getString(7),
                row.getString(8),
                row.getString(9),
                row.getString(10),
                row.getLong(11),
                row.getLong(12));
    }
}
