package dev.onlyonce.payments.domain;

import static java.util.Objects.requireNonNull;

import dev.onlyonce.payments.db.Sql;
import java.sql.SQLException;
import java.time.InstantSource;
import java.util.UUID;

/**
 * Orders, which need no idempotency key: the client's own order id is unique, and the database keeps it so. Every method works
 * in the caller's transaction. Thread-safe.
 */
public final class Orders {
    private final InstantSource clock;

    /** With the clock that dates them. */
    public Orders(InstantSource clock) {
        this.clock = clock;
    }

    /**
     * An order.
     *
     * @param createdAt milliseconds since 1970
     */
    public record Order(String id, String clientOrderId, String item, long quantity, long createdAt) {}

    /**
     * What creating came to.
     *
     * @param order the order with that client order id
     * @param created whether it is new
     * @param same whether it is the one that was asked for
     */
    public record Created(Order order, boolean created, boolean same) {}

    /** Creates an order, or finds the one that was created before under the same client order id. */
    public Created create(Sql sql, String tenant, OrderRequest request) throws SQLException {
        request.check();
        boolean created = sql.insertUnlessThere(
                """
                INSERT INTO customer_order (id, tenant, client_order_id, item, quantity, created_at)
                VALUES (?, ?, ?, ?, ?, ?)""",
                "ord_" + UUID.randomUUID(),
                tenant,
                request.clientOrderId(),
                request.item(),
                request.quantity(),
                clock.millis());
        Order order = sql.first(
                        row -> new Order(
                                row.getString(1), row.getString(2), row.getString(3), row.getLong(4), row.getLong(5)),
                        """
                        SELECT id, client_order_id, item, quantity, created_at
                        FROM customer_order
                        WHERE tenant = ? AND client_order_id = ?
                        """,
                        tenant,
                        request.clientOrderId())
                .orElseThrow();
        boolean same = order.item().equals(request.item()) && order.quantity() == requireNonNull(request.quantity());
        return new Created(order, created, same);
    }
}
