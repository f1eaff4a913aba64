package dev.onlyonce.payments.domain;

import dev.onlyonce.payments.db.Sql;
import dev.onlyonce.payments.provider.Movement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.InstantSource;
import java.util.List;
import java.util.UUID;

/** The refunds' table. Every method works in the caller's transaction. Thread-safe. */
public final class Refunds {
    private static final String SELECT =
            "SELECT id, tenant, payment_id, amount, status, provider_id, created_at FROM refund ";

    private final InstantSource clock;

    /** With the clock that dates them. */
    public Refunds(InstantSource clock) {
        this.clock = clock;
    }

    /** Writes a refund that the provider has not been asked for yet. */
    public Refund begin(Sql sql, Payment payment, long amount) throws SQLException {
        String id = "ref_" + UUID.randomUUID();
        sql.update(
                "INSERT INTO refund (id, tenant, payment_id, amount, status, created_at) VALUES (?, ?, ?, ?, ?, ?)",
                id,
                payment.tenant(),
                payment.id(),
                amount,
                Payment.PENDING,
                clock.millis());
        return get(sql, id);
    }

    /** Writes down how the provider decided, unless that was done before; returns the refund as it stands. */
    public Refund decide(Sql sql, String id, Movement movement) throws SQLException {
        sql.update(
                "UPDATE refund SET status = ?, provider_id = ? WHERE id = ? AND status = ?",
                movement.succeeded() ? Payment.SUCCEEDED : Payment.DECLINED,
                movement.id(),
                id,
                Payment.PENDING);
        return get(sql, id);
    }

    /** A refund that is there. */
    public Refund get(Sql sql, String id) throws SQLException {
        return sql.first(Refunds::read, SELECT + "WHERE id = ?", id)
                .orElseThrow(() -> new IllegalStateException("there is no refund " + id));
    }

    /** All refunds that were begun in a period; to: exclusive. */
    public List<Refund> period(Sql sql, long from, long to) throws SQLException {
        return sql.list(
                Refunds::read, SELECT + "WHERE created_at >= ? AND created_at < ? ORDER BY created_at, id", from, to);
    }

    private static Refund read(ResultSet row) throws SQLException {
        return new Refund(
                row.getString(1),
                row.getString(2),
                row.getString(3),
                row.getLong(4),
                row.getString(5),
                row.getString(6),
                row.getLong(7));
    }
}
