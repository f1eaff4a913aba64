package dev.onlyonce.sql.outbox;

import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/** Rows that are delivered one after the other, in the order of their ids. */
record DeliveryOrder(String tenant, String topic, String orderKey) implements Comparable<DeliveryOrder> {
    private static final Comparator<DeliveryOrder> ORDER = Comparator.comparing(DeliveryOrder::tenant)
            .thenComparing(DeliveryOrder::topic)
            .thenComparing(DeliveryOrder::orderKey);

    /** The line in which a row stands; empty if it has no order. */
    static Optional<DeliveryOrder> of(OutboxRow row) {
        return Optional.ofNullable(row.orderKey())
                .map(orderKey -> new DeliveryOrder(row.key().tenant(), row.topic(), orderKey));
    }

    /** The lines of rows, each once. */
    static List<DeliveryOrder> of(Stream<OutboxRow> rows) {
        return rows.flatMap(row -> of(row).stream()).distinct().sorted().toList();
    }

    @Override
    public int compareTo(DeliveryOrder other) {
        return ORDER.compare(this, other);
    }
}
