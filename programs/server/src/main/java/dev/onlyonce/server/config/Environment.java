package dev.onlyonce.server.config;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.snakeyaml.engine.v2.common.FlowStyle;
import org.snakeyaml.engine.v2.common.ScalarStyle;
import org.snakeyaml.engine.v2.nodes.MappingNode;
import org.snakeyaml.engine.v2.nodes.Node;
import org.snakeyaml.engine.v2.nodes.NodeTuple;
import org.snakeyaml.engine.v2.nodes.ScalarNode;
import org.snakeyaml.engine.v2.nodes.SequenceNode;
import org.snakeyaml.engine.v2.nodes.Tag;

/**
 * Environment variables that win over the file: {@code ONLYONCE_LISTEN_PORT} over {@code listen.port}. Lists are written with
 * commas. What is in lists of the file (upstreams, operations) has no variables, but {@code ONLYONCE_UPSTREAM} is the URL of the
 * only upstream.
 */
final class Environment {
    private static final String PREFIX = "ONLYONCE_";
    /** What {@link Findings} reads. */
    static final String VARIABLE = "variable";

    /** Those with variables, the longest names first. */
    private static final List<String> SECTIONS = List.of(
            "store.encryption",
            "listen.tls",
            "defaults",
            "tenants",
            "observe",
            "limits",
            "listen",
            "admin",
            "store",
            "cache");

    private static final List<String> TOP = List.of("data", "node", "unmatched", "ambiguous-paths");
    private static final List<String> LISTS = List.of(
            "listen.trusted-proxies",
            "admin.names",
            "tenants.credentials",
            "defaults.fingerprint-headers",
            "defaults.ignored-members");

    private final Map<String, String> variables;

    Environment(Map<String, String> variables) {
        this.variables = new TreeMap<>(variables);
    }

    /** Changes the mapping of a file. */
    void apply(MappingNode root) {
        variables.forEach((variable, value) -> {
            if (variable.equals(PREFIX + "UPSTREAM")) {
                upstream(root, variable, value);
            } else if (variable.startsWith(PREFIX)) {
                set(root, variable, value);
            }
        });
    }

    private static void set(MappingNode root, String variable, String value) {
        String name =
                variable.substring(PREFIX.length()).toLowerCase(Locale.ROOT).replace('_', '-');
        if (TOP.contains(name)) {
            put(root, name, scalar(variable, value));
            return;
        }
        for (String section : SECTIONS) {
            String prefix = section.replace('.', '-') + "-";
            if (name.startsWith(prefix)) {
                String key = name.substring(prefix.length());
                MappingNode in = root;
                for (String part : section.split("\\.")) {
                    in = inside(in, part);
                }
                put(in, key, LISTS.contains(section + "." + key) ? list(variable, value) : scalar(variable, value));
                return;
            }
        }
        // Not a setting: the launcher has variables too, and so have others.
    }

    private static void upstream(MappingNode root, String variable, String url) {
        if (get(root, "upstreams") instanceof SequenceNode upstreams
                && upstreams.getValue().size() == 1
                && upstreams.getValue().get(0) instanceof MappingNode only) {
            put(only, "url", scalar(variable, url));
            return;
        }
        MappingNode only = new MappingNode(Tag.MAP, new ArrayList<>(), FlowStyle.BLOCK);
        put(only, "url", scalar(variable, url));
        put(root, "upstreams", new SequenceNode(Tag.SEQ, List.of(only), FlowStyle.BLOCK));
    }

    private static MappingNode inside(MappingNode node, String key) {
        if (get(node, key) instanceof MappingNode found) {
            return found;
        }
        MappingNode made = new MappingNode(Tag.MAP, new ArrayList<>(), FlowStyle.BLOCK);
        put(node, key, made);
        return made;
    }

    private static @Nullable Node get(MappingNode node, String key) {
        return node.getValue().stream()
                .filter(tuple -> isKey(tuple, key))
                .map(NodeTuple::getValueNode)
                .findFirst()
                .orElse(null);
    }

    private static void put(MappingNode node, String key, Node value) {
        List<NodeTuple> tuples = new ArrayList<>(node.getValue());
        tuples.removeIf(tuple -> isKey(tuple, key));
        ScalarNode name = new ScalarNode(Tag.STR, key, ScalarStyle.PLAIN);
        name.setProperty(VARIABLE, value.getProperty(VARIABLE));
        tuples.add(new NodeTuple(name, value));
        node.setValue(tuples);
    }

    private static boolean isKey(NodeTuple tuple, String key) {
        return tuple.getKeyNode() instanceof ScalarNode name && name.getValue().equals(key);
    }

    private static Node scalar(String variable, String value) {
        ScalarNode node = new ScalarNode(Tag.STR, value, ScalarStyle.PLAIN);
        node.setProperty(VARIABLE, variable);
        return node;
    }

    private static Node list(String variable, String value) {
        List<Node> items = new ArrayList<>();
        for (String item : value.split(",", -1)) {
            if (!item.isBlank()) {
                items.add(scalar(variable, item.strip()));
            }
        }
        SequenceNode node = new SequenceNode(Tag.SEQ, items, FlowStyle.FLOW);
        node.setProperty(VARIABLE, variable);
        return node;
    }
}
