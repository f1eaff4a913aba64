package dev.onlyonce.payments.domain;

import dev.onlyonce.payments.db.Sql;
import dev.onlyonce.payments.provider.Movement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** The refunds' table. Every method works in the caller's transaction. Thread-safe. */
public final class Refunds {
    private static final String COLUMNS = "SELECT id, tenant, payment_id, amount, status, provider_id, created_at";
    private static final String SELECT = COLUMNS + " FROM refund ";
    private static final String OPEN = COLUMNS + ", downstream_key, COALESCE(asked_at, created_at) FROM refund ";

    private final InstantSource clock;

    /** With the clock that dates them. */
    public Refunds(InstantSource clock) {
        this.clock = clock;
    }

    /** Writes a refund that the provider has not been asked for yet. */
    public Refund begin(Sql sql, Payment payment, long amount, String downstreamKey) throws SQLException {
        String id = "ref_" + UUID.randomUUID();
        sql.update("""
                INSERT INTO refund (id, tenant, payment_id, amount, status, downstream_key, created_at)
                VALUES (?, ?, ?, ?, ?, ?, ?)
                """, id, payment.tenant(), payment.id(), amount, Payment.PENDING, downstreamKey, clock.millis());
        return get(sql, id);
    }

    /**
     * That the provider is being asked.
     *
     * @param before since when an earlier call may have been on its way; empty if there was none, or it had an answer
     * @param now the time of this one
     */
    public record Asking(@Nullable Long before, long now) {}

    /** Writes down, before the call, that the provider is being asked; empty if the refund has ended. */
    public Optional<Asking> ask(Sql sql, String id) throws SQLException {
        long now = clock.millis();
        Optional<Asking> asking = sql.first(
                row -> new Asking(row.getObject(1) == null ? null : row.getLong(1), now),
                sql.dialect().forUpdate("SELECT asked_at FROM refund WHERE id = ? AND status = ?"),
                id,
                Payment.PENDING);
        if (asking.isPresent()) {
            sql.update("UPDATE refund SET asked_at = ? WHERE id = ?", now, id);
        }
        return asking;
    }

    /** Takes {@link #ask} back: the call is known to have had no effect. */
    public void notAsked(Sql sql, String id, Asking asking) throws SQLException {
        sql.update("UPDATE refund SET asked_at = ? WHERE id = ? AND asked_at = ?", asking.before, id, asking.now);
    }

    /** Writes down how the provider decided, unless the refund has ended; says whether it did. */
    public boolean decide(Sql sql, String id, Movement movement) throws SQLException {
        return sql.update(
                        "UPDATE refund SET status = ?, provider_id = ? WHERE id = ? AND status = ?",
                        movement.succeeded() ? Payment.SUCCEEDED : Payment.DECLINED,
                        movement.id().isEmpty() ? null : movement.id(),
                        id,
                        Payment.PENDING)
                == 1;
    }

    /**
     * A refund that has not ended.
     *
     * @param downstreamKey the idempotency key under which the provider is asked for it
     * @param quietSince when it was begun, or the provider was asked for it last
     */
    public record Open(Refund refund, String downstreamKey, long quietSince) {}

    /** Refunds of which nothing was heard since then, in the order of their ids, after the given one. */
    public List<Open> open(Sql sql, long quietSince, String after, int limit) throws SQLException {
        return sql.list(
                row -> new Open(read(row), row.getString(8), row.getLong(9)),
                OPEN + "WHERE status = ? AND id > ? AND COALESCE(asked_at, created_at) < ? ORDER BY id LIMIT ?",
                Payment.PENDING,
                after,
                quietSince,
                limit);
    }

    /** Ends a refund that was not made, unless it has ended or somebody has asked for it meanwhile; says whether it did. */
    public boolean giveUp(Sql sql, Open open) throws SQLException {
        return sql.update(
                        "UPDATE refund SET status = ? WHERE id = ? AND status = ? AND COALESCE(asked_at, created_at) = ?",
                        Payment.FAILED,
                        open.refund.id(),
                        Payment.PENDING,
                        open.quietSince)
                == 1;
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
