package dev.onlyonce.docs;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Reads the subset of Mermaid that our pages use, and refuses everything else. It is stricter than Mermaid: whatever it
 * accepts, Mermaid draws.
 *
 * <ol>
 *   <li>A diagram begins with {@code flowchart TD} (or another direction) or with {@code sequenceDiagram}.
 *   <li>In a flowchart, a node is declared on a line of its own with a quoted label before an edge uses it. Subgraphs nest and
 *       are closed.
 *   <li>In a sequence diagram, a participant is declared before a message uses it. Blocks ({@code loop}, {@code alt},
 *       {@code opt}) are closed. Activations are balanced.
 *   <li>Texts contain nothing that Mermaid reads as syntax: no {@code ;}, no {@code #}, no {@code <} or {@code >}, and not the
 *       word {@code end}.
 * </ol>
 */
final class Mermaid {
    private static final String ID = "[A-Za-z][A-Za-z0-9_]*";
    private static final String TEXT = "[^;#<>\"]*[^;#<>\"\\s]";
    private static final Pattern BLOCK = Pattern.compile("(?ms)^```mermaid\\n(.*?)^```$");
    private static final Pattern FLOWCHART = Pattern.compile("flowchart (TD|TB|BT|LR|RL)");
    private static final Pattern SUBGRAPH = Pattern.compile("subgraph (" + ID + ")\\[\"(" + TEXT + ")\"]");
    private static final Pattern DIRECTION = Pattern.compile("direction (TD|TB|BT|LR|RL)");
    private static final Pattern NODE = Pattern.compile(
            "(" + ID + ")(?:\\[\"(" + TEXT + ")\"]|\\(\\[\"(" + TEXT + ")\"]\\)|\\[\\(\"(" + TEXT + ")\"\\)])");
    private static final Pattern EDGE =
            Pattern.compile("(" + ID + ") (?:-->|-\\.->|---)(?:\\|\"" + TEXT + "\"\\|)? (" + ID + ")");
    private static final Pattern PARTICIPANT =
            Pattern.compile("(participant|actor) (" + ID + ")(?: as (" + TEXT + "))?");
    private static final Pattern MESSAGE =
            Pattern.compile("(" + ID + ")(?:->>|-->>|-x|--x|-\\))([+-]?)(" + ID + "): (" + TEXT + ")");
    private static final Pattern NOTE =
            Pattern.compile("Note (?:over|left of|right of) (" + ID + ")(?:,(" + ID + "))?: " + TEXT);
    private static final Pattern OPENING = Pattern.compile("(loop|alt|opt) " + TEXT);
    private static final Pattern ELSE = Pattern.compile("else(?: " + TEXT + ")?");
    private static final Pattern END_IN_TEXT = Pattern.compile("(?i)\\bend\\b");
    private static final Set<String> RESERVED = Set.of(
            "end", "graph", "flowchart", "subgraph", "style", "class", "click", "default", "direction", "linkStyle");

    private Mermaid() {}

    /** A diagram. */
    sealed interface Diagram {}

    /** Boxes and arrows; labels by id. */
    record Flowchart(Map<String, String> nodes, Set<Edge> edges) implements Diagram {}

    /** An arrow between two nodes. */
    record Edge(String from, String to) {}

    /**
     * Messages in their order.
     *
     * @param participants the declared text of each participant by id
     * @param actors the ids of those declared as actors
     */
    record Sequence(Map<String, String> participants, Set<String> actors, List<Message> messages) implements Diagram {}

    /** An arrow from one participant to another. */
    record Message(String from, String to, String text) {}

    /** The diagrams of a page. Throws {@link IllegalArgumentException} with the line that is wrong. */
    static List<Diagram> in(String page) {
        List<Diagram> diagrams = new ArrayList<>();
        Matcher block = BLOCK.matcher(page);
        while (block.find()) {
            int line = (int) page.substring(0, block.start(1))
                            .chars()
                            .filter(c -> c == '\n')
                            .count()
                    + 1;
            diagrams.add(new Reading(block.group(1), line).diagram());
        }
        if (page.split("(?m)^\\s*[`~]{3,}\\s*mermaid", -1).length - 1 != diagrams.size()) {
            throw new IllegalArgumentException("a block of Mermaid is indented, or is not closed");
        }
        return diagrams;
    }

    /** Reads one diagram, line by line. */
    private static final class Reading {
        private final List<String> lines;
        private final int firstLine;
        private int at;

        Reading(String text, int firstLine) {
            this.lines = text.lines().toList();
            this.firstLine = firstLine;
        }

        Diagram diagram() {
            String head = next();
            if (FLOWCHART.matcher(head).matches()) {
                return flowchart();
            }
            if (head.equals("sequenceDiagram")) {
                return sequence();
            }
            throw wrong("neither a flowchart nor a sequenceDiagram");
        }

        private Flowchart flowchart() {
            Map<String, String> nodes = new LinkedHashMap<>();
            Set<Edge> edges = new LinkedHashSet<>();
            Set<String> graphs = new HashSet<>();
            int open = 0;
            for (String line = next(); !line.isEmpty(); line = next()) {
                Matcher subgraph = SUBGRAPH.matcher(line);
                Matcher node = NODE.matcher(line);
                Matcher edge = EDGE.matcher(line);
                if (subgraph.matches()) {
                    check(graphs.add(subgraph.group(1)), "declared twice");
                    open++;
                } else if (line.equals("end")) {
                    check(--open >= 0, "ends what was not begun");
                } else if (node.matches()) {
                    String label = firstOf(node.group(2), node.group(3), node.group(4));
                    check(!RESERVED.contains(node.group(1)), "a reserved word as an id");
                    check(nodes.put(node.group(1), label) == null, "declared twice");
                } else if (edge.matches()) {
                    check(isKnown(nodes, graphs, edge.group(1)), "unknown " + edge.group(1));
                    check(isKnown(nodes, graphs, edge.group(2)), "unknown " + edge.group(2));
                    check(edges.add(new Edge(edge.group(1), edge.group(2))), "the same edge twice");
                } else {
                    check(DIRECTION.matcher(line).matches() && open > 0, "not understood");
                }
            }
            check(open == 0, "a subgraph is not closed");
            check(!nodes.isEmpty(), "nothing to draw");
            return new Flowchart(nodes, edges);
        }

        private static boolean isKnown(Map<String, String> nodes, Set<String> graphs, String id) {
            return nodes.containsKey(id) || graphs.contains(id);
        }

        private Sequence sequence() {
            Map<String, String> participants = new LinkedHashMap<>();
            Set<String> actors = new HashSet<>();
            List<Message> messages = new ArrayList<>();
            Deque<String> blocks = new ArrayDeque<>();
            Deque<String> active = new ArrayDeque<>();
            for (String line = next(); !line.isEmpty(); line = next()) {
                Matcher participant = PARTICIPANT.matcher(line);
                Matcher message = MESSAGE.matcher(line);
                Matcher note = NOTE.matcher(line);
                Matcher opening = OPENING.matcher(line);
                if (participant.matches()) {
                    String id = participant.group(2);
                    check(!RESERVED.contains(id), "a reserved word as an id");
                    String shown = participant.group(3) == null ? id : participant.group(3);
                    check(participants.put(id, shown) == null, "declared twice");
                    if (participant.group(1).equals("actor")) {
                        actors.add(id);
                    }
                } else if (message.matches()) {
                    check(participants.containsKey(message.group(1)), "unknown " + message.group(1));
                    check(participants.containsKey(message.group(3)), "unknown " + message.group(3));
                    check(!END_IN_TEXT.matcher(message.group(4)).find(), "the word end in a text");
                    activate(active, message);
                    messages.add(new Message(message.group(1), message.group(3), message.group(4)));
                } else if (note.matches()) {
                    check(participants.containsKey(note.group(1)), "unknown " + note.group(1));
                    check(note.group(2) == null || participants.containsKey(note.group(2)), "unknown " + note.group(2));
                    check(!END_IN_TEXT.matcher(line).find(), "the word end in a text");
                } else if (opening.matches()) {
                    blocks.push(opening.group(1));
                } else if (ELSE.matcher(line).matches()) {
                    check("alt".equals(blocks.peek()), "else without alt");
                } else if (line.equals("end")) {
                    check(!blocks.isEmpty(), "ends what was not begun");
                    blocks.pop();
                } else {
                    check(line.equals("autonumber") && messages.isEmpty(), "not understood");
                }
            }
            check(blocks.isEmpty(), "a block is not closed");
            check(active.isEmpty(), "an activation is not ended");
            check(!messages.isEmpty(), "nothing to draw");
            return new Sequence(participants, actors, messages);
        }

        private void activate(Deque<String> active, Matcher message) {
            if (message.group(2).equals("+")) {
                active.push(message.group(3));
            } else if (message.group(2).equals("-")) {
                check(active.remove(message.group(1)), "ends an activation that was not begun");
            }
        }

        private static String firstOf(String... groups) {
            for (String group : groups) {
                if (group != null) {
                    return group;
                }
            }
            throw new IllegalStateException("a node without a label");
        }

        /** The next line that is neither empty nor a comment; empty at the end of the diagram. */
        private String next() {
            while (at < lines.size()) {
                String line = lines.get(at++).strip();
                if (!line.isEmpty() && !line.startsWith("%%")) {
                    return line;
                }
            }
            return "";
        }

        private void check(boolean ok, String problem) {
            if (!ok) {
                throw wrong(problem);
            }
        }

        private IllegalArgumentException wrong(String problem) {
            String line = at == 0 || lines.isEmpty() ? "" : lines.get(at - 1).strip();
            return new IllegalArgumentException("line " + (firstLine + at - 1) + ": " + problem + ": " + line);
        }
    }
}
