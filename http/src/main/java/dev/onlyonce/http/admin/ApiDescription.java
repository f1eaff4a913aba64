package dev.onlyonce.http.admin;

import java.lang.reflect.ParameterizedType;
import java.lang.reflect.RecordComponent;
import java.lang.reflect.Type;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** The admin API as an OpenAPI document, made from {@link AdminAction} and the records that it posts and answers. */
public final class ApiDescription {
    private static final String SCHEMAS = "#/components/schemas/";

    private static final Map<String, String> PARAMETERS = Map.ofEntries(
            Map.entry("tenant", "Only of this tenant; whose key it is"),
            Map.entry("operation", "Only of this operation; for one key, needed if keys are unique in their operation"),
            Map.entry("state", "pending, processing, completed, failed, retryable, unknown or expired"),
            Map.entry("olderThan", "First claimed at least this long ago, such as 10m, 2h or 3d"),
            Map.entry("newerThan", "First claimed at most this long ago"),
            Map.entry("node", "Last claimed by this node"),
            Map.entry("prefix", "The beginning of the key; needs tenant"),
            Map.entry("after", "Continues after this one: the `next` of the page before"),
            Map.entry("limit", "The most to list"),
            Map.entry("key", "The client's key"),
            Map.entry("ref", "The key's reference, as a listing gave it; instead of tenant and key"),
            Map.entry("id", "The number of the dead letter"),
            Map.entry("since", "Only from this time on, in seconds since 1970"),
            Map.entry("database", "postgresql, mysql, sqlite or h2"));

    private final Map<String, Object> schemas = new TreeMap<>();

    private ApiDescription() {}

    /** The document. */
    public static Map<String, Object> document() {
        return new ApiDescription().make();
    }

    private Map<String, Object> make() {
        Map<String, Map<String, Object>> paths = new LinkedHashMap<>();
        for (AdminAction action : AdminAction.values()) {
            paths.computeIfAbsent(action.path(), path -> new LinkedHashMap<>())
                    .put(action.method().toLowerCase(Locale.ROOT), operation(action));
        }
        Map<String, Object> document = new LinkedHashMap<>();
        document.put("openapi", "3.1.0");
        document.put("info", ordered("title", "Onlyonce admin API", "version", "1"));
        document.put("security", List.of(Map.of("token", List.of())));
        document.put("paths", paths);
        Map<String, Object> components = new LinkedHashMap<>();
        components.put("securitySchemes", Map.of("token", ordered("type", "http", "scheme", "bearer")));
        components.put("schemas", schemas);
        document.put("components", components);
        return document;
    }

    private static Map<String, Object> ordered(Object... namesAndValues) {
        Map<String, Object> map = new LinkedHashMap<>();
        for (int i = 0; i < namesAndValues.length; i += 2) {
            map.put(String.valueOf(namesAndValues[i]), namesAndValues[i + 1]);
        }
        return map;
    }

    private Map<String, Object> operation(AdminAction action) {
        Map<String, Object> operation = new LinkedHashMap<>();
        operation.put("operationId", action.command().replace(' ', '-'));
        operation.put("summary", action.summary());
        if (!action.parameters().isEmpty()) {
            operation.put(
                    "parameters",
                    action.parameters().stream().map(ApiDescription::parameter).toList());
        }
        action.body()
                .filter(type -> type != Bodies.Nothing.class)
                .ifPresent(type -> operation.put("requestBody", content(type)));
        Map<String, Object> answers = new LinkedHashMap<>();
        Map<String, Object> good = action.answer() == String.class
                ? ordered("content", ordered("text/plain", ordered("schema", ordered("type", "string"))))
                : content(action.answer());
        good.put("description", "Done");
        answers.put("200", good);
        answers.put("default", ordered("description", "A problem (RFC 9457): `detail` says what is wrong"));
        operation.put("responses", answers);
        return operation;
    }

    private static Map<String, Object> parameter(String name) {
        String description = Optional.ofNullable(PARAMETERS.get(name))
                .orElseThrow(() -> new IllegalStateException("nobody describes the parameter " + name));
        boolean isNumber = name.equals("limit") || name.equals("id") || name.equals("since");
        return ordered(
                "name",
                name,
                "in",
                "query",
                "description",
                description,
                "schema",
                ordered("type", isNumber ? "integer" : "string"));
    }

    private Map<String, Object> content(Class<?> type) {
        return ordered("content", ordered("application/json", ordered("schema", schema(type))));
    }

    private Map<String, Object> schema(Type type) {
        if (type instanceof ParameterizedType generic) {
            Type[] arguments = generic.getActualTypeArguments();
            return generic.getRawType() == Map.class
                    ? ordered("type", "object", "additionalProperties", schema(arguments[1]))
                    : ordered("type", "array", "items", schema(arguments[0]));
        }
        Class<?> plain = (Class<?>) type;
        if (plain.isRecord()) {
            return record(plain);
        }
        return ordered("type", simple(plain));
    }

    private static String simple(Class<?> type) {
        if (type == boolean.class || type == Boolean.class) {
            return "boolean";
        }
        if (type == int.class || type == Integer.class || type == long.class || type == Long.class) {
            return "integer";
        }
        if (type == double.class || Number.class.isAssignableFrom(type)) {
            return "number";
        }
        return type == String.class ? "string" : "object";
    }

    private Map<String, Object> record(Class<?> type) {
        String name = type.getSimpleName();
        if (!schemas.containsKey(name)) {
            Map<String, Object> properties = new LinkedHashMap<>();
            Map<String, Object> schema = ordered("type", "object", "properties", properties);
            schemas.put(name, schema);
            List<String> required = new ArrayList<>();
            for (RecordComponent component : type.getRecordComponents()) {
                properties.put(component.getName(), schema(component.getGenericType()));
                if (!component.getAnnotatedType().isAnnotationPresent(Nullable.class)) {
                    required.add(component.getName());
                }
            }
            if (!required.isEmpty()) {
                schema.put("required", required);
            }
        }
        return ordered("$ref", SCHEMAS + name);
    }
}
