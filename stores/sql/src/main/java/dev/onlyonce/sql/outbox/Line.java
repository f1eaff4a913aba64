package dev.onlyonce.sql.outbox;

import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/** Rows that are delivered one after the other, in the order of their ids. */
record Line(String tenant, String topic, String orderKey) implements Comparable<Line> {
    private static final Comparator<Line> ORDER =
            Comparator.comparing(Line::tenant).thenComparing(Line::topic).thenComparing(Line::orderKey);

    /** The line in which a row stands; empty if it has no order. */
    static Optional<Line> of(OutboxRow row) {
        return Optional.ofNullable(row.orderKey())
                .map(orderKey -> new Line(row.key().tenant(), row.topic(), orderKey));
    }

    /** The lines of rows, each once. */
    static List<Line> of(Stream<OutboxRow> rows) {
        return rows.flatMap(row -> of(row).stream()).distinct().sorted().toList();
    }

    @Override
    public int compareTo(Line other) {
        return ORDER.compare(this, other);
    }
}
