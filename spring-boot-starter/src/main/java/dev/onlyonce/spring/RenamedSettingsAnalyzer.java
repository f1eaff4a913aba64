package dev.onlyonce.spring;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.bind.UnboundConfigurationPropertiesException;
import org.springframework.boot.context.properties.source.ConfigurationProperty;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;

/** Names the new name of a setting that had another one in an earlier release. */
@Order(Ordered.HIGHEST_PRECEDENCE)
final class RenamedSettingsAnalyzer extends AbstractFailureAnalyzer<UnboundConfigurationPropertiesException> {
    /** How old names end, and the new ones. */
    static final Map<String, String> NEW_NAMES = newNames();

    private static Map<String, String> newNames() {
        Map<String, String> names = new LinkedHashMap<>();
        names.put("server-errors", "on-server-error");
        names.put("accepted", "when-running (conflict or accepted)");
        names.put("response-bytes-max", "result-bytes-max");
        names.put("timestamp-header", "request-age.header");
        names.put("timestamp-age-max", "request-age.max");
        return Map.copyOf(names);
    }

    @Override
    protected @Nullable FailureAnalysis analyze(Throwable rootFailure, UnboundConfigurationPropertiesException cause) {
        TreeSet<String> renamed = new TreeSet<>();
        for (ConfigurationProperty property : cause.getUnboundProperties()) {
            String name = property.getName().toString();
            String now = newName(property.getName());
            if (name.startsWith("onlyonce.") && now != null) {
                renamed.add(name + ": did you mean " + now + "?");
            }
        }
        return renamed.isEmpty()
                ? null
                : new FailureAnalysis(
                        "These settings have other names in this release: " + String.join("; ", renamed),
                        "Rename them in the configuration.",
                        cause);
    }

    /** Spring takes a name in any spelling, such as {@code serverErrors}. */
    private static @Nullable String newName(ConfigurationPropertyName name) {
        String last = name.getLastElement(ConfigurationPropertyName.Form.UNIFORM);
        for (Map.Entry<String, String> renamed : NEW_NAMES.entrySet()) {
            if (renamed.getKey().replace("-", "").equals(last)) {
                return renamed.getValue();
            }
        }
        return null;
    }
}
