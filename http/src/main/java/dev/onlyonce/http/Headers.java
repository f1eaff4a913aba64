package dev.onlyonce.http;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.function.Predicate;

/**
 * The header lines of a message, in their order; a name may occur several times, and its case does not matter. Immutable.
 *
 * @param fields the lines
 */
public record Headers(List<Field> fields) {
    private static final Headers NONE = new Headers(List.of());

    /**
     * One line.
     *
     * @param name as it was sent
     * @param value as it was sent, without surrounding white space
     */
    public record Field(String name, String value) {
        boolean is(String other) {
            return name.equalsIgnoreCase(other);
        }
    }

    /** Copies the lines. */
    public Headers {
        fields = List.copyOf(fields);
    }

    /** No lines. */
    public static Headers none() {
        return NONE;
    }

    /** From names and values in turn; throws {@link IllegalArgumentException} if a value is missing. */
    public static Headers of(String... namesAndValues) {
        if (namesAndValues.length % 2 != 0) {
            throw new IllegalArgumentException("a name without a value: " + namesAndValues[namesAndValues.length - 1]);
        }
        List<Field> fields = new ArrayList<>();
        for (int i = 0; i < namesAndValues.length; i += 2) {
            fields.add(new Field(namesAndValues[i], namesAndValues[i + 1]));
        }
        return new Headers(fields);
    }

    /** The values of all lines with this name, in order. */
    public List<String> values(String name) {
        List<String> values = new ArrayList<>(1);
        for (Field field : fields) {
            if (field.is(name)) {
                values.add(field.value());
            }
        }
        return values;
    }

    /** The value of the first line with this name. */
    public Optional<String> first(String name) {
        for (Field field : fields) {
            if (field.is(name)) {
                return Optional.of(field.value());
            }
        }
        return Optional.empty();
    }

    /** Whether there is a line with this name. */
    public boolean has(String name) {
        return first(name).isPresent();
    }

    /** These lines and one more at the end. */
    public Headers plus(String name, String value) {
        List<Field> more = new ArrayList<>(fields);
        more.add(new Field(name, value));
        return new Headers(more);
    }

    /** These lines, with all those of this name replaced by one at the end. */
    public Headers set(String name, String value) {
        List<Field> changed = new ArrayList<>(fields);
        changed.removeIf(field -> field.is(name));
        changed.add(new Field(name, value));
        return new Headers(changed);
    }

    /** Those lines that the filter accepts. */
    public Headers only(Predicate<Field> accepted) {
        List<Field> kept = new ArrayList<>(fields);
        kept.removeIf(accepted.negate());
        return new Headers(kept);
    }

    /** The lines with these names, as far as there are any. */
    Map<String, List<String>> toMap(List<String> names) {
        Map<String, List<String>> map = new LinkedHashMap<>();
        for (String name : names) {
            List<String> values = values(name);
            if (!values.isEmpty()) {
                map.put(name, values);
            }
        }
        return map;
    }

    /** By name in lower case, in the order of first occurrence. */
    public Map<String, List<String>> toMap() {
        Map<String, List<String>> map = new LinkedHashMap<>();
        for (Field field : fields) {
            map.computeIfAbsent(field.name().toLowerCase(Locale.ROOT), name -> new ArrayList<>())
                    .add(field.value());
        }
        return map;
    }
}
