package dev.onlyonce.server.config;

import dev.onlyonce.http.Quantity;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.snakeyaml.engine.v2.common.FlowStyle;
import org.snakeyaml.engine.v2.nodes.MappingNode;
import org.snakeyaml.engine.v2.nodes.Node;
import org.snakeyaml.engine.v2.nodes.NodeTuple;
import org.snakeyaml.engine.v2.nodes.ScalarNode;
import org.snakeyaml.engine.v2.nodes.SequenceNode;
import org.snakeyaml.engine.v2.nodes.Tag;

/**
 * A mapping of the configuration file. Every key that is read is known; {@link #end} refuses the others. What is wrong is
 * noted, with its line, and reading goes on with the default.
 */
final class Section {
    private static final int SUGGESTION_DISTANCE_MAX = 3;

    private static final Pattern TOKEN = Pattern.compile("[!#$%&'*+.^_`|~0-9A-Za-z-]+");

    private final String name;
    private final Node node;
    private final Findings findings;
    private final Path folder;
    private final Map<String, Node> values = new LinkedHashMap<>();
    private final Map<String, Node> keys = new LinkedHashMap<>();
    private final Set<String> known = new TreeSet<>();
    private final Map<String, Object> shown = new LinkedHashMap<>();

    private Section(String name, Node node, Findings findings, Path folder) {
        this.name = name;
        this.node = node;
        this.findings = findings;
        this.folder = folder;
        if (!(node instanceof MappingNode mapping)) {
            findings.add(node, name + " must be a mapping of keys to values");
            return;
        }
        for (NodeTuple tuple : mapping.getValue()) {
            if (tuple.getKeyNode() instanceof ScalarNode key) {
                values.put(key.getValue(), tuple.getValueNode());
                if (keys.put(key.getValue(), key) != null) {
                    findings.add(key, "there are two settings \"" + key.getValue() + "\" in " + name + "; remove one");
                }
            } else {
                findings.add(tuple.getKeyNode(), "keys of " + name + " must be plain words");
            }
        }
    }

    static Section root(Node node, Findings findings, Path folder) {
        return new Section("the file", node, findings, folder);
    }

    /** Refuses keys that nobody asked for. */
    void end() {
        keys.forEach((key, where) -> {
            if (!known.contains(key)) {
                findings.add(where, "there is no setting \"" + key + "\" in " + name + suggestion(key));
            }
        });
    }

    private String suggestion(String key) {
        String renamed = RenamedSettings.NEW_NAMES.get(key);
        if (renamed != null && known.contains(renamed)) {
            return "; did you mean \"" + renamed + "\"?";
        }
        String best = null;
        // Short words are near to anything.
        int least = Math.min(SUGGESTION_DISTANCE_MAX, key.length() / 2) + 1;
        for (String candidate : known) {
            int distance = distance(key.toLowerCase(Locale.ROOT), candidate);
            if (distance < least) {
                best = candidate;
                least = distance;
            }
        }
        return best == null ? "; there are: " + String.join(", ", known) : "; did you mean \"" + best + "\"?";
    }

    /** How many letters to change, put in or take out. */
    private static int distance(String a, String b) {
        int[] row = new int[b.length() + 1];
        for (int j = 0; j <= b.length(); j++) {
            row[j] = j;
        }
        for (int i = 1; i <= a.length(); i++) {
            int diagonal = row[0];
            row[0] = i;
            for (int j = 1; j <= b.length(); j++) {
                int change = diagonal + (a.charAt(i - 1) == b.charAt(j - 1) ? 0 : 1);
                diagonal = row[j];
                row[j] = Math.min(change, 1 + Math.min(row[j], row[j - 1]));
            }
        }
        return row[b.length()];
    }

    boolean has(String key) {
        known.add(key);
        return values.containsKey(key);
    }

    /** Notes a problem with a value, or with the section if the value is missing. */
    void wrong(String key, String problem) {
        findings.add(values.getOrDefault(key, node), name + "." + key + ": " + problem);
    }

    void wrong(String problem) {
        findings.add(node, name + ": " + problem);
    }

    /** What was read so far, with defaults and without secrets. */
    Map<String, Object> shown() {
        return shown;
    }

    @Nullable
    Section section(String key) {
        known.add(key);
        Node value = values.get(key);
        return value == null ? null : inside(key, value);
    }

    /** The same; an empty one if it is missing. */
    Section sectionOrEmpty(String key) {
        Section section = section(key);
        return section == null ? inside(key, new MappingNode(Tag.MAP, new ArrayList<>(), FlowStyle.BLOCK)) : section;
    }

    private Section inside(String key, Node value) {
        Section section = new Section(key, value, findings, folder);
        shown.put(key, section.shown);
        return section;
    }

    List<Section> sections(String key) {
        List<Section> sections = new ArrayList<>();
        List<Node> items = items(key);
        for (int i = 0; i < items.size(); i++) {
            sections.add(new Section(key + "[" + i + "]", items.get(i), findings, folder));
        }
        if (!sections.isEmpty()) {
            shown.put(key, sections.stream().map(Section::shown).toList());
        }
        return sections;
    }

    List<String> texts(String key) {
        List<String> texts = new ArrayList<>();
        for (Node item : items(key)) {
            if (item instanceof ScalarNode scalar) {
                texts.add(scalar.getValue());
            } else {
                findings.add(item, name + "." + key + " must be a list of plain values");
            }
        }
        if (!texts.isEmpty()) {
            shown.put(key, List.copyOf(texts));
        }
        return texts;
    }

    private List<Node> items(String key) {
        known.add(key);
        Node value = values.get(key);
        if (value == null) {
            return List.of();
        }
        if (value instanceof SequenceNode sequence) {
            return sequence.getValue();
        }
        findings.add(value, name + "." + key + " must be a list, each item with a dash in front");
        return List.of();
    }

    /** A mapping of names to values that are the user's own. */
    Map<String, String> map(String key) {
        Section section = section(key);
        if (section == null) {
            return Map.of();
        }
        Map<String, String> map = new LinkedHashMap<>();
        section.values.forEach((name, value) -> {
            if (value instanceof ScalarNode scalar) {
                map.put(name, scalar.getValue());
            } else {
                findings.add(value, section.name + "." + name + " must be a plain value");
            }
        });
        shown.put(key, EffectiveConfig.given(key, map));
        return map;
    }

    @Nullable
    String text(String key) {
        return optional(key, text -> text);
    }

    String text(String key, String fallback) {
        return as(key, text -> text, fallback);
    }

    /** Checks a value that names a header, and returns it. */
    String header(String key, String value) {
        if (!isToken(value)) {
            wrong(key, "\"" + value + "\" is not the name of a header; write for example X-Tenant");
        }
        return value;
    }

    /** Whether this can be a method or the name of a header. */
    static boolean isToken(String text) {
        return TOKEN.matcher(text).matches();
    }

    String required(String key, String example) {
        String text = text(key);
        if (text == null) {
            wrong("\"" + key + "\" is missing; write for example " + key + ": " + example);
            return example;
        }
        return text;
    }

    <T> T as(String key, Function<String, T> parse, T fallback) {
        T value = optional(key, parse);
        if (value == null) {
            show(key, EffectiveConfig.byDefault(fallback));
            return fallback;
        }
        return value;
    }

    private void show(String key, @Nullable Object value) {
        if (value != null) {
            shown.put(key, value);
        }
    }

    /** Whether it is the first of two words. */
    boolean isFirst(String key, String first, String second, boolean fallback) {
        Boolean given = optional(key, text -> {
            if (!text.equals(first) && !text.equals(second)) {
                throw new IllegalArgumentException("\"" + text + "\" is not " + first + " or " + second);
            }
            return text.equals(first);
        });
        if (given == null) {
            show(key, fallback ? first : second);
            return fallback;
        }
        return given;
    }

    <T> @Nullable T optional(String key, Function<String, T> parse) {
        known.add(key);
        Node value = values.get(key);
        if (value == null) {
            return null;
        }
        if (!(value instanceof ScalarNode scalar)) {
            wrong(key, "must be a plain value");
            return null;
        }
        if (scalar.getTag().equals(Tag.NULL)) {
            wrong(key, "has no value; give it one or remove it");
            return null;
        }
        shown.put(key, EffectiveConfig.given(key, scalar.getValue()));
        try {
            return parse.apply(scalar.getValue());
        } catch (IllegalArgumentException e) {
            wrong(key, String.valueOf(e.getMessage()));
            return null;
        }
    }

    /** A constant, written in lower case with dashes. */
    <E extends Enum<E>> E constant(String key, Class<E> type, E fallback) {
        return as(key, text -> constant(type, text), fallback);
    }

    static <E extends Enum<E>> E constant(Class<E> type, String text) {
        List<String> names = new ArrayList<>();
        for (E constant : type.getEnumConstants()) {
            String name = constant.name().toLowerCase(Locale.ROOT).replace('_', '-');
            if (name.equals(text)) {
                return constant;
            }
            names.add(name);
        }
        throw new IllegalArgumentException("\"" + text + "\" is not one of " + String.join(", ", names));
    }

    boolean flag(String key, boolean fallback) {
        return as(
                key,
                text -> switch (text.toLowerCase(Locale.ROOT)) {
                    case "true", "yes", "on" -> true;
                    case "false", "no", "off" -> false;
                    default -> throw new IllegalArgumentException("\"" + text + "\" is not true or false");
                },
                fallback);
    }

    int number(String key, int fallback, int min, int max) {
        return as(key, text -> inRange(text, parseLong(text), min, max), fallback);
    }

    int bytes(String key, int fallback, int min, int max) {
        return as(key, text -> inRange(text, Quantity.bytes(text), min, max), fallback);
    }

    Duration duration(String key, Duration fallback, Duration min, Duration max) {
        return as(
                key,
                text -> {
                    Duration duration = Quantity.duration(text);
                    if (duration.compareTo(min) < 0 || duration.compareTo(max) > 0) {
                        throw new IllegalArgumentException(
                                "\"" + text + "\" is out of range; it must be between " + min + " and " + max);
                    }
                    return duration;
                },
                fallback);
    }

    /** A file that must exist; relative paths are seen from the configuration file. */
    @Nullable
    Path file(String key) {
        return file(key, any -> {});
    }

    /** A path as seen from the configuration file. */
    Path resolve(String path) {
        return folder.resolve(path);
    }

    /** Says what is wrong with a file by an {@link IllegalArgumentException}. */
    @FunctionalInterface
    interface FileCheck {
        void check(Path file) throws IOException;
    }

    /** The same for a file whose content is checked too. */
    @Nullable
    Path file(String key, FileCheck content) {
        return fromFile(key, file -> {
            content.check(file);
            return file;
        });
    }

    /** Makes something of a file, or says what is wrong with it by an {@link IllegalArgumentException}. */
    @FunctionalInterface
    interface FileReader<T> {
        T read(Path file) throws IOException;
    }

    /** What is made of a file that must exist. */
    <T> @Nullable T fromFile(String key, FileReader<T> content) {
        return optional(key, text -> {
            Path file = folder.resolve(text);
            try {
                if (Files.isReadable(file)) {
                    return content.read(file);
                }
            } catch (IOException e) {
                // The same as one that is not readable.
            }
            throw new IllegalArgumentException("the file " + file + " does not exist or cannot be read");
        });
    }

    private static long parseLong(String text) {
        try {
            return Long.parseLong(text);
        } catch (NumberFormatException e) {
            throw new IllegalArgumentException("\"" + text + "\" is not a whole number", e);
        }
    }

    private static int inRange(String text, long value, int min, int max) {
        if (value < min || value > max) {
            throw new IllegalArgumentException(
                    "\"" + text + "\" is out of range; it must be between " + min + " and " + max);
        }
        return (int) value;
    }
}
