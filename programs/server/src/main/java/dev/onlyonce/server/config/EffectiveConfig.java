package dev.onlyonce.server.config;

import dev.onlyonce.http.Profile;
import dev.onlyonce.store.StoreOptions;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import org.snakeyaml.engine.v2.api.Dump;
import org.snakeyaml.engine.v2.api.DumpSettings;
import org.snakeyaml.engine.v2.common.FlowStyle;

/**
 * What a gateway does with a file and its environment.
 *
 * @param settings as they are used
 * @param values each setting as it could stand in a file, with its default where nothing was said, and without secrets
 */
public record EffectiveConfig(Settings settings, Map<String, Object> values) {
    private static final String MASK = "***";

    /** What a running gateway takes over; the certificate is read from the same files again. */
    private static final Set<String> RELOADED =
            Set.of("tenants", "limits", "defaults", "operations", "unmatched", "ambiguous-paths");

    /** The parts that differ from another configuration although they change with a restart only. */
    public List<String> needRestart(EffectiveConfig next) {
        Set<String> keys = new TreeSet<>(values.keySet());
        keys.addAll(next.values.keySet());
        keys.removeAll(RELOADED);
        keys.removeIf(key -> Objects.equals(values.get(key), next.values.get(key)));
        return List.copyOf(keys);
    }

    /** A file that has the same effect, but for the secrets. */
    public String yaml() {
        return new Dump(DumpSettings.builder()
                        .setDefaultFlowStyle(FlowStyle.BLOCK)
                        .build())
                .dumpToString(values);
    }

    /** Shows what an option of the command line says instead of a setting. */
    @SuppressWarnings("unchecked")
    public void put(String section, String key, @Nullable Object value) {
        if (value != null) {
            Map<String, Object> in = section.isEmpty()
                    ? values
                    : (Map<String, Object>) values.computeIfAbsent(section, any -> new LinkedHashMap<String, Object>());
            in.put(key, given(key, value.toString()));
        }
    }

    /** A value that somebody gave, without secrets. */
    static String given(String key, String text) {
        if (key.equals("password")) {
            return MASK;
        }
        return text.contains("://") || text.startsWith("jdbc:") ? StoreOptions.shown(text) : text;
    }

    /** The values of a mapping whose names are the user's; those of headers are often credentials. */
    static Map<String, String> given(String key, Map<String, String> map) {
        Map<String, String> shown = new LinkedHashMap<>();
        map.forEach((name, value) -> shown.put(name, key.equals("headers") ? MASK : given(name, value)));
        return shown;
    }

    /** A default as it would be written; null for one that cannot. */
    static @Nullable Object byDefault(Object value) {
        if (value instanceof Duration duration) {
            return text(duration);
        }
        if (value instanceof Enum<?> constant) {
            return constant.name().toLowerCase(Locale.ROOT).replace('_', '-');
        }
        if (value instanceof Profile profile) {
            return profile.name();
        }
        return value instanceof Number || value instanceof Boolean || value instanceof String ? value : null;
    }

    private static String text(Duration duration) {
        record Unit(String name, long millis) {}
        for (Unit unit : List.of(
                new Unit("d", 86_400_000), new Unit("h", 3_600_000), new Unit("m", 60_000), new Unit("s", 1_000))) {
            if (duration.toMillis() > 0 && duration.toMillis() % unit.millis() == 0) {
                return duration.toMillis() / unit.millis() + unit.name();
            }
        }
        return duration.toMillis() + "ms";
    }
}
