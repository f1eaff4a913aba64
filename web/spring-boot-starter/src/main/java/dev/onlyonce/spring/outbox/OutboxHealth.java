package dev.onlyonce.spring.outbox;

import dev.onlyonce.sql.outbox.Outbox;
import dev.onlyonce.store.OutboxCounts;
import dev.onlyonce.store.StoreException;
import org.springframework.boot.health.contributor.AbstractHealthIndicator;
import org.springframework.boot.health.contributor.Health;

/**
 * How much the outbox has to deliver: the numbers of the gauges, by the store's clock. Dead letters are for operators and alerts: they do
 * not make the application unhealthy, nor do calls of this node that hang: {@link Outbox#hung()}.
 */
final class OutboxHealth extends AbstractHealthIndicator {
    /** Past that, nobody needs the exact number. */
    private static final int COUNT_MAX = 10_000;

    private final Outbox outbox;

    OutboxHealth(Outbox outbox) {
        super("The outbox cannot be read");
        this.outbox = outbox;
    }

    @Override
    protected void doHealthCheck(Health.Builder builder) {
        try {
            OutboxCounts counts = outbox.counts(COUNT_MAX);
            builder.up()
                    .withDetail("waiting", counts.waiting())
                    .withDetail("dead", counts.dead())
                    .withDetail("oldestSeconds", counts.oldest().toSeconds())
                    .withDetail("hung", outbox.hung());
        } catch (StoreException e) {
            builder.down(e);
        }
    }
}
