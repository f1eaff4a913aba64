package dev.onlyonce.spring.actuator;

import dev.onlyonce.Onlyonce;
import dev.onlyonce.store.State;
import dev.onlyonce.store.StateCounts;
import dev.onlyonce.store.StoreException;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.actuate.endpoint.annotation.Endpoint;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;

/**
 * A summary at {@code /actuator/onlyonce}: how many keys are in which state, what is protected, who reconciles what, and where the
 * console is. It shows no key and changes nothing: the console and its API do that, with roles, tokens and an audit.
 */
@Endpoint(id = "onlyonce")
public class OnlyonceEndpoint {
    /** Beyond that the counts are estimates or lower bounds. */
    private static final int COUNTED_MAX = 10_000;

    private final Onlyonce once;
    private final Supplier<Map<String, Object>> application;
    private final @Nullable String console;

    /**
     * Summarises.
     *
     * @param application what was found out about the application's operations
     * @param console where the console is; null if it is not enabled
     */
    OnlyonceEndpoint(Onlyonce once, Supplier<Map<String, Object>> application, @Nullable String console) {
        this.once = once;
        this.application = application;
        this.console = console;
    }

    /** The summary. */
    @ReadOperation
    public Map<String, Object> summary() {
        Map<String, Object> summary = new LinkedHashMap<>();
        summary.put("enabled", true);
        summary.put("console", console == null ? "not enabled: set onlyonce.console.enabled" : console);
        summary.put("liveClaims", once.liveClaims());
        summary.put("keys", keys());
        summary.putAll(application.get());
        return summary;
    }

    private Map<String, Object> keys() {
        Map<String, Object> keys = new LinkedHashMap<>();
        try {
            StateCounts counts = once.operator().countStates(COUNTED_MAX);
            for (State state : State.values()) {
                keys.put(state.name().toLowerCase(Locale.ROOT), counts.of(state));
            }
            keys.put("counts", counts.kind().name().toLowerCase(Locale.ROOT));
        } catch (StoreException e) {
            keys.put("trouble", String.valueOf(e.getMessage()));
        }
        return keys;
    }
}
