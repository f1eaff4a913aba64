package dev.onlyonce.server;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.onlyonce.http.Problem;
import java.io.IOException;
import java.nio.file.Files;

/** That the documentation explains what a client is told. */
final class Documented {
    private Documented() {}

    /** Of problem details: their type links to a heading of the page. */
    static void problem(String json) throws IOException {
        JsonNode problem = new ObjectMapper().readTree(json);
        String code = problem.path("code").asText();
        assertThat(problem.path("type").asText()).isEqualTo(Problem.DOCUMENTATION + "#" + code);
        assertThat(Files.readAllLines(ConfigFileTest.root().resolve("docs/reference/problems.md")))
                .anyMatch(line -> line.matches("#+ " + code));
    }
}
