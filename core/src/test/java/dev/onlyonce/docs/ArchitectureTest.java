package dev.onlyonce.docs;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("docs/internals/architecture.md")
class ArchitectureTest {
    private static final Pattern DEPENDENCY = Pattern.compile(
            "<dependency>\\s*<groupId>dev\\.onlyonce</groupId>\\s*<artifactId>onlyonce-([^<]+)</artifactId>(.*?)</dependency>",
            Pattern.DOTALL);
    private static final Pattern CALL = Pattern.compile("(\\w+)\\(.*");
    private static final Pattern CLASS = Pattern.compile("[A-Z][a-z]\\w*");
    private static final Pattern LINKED_FILE = Pattern.compile("`([a-z/-]+/src/[^`]+|docs/[^`]+)`");

    private final String page = read(Pages.ARCHITECTURE);

    private static String read(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    private Mermaid.Flowchart map() {
        return (Mermaid.Flowchart) Mermaid.in(page).get(0);
    }

    private static Map<String, Path> modules() {
        try {
            return Modules.all();
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    /** What each module needs of the others, without tests. */
    private static Map<String, Set<String>> needs() {
        Map<String, Set<String>> needs = new TreeMap<>();
        modules().forEach((module, folder) -> {
            Set<String> needed = new TreeSet<>();
            Matcher dependency = DEPENDENCY.matcher(read(folder.resolve("pom.xml")));
            while (dependency.find()) {
                if (!dependency.group(2).contains("<scope>test</scope>")) {
                    needed.add(dependency.group(1));
                }
            }
            needs.put(module, needed);
        });
        return needs;
    }

    @Test
    @DisplayName("maps every module")
    void modulesOnTheMap() {
        assertThat(map().nodes().values())
                .containsExactlyInAnyOrderElementsOf(modules().keySet());
        assertThat(modules().keySet()).allSatisfy(module -> assertThat(page).contains("| `" + module + "` |"));
    }

    @Test
    @DisplayName("draws an arrow for what a module needs, and none for what it does not need")
    void arrowsOnTheMap() {
        Map<String, Set<String>> needs = needs();
        Map<String, Set<String>> drawn = new TreeMap<>();
        Map<String, String> names = map().nodes();
        for (Mermaid.Edge edge : map().edges()) {
            drawn.computeIfAbsent(names.get(edge.from()), from -> new TreeSet<>())
                    .add(names.get(edge.to()));
        }
        drawn.forEach((from, to) ->
                assertThat(needs.get(from)).as("what %s needs", from).containsAll(to));
        needs.forEach((from, to) -> assertThat(reachable(drawn, from))
                .as("what the map shows %s to need", from)
                .containsAll(to));
    }

    private static Set<String> reachable(Map<String, Set<String>> edges, String start) {
        Set<String> seen = new HashSet<>();
        Deque<String> next = new ArrayDeque<>(Set.of(start));
        while (!next.isEmpty()) {
            for (String to : edges.getOrDefault(next.pop(), Set.of())) {
                if (seen.add(to)) {
                    next.push(to);
                }
            }
        }
        return seen;
    }

    @Test
    @DisplayName("draws the four walks with classes that exist and methods that they have")
    void walks() throws IOException {
        SourceNames names = SourceNames.read();
        List<Mermaid.Sequence> walks = Mermaid.in(page).stream()
                .filter(Mermaid.Sequence.class::isInstance)
                .map(Mermaid.Sequence.class::cast)
                .toList();
        assertThat(walks).hasSizeGreaterThanOrEqualTo(4);
        for (Mermaid.Sequence walk : walks) {
            walk.participants().forEach((id, type) -> {
                if (!walk.actors().contains(id)) {
                    assertThat(names.hasType(type))
                            .as("the class %s exists", type)
                            .isTrue();
                }
            });
            for (Mermaid.Message message : walk.messages()) {
                Matcher call = CALL.matcher(message.text());
                if (call.matches() && !walk.actors().contains(message.to())) {
                    String type = walk.participants().get(message.to());
                    assertThat(names.hasMethod(type, call.group(1)))
                            .as("%s has %s", type, call.group(1))
                            .isTrue();
                }
            }
        }
    }

    @Test
    @DisplayName("names classes that exist in its other charts")
    void charts() throws IOException {
        SourceNames names = SourceNames.read();
        for (Mermaid.Diagram diagram : Mermaid.in(page)) {
            if (diagram instanceof Mermaid.Flowchart chart) {
                for (String label : chart.nodes().values()) {
                    for (String part : label.split(", ", -1)) {
                        assertThat(!CLASS.matcher(part).matches() || names.hasType(part))
                                .as("the class %s exists", part)
                                .isTrue();
                    }
                }
            }
        }
    }

    @Test
    @DisplayName("says of every way how it walks, and where what is new goes")
    void answers() {
        assertThat(page)
                .contains("## Leased", "## Transactional", "## Stepped", "## Queued")
                .contains("| a store |", "| a profile row |", "| a metric |", "| a setting |");
    }

    @Test
    @DisplayName("names files and directories that are there")
    void files() {
        Matcher file = LINKED_FILE.matcher(page);
        while (file.find()) {
            assertThat(Pages.ROOT.resolve(file.group(1))).exists();
        }
    }
}
