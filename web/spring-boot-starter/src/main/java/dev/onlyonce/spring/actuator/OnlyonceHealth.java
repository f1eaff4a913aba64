package dev.onlyonce.spring.actuator;

import dev.onlyonce.Key;
import dev.onlyonce.Onlyonce;
import dev.onlyonce.spring.operations.HealthLook;
import dev.onlyonce.store.Store;
import dev.onlyonce.store.StoreException;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Whether the store can record entries; if there are several stores, whether the engine's answers. While it cannot, protected requests get
 * 503 and everything else goes on. What the store may lose by its owner's decision is a detail and no reason to be down.
 */
public final class OnlyonceHealth implements HealthLook {
    private static final Key PROBE = Key.of("onlyonce", "health", "probe");

    private final Onlyonce once;
    private final @Nullable Store store;

    public OnlyonceHealth(Onlyonce once, @Nullable Store store) {
        this.once = once;
        this.store = store;
    }

    @Override
    public Report check() {
        Map<String, Object> details = new LinkedHashMap<>();
        details.put("liveClaims", once.liveClaims());
        if (store != null && !store.acceptedRisks().isEmpty()) {
            details.put("acceptedRisks", store.acceptedRisks());
        }
        try {
            if (store == null) {
                once.find(PROBE);
            } else {
                store.checkWritable();
            }
            return new Report(details, null);
        } catch (StoreException e) {
            return new Report(details, e);
        }
    }
}
