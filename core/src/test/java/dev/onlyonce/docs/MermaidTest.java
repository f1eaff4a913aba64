package dev.onlyonce.docs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@DisplayName("Diagrams")
class MermaidTest {
    private static final String FLOWCHART = """
            flowchart LR
                subgraph inside["Inside"]
                    direction TB
                    a["core"]
                    b[("database")]
                end
                c(["client"])
                c -->|"calls"| a
                a -.-> b
                inside --- c
            """;
    private static final String SEQUENCE = """
            sequenceDiagram
                autonumber
                actor A as Application
                participant B
                A->>+B: begin(key)
                alt it is new
                    Note over A,B: one statement
                    B-->>A: claimed
                else
                    B-->>A: answered
                end
                %% a comment
                loop until it is taken
                    B-xB: settle
                end
                B-->>-A: done
            """;

    private static String block(String diagram) {
        return "# Title\n\n```mermaid\n" + diagram + "```\n";
    }

    @Test
    @DisplayName("on all pages parse")
    void pages() throws IOException {
        for (Path page : Pages.all()) {
            try {
                Mermaid.in(Files.readString(page));
            } catch (IllegalArgumentException e) {
                throw new AssertionError(Pages.name(page) + ": " + e.getMessage(), e);
            }
        }
    }

    @Test
    @DisplayName("are read with their nodes, edges, participants and messages")
    void read() {
        assertThat(Mermaid.in(block(FLOWCHART) + block(SEQUENCE)))
                .satisfiesExactly(
                        flowchart -> {
                            var chart = (Mermaid.Flowchart) flowchart;
                            assertThat(chart.nodes()).isEqualTo(Map.of("a", "core", "b", "database", "c", "client"));
                            assertThat(chart.edges())
                                    .containsExactly(
                                            new Mermaid.Edge("c", "a"),
                                            new Mermaid.Edge("a", "b"),
                                            new Mermaid.Edge("inside", "c"));
                        },
                        sequence -> {
                            var walk = (Mermaid.Sequence) sequence;
                            assertThat(walk.participants()).isEqualTo(Map.of("A", "Application", "B", "B"));
                            assertThat(walk.actors()).containsExactly("A");
                            assertThat(walk.messages())
                                    .hasSize(5)
                                    .contains(new Mermaid.Message("A", "B", "begin(key)"));
                        });
    }

    @ParameterizedTest(name = "{2}")
    @CsvSource(delimiterString = " | ", textBlock = """
                    flowchart LR           | flowchart XY            | neither a flowchart
                    flowchart LR           | flowchart LR;           | neither a flowchart
                    direction TB           | direction UP            | not understood
                    subgraph inside["Ins   | subgraph inside[Ins     | not understood
                    a["core"]              | a["core"                | not understood
                    a["core"]              | a[core]                 | not understood
                    a["core"]              | a["core; http"]         | not understood
                    a["core"]              | a["a #1"]               | not understood
                    a["core"]              | end["core"]             | a reserved word as an id
                    a["core"]              | b["core"]               | declared twice
                    a["core"]              | x["core"]               | unknown a
                    a -.-> b               | a -.-> d                | unknown d
                    a -.-> b               | a -> b                  | not understood
                    a -.-> b               | a -.-> b & c            | not understood
                    a -.-> b               | c --> a                 | the same edge twice
                    -->|"calls"|           | -->|calls|              | not understood
                    c(["client"])          | end                     | ends what was not begun
                    """)
    @DisplayName("with a fault in a flowchart are refused")
    void faultyFlowchart(String right, String wrong, String problem) {
        refused(FLOWCHART, right, wrong, problem);
    }

    @ParameterizedTest(name = "{2}")
    @CsvSource(delimiterString = " | ", textBlock = """
                    sequenceDiagram        | sequencediagram         | neither a flowchart
                    participant B          | participant C           | unknown B
                    participant B          | participant A           | declared twice
                    participant B          | participant end         | a reserved word as an id
                    participant B          | particpant B            | not understood
                    A->>+B: begin(key)     | A->>+B begin(key)       | not understood
                    A->>+B: begin(key)     | A->>+B:                 | not understood
                    A->>+B: begin(key)     | A=>>+B: begin(key)      | not understood
                    A->>+B: begin(key)     | A->>+B: begin; go       | not understood
                    A->>+B: begin(key)     | A->>+B: List<Key>       | not understood
                    A->>+B: begin(key)     | A->>+B: the end of it   | the word end in a text
                    A->>+B: begin(key)     | A->>B: begin(key)       | an activation that was not begun
                    B-->>-A: done          | B-->>A: done            | an activation is not ended
                    alt it is new          | opt it is new           | else without alt
                    alt it is new          | autonumber              | not understood
                    loop until it is taken | Note over B: loop       | ends what was not begun
                    Note over A,B:         | Note over A,C:          | unknown C
                    Note over A,B:         | Note above A:           | not understood
                    """)
    @DisplayName("with a fault in a sequence are refused")
    void faultySequence(String right, String wrong, String problem) {
        refused(SEQUENCE, right, wrong, problem);
    }

    @Test
    @DisplayName("that are not closed are refused")
    void open() {
        assertThatThrownBy(() -> Mermaid.in(block("flowchart LR\nsubgraph x[\"X\"]\na[\"A\"]\n")))
                .hasMessageContaining("a subgraph is not closed");
        assertThatThrownBy(() -> Mermaid.in(block("sequenceDiagram\nactor A\nopt it\nA->>A: go\n")))
                .hasMessageContaining("a block is not closed");
        assertThatThrownBy(() -> Mermaid.in("```mermaid\n" + FLOWCHART)).hasMessageContaining("is not closed");
        assertThatThrownBy(() -> Mermaid.in(block("flowchart LR\n"))).hasMessageContaining("nothing to draw");
        assertThatThrownBy(() -> Mermaid.in(block("sequenceDiagram\nactor A\n")))
                .hasMessageContaining("nothing to draw");
    }

    private static void refused(String diagram, String right, String wrong, String problem) {
        assertThat(diagram).contains(right);
        assertThatThrownBy(() -> Mermaid.in(block(diagram.replace(right, wrong))))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageMatching("line \\d+: .*")
                .hasMessageContaining(problem);
    }
}
