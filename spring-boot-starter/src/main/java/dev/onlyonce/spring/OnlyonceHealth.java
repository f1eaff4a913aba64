package dev.onlyonce.spring;

import dev.onlyonce.Key;
import dev.onlyonce.Onlyonce;
import dev.onlyonce.store.StoreException;
import org.springframework.boot.health.contributor.AbstractHealthIndicator;
import org.springframework.boot.health.contributor.Health;

/** Whether the store answers. While it does not, protected requests get 503 and everything else goes on. */
final class OnlyonceHealth extends AbstractHealthIndicator {
    private static final Key PROBE = Key.of("onlyonce", "health", "probe");

    private final Onlyonce once;

    OnlyonceHealth(Onlyonce once) {
        super("The store of entries cannot be asked");
        this.once = once;
    }

    @Override
    protected void doHealthCheck(Health.Builder builder) {
        builder.withDetail("liveClaims", once.liveClaims());
        try {
            once.find(PROBE);
            builder.up();
        } catch (StoreException e) {
            builder.down(e);
        }
    }
}
