package dev.onlyonce.spring;

import dev.onlyonce.sql.outbox.Outbox;
import dev.onlyonce.store.StoreException;
import dev.onlyonce.store.Time;
import java.time.Duration;
import org.springframework.boot.health.contributor.AbstractHealthIndicator;
import org.springframework.boot.health.contributor.Health;

/** How much the outbox has to deliver. Dead letters are for operators and alerts: they do not make the application unhealthy. */
final class OutboxHealth extends AbstractHealthIndicator {
    private final Outbox outbox;
    private final Time time;

    OutboxHealth(Outbox outbox, Time time) {
        super("The outbox cannot be read");
        this.outbox = outbox;
        this.time = time;
    }

    @Override
    protected void doHealthCheck(Health.Builder builder) {
        try {
            Outbox.Backlog backlog = outbox.backlog(OutboxEndpoint.COUNT_MAX);
            builder.up()
                    .withDetail("waiting", backlog.waiting())
                    .withDetail("dead", backlog.dead())
                    .withDetail(
                            "oldestSeconds",
                            backlog.oldestAt()
                                    .map(at -> Math.max(
                                            0, Duration.between(at, time.now()).toSeconds()))
                                    .orElse(0L));
        } catch (StoreException e) {
            builder.down(e);
        }
    }
}
