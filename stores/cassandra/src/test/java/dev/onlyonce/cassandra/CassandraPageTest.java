package dev.onlyonce.cassandra;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("The page about Cassandra")
class CassandraPageTest {
    private static final Path PAGE = Path.of(System.getProperty("onlyonce.root"), "docs/reference/cassandra.md");

    private static List<MatchResult> found(String pattern) throws IOException {
        return Pattern.compile(pattern, Pattern.MULTILINE)
                .matcher(Files.readString(PAGE))
                .results()
                .toList();
    }

    @Test
    @DisplayName("names settings that exist, with values that they take")
    void settings() throws IOException {
        List<MatchResult> rows = found("^\\| `(\\w+)` \\| `?(\\w+)`? \\|");
        assertThat(rows).hasSize(7);
        for (MatchResult row : rows) {
            assertThat(CassandraStore.builder("cassandra://host?" + row.group(1) + "=" + row.group(2)))
                    .isNotNull();
        }
    }

    @Test
    @DisplayName("shows a URL that is one")
    void url() throws IOException {
        String url = found("CassandraStore.open\\(\"([^\"]+)\"\\)").get(0).group(1);
        assertThat(CassandraUrl.of(url).servers()).hasSize(3);
    }

    @Test
    @DisplayName("names the tables that there are")
    void tables() throws IOException {
        List<String> named = found("^\\| `(\\w+)` \\| .* \\| .* ?\\|$").stream()
                .map(row -> row.group(1))
                .filter(name -> Schema.statements().anyMatch(text -> text.contains("EXISTS " + name + " (")))
                .toList();
        assertThat(named).hasSize((int) Schema.statements().count());
    }
}
