package dev.onlyonce.spring.outbox;

import dev.onlyonce.spring.operations.HealthLook;
import dev.onlyonce.sql.outbox.Outbox;
import dev.onlyonce.store.OutboxCounts;
import dev.onlyonce.store.StoreException;
import java.util.Map;

/**
 * How much the outbox has to deliver: the numbers of the gauges, by the store's clock. Dead letters are for operators and alerts: they do
 * not make the application unhealthy, nor do calls of this node that hang: {@link Outbox#hung()}.
 */
final class OutboxHealth implements HealthLook {
    /** Past that, nobody needs the exact number. */
    private static final int COUNT_MAX = 10_000;

    private final Outbox outbox;

    OutboxHealth(Outbox outbox) {
        this.outbox = outbox;
    }

    @Override
    public Report check() {
        try {
            OutboxCounts counts = outbox.counts(COUNT_MAX);
            return new Report(
                    Map.of(
                            "waiting", counts.waiting(),
                            "dead", counts.dead(),
                            "oldestSeconds", counts.oldest().toSeconds(),
                            "hung", outbox.hung()),
                    null);
        } catch (StoreException e) {
            return new Report(Map.of(), e);
        }
    }
}
