package dev.onlyonce.payments.books;

import dev.onlyonce.Codec;
import dev.onlyonce.messages.OutgoingMessage;
import dev.onlyonce.payments.db.Database;
import dev.onlyonce.payments.events.PaymentEvent;
import dev.onlyonce.sql.outbox.Delivery;
import dev.onlyonce.sql.outbox.DeliveryHandler;
import dev.onlyonce.sql.outbox.OutboxRow;
import java.io.IOException;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;

/**
 * Takes events from the outbox where there is no broker. There is nobody to call: the event is posted in the transaction that ends its row,
 * so it is posted once. Thread-safe.
 */
public final class LocalBooks implements DeliveryHandler {
    private static final byte[] POSTED = Codec.json(String.class).encode("posted");

    private final Database database;
    private final Bookkeeping books;

    /** Posts to these books. */
    public LocalBooks(Database database, Bookkeeping books) {
        this.database = database;
        this.books = books;
    }

    @Override
    public Delivery deliver(OutboxRow row) {
        return new Delivery.Delivered(null, POSTED);
    }

    /** Nothing was called, so nothing is in doubt. */
    @Override
    public Duration keyLifetime() {
        return Duration.ofDays(3650);
    }

    @Override
    public void settled(Connection transaction, OutboxRow row, Delivery delivery) throws SQLException, IOException {
        if (delivery instanceof Delivery.Delivered) {
            PaymentEvent event =
                    PaymentEvent.read(OutgoingMessage.of(row.payload()).body());
            books.post(database.on(transaction), event);
        }
    }
}
