package dev.onlyonce.spring.operations;

import dev.onlyonce.spring.OnlyonceProperties;
import java.lang.reflect.RecordComponent;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.bind.DataObjectPropertyName;
import org.springframework.boot.context.properties.bind.UnboundConfigurationPropertiesException;
import org.springframework.boot.context.properties.source.ConfigurationProperty;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;

/** Names the settings that exist where one does not, or the new name of one that had another in an earlier release. */
@Order(Ordered.HIGHEST_PRECEDENCE)
public final class UnknownSettingsAnalyzer extends AbstractFailureAnalyzer<UnboundConfigurationPropertiesException> {
    private static final ConfigurationPropertyName ROOT = ConfigurationPropertyName.of("onlyonce");

    /** How old names end, and the new ones. */
    public static final Map<String, String> NEW_NAMES = Map.of(
            "server-errors", "on-server-error",
            "accepted", "when-running (conflict or accepted)",
            "response-bytes-max", "result-bytes-max",
            "timestamp-header", "request-age.header",
            "timestamp-age-max", "request-age.max");

    @Override
    protected @Nullable FailureAnalysis analyze(Throwable rootFailure, UnboundConfigurationPropertiesException cause) {
        List<String> wrong = new ArrayList<>();
        Set<String> others = new TreeSet<>();
        for (ConfigurationProperty property : cause.getUnboundProperties()) {
            ConfigurationPropertyName name = property.getName();
            if (ROOT.isAncestorOf(name)) {
                String now = newName(name);
                wrong.add(
                        name + " (" + property.getOrigin() + ")" + (now == null ? "" : ": did you mean " + now + "?"));
                others.addAll(siblings(name));
            }
        }
        return wrong.isEmpty()
                ? null
                : new FailureAnalysis(
                        "There is no such setting: " + String.join("; ", wrong),
                        "Correct the name. There are: " + String.join(", ", others),
                        cause);
    }

    /** The settings in the same place, or all at the top. */
    private static Set<String> siblings(ConfigurationPropertyName name) {
        if (name.getElement(1, ConfigurationPropertyName.Form.UNIFORM).equals("operations")) {
            return names(name.chop(3).toString(), OnlyonceProperties.OperationSettings.class);
        }
        String parent = name.getParent().toString();
        for (RecordComponent part : OnlyonceProperties.class.getRecordComponents()) {
            if (part.getType().isRecord() && parent.equals(ROOT + "." + part.getName())) {
                return names(parent, part.getType());
            }
        }
        return names(ROOT.toString(), OnlyonceProperties.class);
    }

    private static Set<String> names(String parent, Class<?> settings) {
        Set<String> names = new TreeSet<>();
        for (RecordComponent setting : settings.getRecordComponents()) {
            names.add(parent + "." + DataObjectPropertyName.toDashedForm(setting.getName()));
        }
        return names;
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
