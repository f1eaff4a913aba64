package dev.onlyonce.spring;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onlyonce.Onlyonce;
import dev.onlyonce.PolicyOptions;
import dev.onlyonce.http.Boundary;
import dev.onlyonce.http.Limits;
import dev.onlyonce.http.Operation;
import dev.onlyonce.sql.SqlStore;
import dev.onlyonce.sql.outbox.Outbox;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.springframework.boot.json.JsonParserFactory;

/**
 * The Spring part of {@code docs/reference/configuration.md} is generated from the metadata that IDEs complete properties from.
 * To bring it up to date, run this test with {@code -Dreference.write=true}.
 */
@DisplayName("docs/reference/configuration.md")
class PropertiesReferenceTest {
    private static final Path PAGE =
            Path.of(System.getProperty("onlyonce.root"), "docs", "reference", "configuration.md");
    private static final Path SOURCE =
            Path.of("src", "main", "java", "dev", "onlyonce", "spring", "OnlyonceProperties.java");
    private static final String BEGIN = "<!-- generated from the properties -->\n";
    private static final String END = "<!-- end of what is generated from the properties -->\n";
    /** Where a setting of this beginning is in Java. */
    private static final Map<String, List<Class<?>>> BUILDERS = Map.of(
            "onlyonce.",
                    List.of(
                            PolicyOptions.class,
                            Onlyonce.Builder.class,
                            Operation.Builder.class,
                            Boundary.Builder.class),
            "onlyonce.store.", List.of(Onlyonce.Builder.class, SqlStore.Builder.class),
            "onlyonce.outbox.", List.of(Outbox.Builder.class),
            "onlyonce.limits.", List.of(Limits.Builder.class));

    private static final Pattern PARAMETER = Pattern.compile("@param (\\w+) (.+)");

    @Test
    @DisplayName("lists every property, with its default and its meaning")
    void properties() throws IOException {
        String page = Files.readString(PAGE);
        int begin = page.indexOf(BEGIN) + BEGIN.length();
        int end = page.indexOf(END);
        assertThat(end).isGreaterThanOrEqualTo(begin);
        String generated = generated();
        if (Boolean.getBoolean("reference.write")) {
            Files.writeString(PAGE, page.substring(0, begin) + generated + page.substring(end));
            return;
        }
        assertThat(page.substring(begin, end))
                .as("to bring the page up to date, run this test with -Dreference.write=true")
                .isEqualTo(generated);
    }

    private static String generated() throws IOException {
        Map<String, Map<Object, Object>> all = new TreeMap<>(all());
        StringBuilder text = new StringBuilder("\n| property | in Java | default | meaning |\n|---|---|---|---|\n");
        all.forEach((name, property) -> text.append("| `%s` | %s | %s | %s |\n"
                .formatted(name, inJava(name), fallback(property), property.getOrDefault("description", ""))));
        Map<String, String> single = ofOneOperation();
        Set<String> known = single.keySet().stream()
                .filter(name -> all.containsKey("onlyonce." + name))
                .collect(Collectors.toSet());
        text.append("\n`onlyonce.operations.[NAME].` takes, for one operation, ")
                .append(known.stream().sorted().map(name -> "`" + name + "`").collect(Collectors.joining(", ")))
                .append(" of the table above, and\n\n| property | meaning |\n|---|---|\n");
        single.keySet().removeAll(known);
        single.forEach((name, meaning) -> text.append("| `%s` | %s |\n".formatted(name, meaning)));
        return text.append('\n').toString();
    }

    /** The builder's method for the same setting, if there is one. */
    private static String inJava(String property) {
        String name = property.substring(property.lastIndexOf('.') + 1);
        String prefix = property.substring(0, property.length() - name.length());
        if (property.equals("onlyonce.operations")) {
            return "";
        }
        for (Class<?> type : BUILDERS.getOrDefault(prefix, List.of())) {
            for (String setting : List.of(camel(name), camel("store-" + name))) {
                if (Arrays.stream(type.getDeclaredMethods())
                        .anyMatch(method -> method.getName().equals(setting))) {
                    Class<?> outer = type.getDeclaringClass();
                    String owner = outer == null ? "" : outer.getSimpleName() + ".";
                    return "`" + owner + type.getSimpleName() + "." + setting + "`";
                }
            }
        }
        return "";
    }

    private static String camel(String name) {
        return Pattern.compile("-(.)")
                .matcher(name)
                .replaceAll(letter -> letter.group(1).toUpperCase(Locale.ROOT));
    }

    private static String fallback(Map<?, ?> property) {
        Object value = property.get("defaultValue");
        return value == null ? "" : "`" + value + "`";
    }

    /** The properties of this starter, by name. */
    private static Map<String, Map<Object, Object>> all() throws IOException {
        Map<String, Map<Object, Object>> all = new LinkedHashMap<>();
        try (InputStream in =
                OnlyonceProperties.class.getResourceAsStream("/META-INF/spring-configuration-metadata.json")) {
            // Others have a file of this name, too: ours comes first, as our classes do.
            String json = new String(in.readAllBytes(), StandardCharsets.UTF_8);
            List<?> properties =
                    (List<?>) JsonParserFactory.getJsonParser().parseMap(json).get("properties");
            for (Object property : properties) {
                Map<Object, Object> copy = new LinkedHashMap<>((Map<?, ?>) property);
                String name = String.valueOf(copy.get("name"));
                if (name.startsWith("onlyonce.")) {
                    all.put(name, copy);
                }
            }
        }
        assertThat(all).as("properties in the metadata").containsKey("onlyonce.retention");
        return all;
    }

    /** The metadata has nothing of what is in a map, so this comes from the Javadoc of the record. */
    private static Map<String, String> ofOneOperation() throws IOException {
        String source = Files.readString(SOURCE);
        String start = source.substring(0, source.indexOf("public record OperationSettings("));
        String javadoc = start.substring(start.lastIndexOf("/**")).replaceAll("\\n\\s*\\* (?!@)", " ");
        Map<String, String> settings = new TreeMap<>();
        Matcher parameter = PARAMETER.matcher(javadoc);
        while (parameter.find()) {
            settings.put(
                    parameter.group(1).replaceAll("([A-Z])", "-$1").toLowerCase(Locale.ROOT),
                    parameter.group(2).strip());
        }
        assertThat(settings)
                .as("settings with a Javadoc")
                .hasSameSizeAs(OnlyonceProperties.OperationSettings.class.getRecordComponents());
        return settings;
    }
}
