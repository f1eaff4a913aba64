package dev.onlyonce.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@DisplayName("The charts of docs/internals/performance.md")
class ChartsTest {
    private static final Path ROOT = Path.of(System.getProperty("onlyonce.root"));

    @TempDir
    Path folder;

    private Map<Path, String> page(String text) throws Exception {
        Path page = folder.resolve("docs/internals/performance.md");
        Files.createDirectories(page.getParent());
        Files.writeString(page, text);
        return Charts.drawn(folder);
    }

    @Test
    @DisplayName("show the figures of the page's tables; testing/benchmarks/run --chart writes them")
    void current() throws Exception {
        String page = Files.readString(ROOT.resolve("docs/internals/performance.md"));
        Map<Path, String> charts = Charts.drawn(ROOT);
        assertThat(charts).hasSizeGreaterThanOrEqualTo(8);
        for (Map.Entry<Path, String> chart : charts.entrySet()) {
            assertThat(chart.getKey()).hasContent(chart.getValue());
            assertThat(page).contains("../images/charts/" + chart.getKey().getFileName());
            DocumentBuilderFactory.newInstance()
                    .newDocumentBuilder()
                    .parse(chart.getKey().toFile());
        }
        try (var files = Files.list(ROOT.resolve("docs/images/charts"))) {
            assertThat(files).containsExactlyInAnyOrderElementsOf(charts.keySet());
        }
    }

    @Test
    @DisplayName("change with a figure, and differ in their colours alone")
    void figures() throws Exception {
        String table = """
                <!-- chart a: A | series what | at n | value ratio -->

                | what | n | ratio |
                |---|---|---|
                | x | 1 | **0.5x** |
                | y | 1 | 1,000 |
                """;
        Map<Path, String> charts = page(table);
        assertThat(charts).hasSize(2);
        assertThat(charts.values().stream().map(svg -> svg.replaceAll("#[0-9a-f]{6}", "")))
                .containsOnly(charts.values().iterator().next().replaceAll("#[0-9a-f]{6}", ""));
        assertThat(page(table.replace("0.5x", "0.6x")).values()).doesNotContainAnyElementsOf(charts.values());
    }

    @Test
    @DisplayName("take a row or a column for a series, and refuse columns that are not there")
    void kinds() throws Exception {
        String table = "\n| what | n | a/s | b/s |\n|---|---|---|---|\n| x | 1 | 2 | 3 |\n";
        assertThat(page("<!-- chart a: A | at n | value a/s,b/s -->" + table).values())
                .allSatisfy(svg -> assertThat(svg).contains(">a/s<", ">b/s<"));
        assertThat(page("<!-- chart a: A | series what | at a/s,b/s -->" + table)
                        .values())
                .allSatisfy(svg -> assertThat(svg).contains(">x<", ">a/s<"));
        assertThatThrownBy(() -> page("<!-- chart a: A | at n | value c/s -->" + table))
                .hasMessageContaining("no column c/s");
    }
}
