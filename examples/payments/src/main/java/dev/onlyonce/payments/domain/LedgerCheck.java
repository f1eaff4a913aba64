package dev.onlyonce.payments.domain;

import dev.onlyonce.Event;
import dev.onlyonce.Listener;
import dev.onlyonce.payments.db.Database;
import dev.onlyonce.payments.db.Sql;
import dev.onlyonce.payments.provider.Movement;
import dev.onlyonce.sql.LedgerReconciliation;
import dev.onlyonce.sql.LedgerReconciliation.Difference;
import dev.onlyonce.sql.LedgerReconciliation.Line;
import java.sql.SQLException;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Compares payments and refunds with the provider's ledger: whatever went wrong, it shows here. Thread-safe. */
public final class LedgerCheck {
    /** What is younger may still be under way. */
    private static final Duration UNDER_WAY = Duration.ofHours(1);

    private static final Duration PERIOD = Duration.ofDays(1);
    /** How long after it was accepted a payment may be charged; the two sides of a period do not end at the same line. */
    private static final Duration DELAY_MAX = Duration.ofDays(1);

    private static final Logger log = LoggerFactory.getLogger(LedgerCheck.class);

    private final Database database;
    private final Refunding.Tables tables;
    private final ProviderClient provider;
    private final InstantSource clock;
    private final List<Listener> listeners;

    /** Compares these tables with this provider's ledger. */
    public LedgerCheck(
            Database database,
            Refunding.Tables tables,
            ProviderClient provider,
            InstantSource clock,
            List<Listener> listeners) {
        this.database = database;
        this.tables = tables;
        this.provider = provider;
        this.clock = clock;
        this.listeners = listeners;
    }

    /** Compares the last day, logs what does not agree, and counts it. */
    public void run() {
        long to = clock.millis() - UNDER_WAY.toMillis();
        try {
            List<Difference> differences = compare(to - PERIOD.toMillis(), to);
            differences.forEach(difference -> log.warn("The provider's ledger differs: {}", difference));
            Event compared = new Event.LedgerCompared(
                    count(differences, Difference.Missing.class),
                    count(differences, Difference.Extra.class),
                    count(differences, Difference.Different.class));
            listeners.forEach(listener -> listener.on(compared));
        } catch (Database.Unavailable | ProviderClient.NoAnswer e) {
            log.warn("The ledger could not be compared, which is tried again: {}", e.toString());
        }
    }

    private static int count(List<Difference> differences, Class<? extends Difference> kind) {
        return (int) differences.stream().filter(kind::isInstance).count();
    }

    /**
     * What does not agree of all that was accepted here or made there in a period, by the ids that are used here.
     *
     * @param from in milliseconds since 1970
     * @param to exclusive
     * @throws ProviderClient.NoAnswer if the provider's ledger cannot be read
     */
    public List<Difference> compare(long from, long to) {
        long first = from - DELAY_MAX.toMillis();
        long last = to + DELAY_MAX.toMillis();
        Side here = database.transaction(sql -> here(sql, first, last));
        Side there = new Side();
        for (Movement movement : provider.period(first, last)) {
            there.add(new Line(movement.reference(), movement.amount(), movement.status()), movement.createdAt());
        }
        List<Difference> differences = new ArrayList<>();
        LedgerReconciliation.compare(here.sorted().iterator(), there.sorted().iterator(), difference -> {
            long at = difference instanceof Difference.Missing missing
                    ? here.time(missing.local())
                    : difference instanceof Difference.Extra extra
                            ? there.time(extra.provider())
                            : here.time(((Difference.Different) difference).local());
            if (at >= from && at < to) {
                differences.add(difference);
            }
        });
        return differences;
    }

    private Side here(Sql sql, long from, long to) throws SQLException {
        Side side = new Side();
        for (Payment payment : tables.payments().period(sql, from, to)) {
            if (isExpected(payment.status(), payment.providerId())) {
                side.add(new Line(payment.id(), payment.amount(), payment.status()), payment.createdAt());
            }
        }
        for (Refund refund : tables.refunds().period(sql, from, to)) {
            if (isExpected(refund.status(), refund.providerId())) {
                side.add(new Line(refund.id(), refund.amount(), refund.status()), refund.createdAt());
            }
        }
        return side;
    }

    /** What was given up, or refused without being booked, has no line there. */
    private static boolean isExpected(String status, @Nullable String providerId) {
        return providerId != null || status.equals(Payment.PENDING);
    }

    /** One side's lines, and when each was written. */
    private static final class Side {
        private final List<Line> lines = new ArrayList<>();
        private final Map<String, Long> times = new HashMap<>();

        void add(Line line, long time) {
            lines.add(line);
            times.put(line.id(), time);
        }

        List<Line> sorted() {
            lines.sort(Comparator.comparing(Line::id));
            return lines;
        }

        long time(Line line) {
            return times.getOrDefault(line.id(), 0L);
        }
    }
}
