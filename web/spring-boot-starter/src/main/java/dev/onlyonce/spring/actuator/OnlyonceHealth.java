package dev.onlyonce.spring.actuator;

import dev.onlyonce.Key;
import dev.onlyonce.Onlyonce;
import dev.onlyonce.store.Store;
import dev.onlyonce.store.StoreException;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.health.contributor.AbstractHealthIndicator;
import org.springframework.boot.health.contributor.Health;

/**
 * Whether the store can record entries; if there are several stores, whether the engine's answers. While it cannot, protected requests get
 * 503 and everything else goes on. What the store may lose by its owner's decision is a detail and no reason to be down.
 */
public final class OnlyonceHealth extends AbstractHealthIndicator {
    private static final Key PROBE = Key.of("onlyonce", "health", "probe");

    private final Onlyonce once;
    private final @Nullable Store store;

    public OnlyonceHealth(Onlyonce once, @Nullable Store store) {
        super("The store of entries cannot be asked");
        this.once = once;
        this.store = store;
    }

    @Override
    protected void doHealthCheck(Health.Builder builder) {
        builder.withDetail("liveClaims", once.liveClaims());
        if (store != null && !store.acceptedRisks().isEmpty()) {
            builder.withDetail("acceptedRisks", store.acceptedRisks());
        }
        try {
            if (store == null) {
                once.find(PROBE);
            } else {
                store.checkWritable();
            }
            builder.up();
        } catch (StoreException e) {
            builder.down(e);
        }
    }
}
