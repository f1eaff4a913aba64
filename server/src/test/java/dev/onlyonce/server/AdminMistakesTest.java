package dev.onlyonce.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onlyonce.server.cli.Cli;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("An operator who slips")
class AdminMistakesTest extends AdminFixture {

    @Test
    @DisplayName("is told what is wrong with a request, in words that are not about the program's inside")
    void wrongRequests() throws Exception {
        HttpResponse<String> limit = gateway.send(admin("/v1/keys?limit=99999999999"));
        assertThat(limit.statusCode()).isEqualTo(400);
        assertThat(limit.body()).contains("limit must be between");
        HttpResponse<String> database = gateway.send(admin("/v1/schema/script?database=oracle"));
        assertThat(database.statusCode()).isEqualTo(400);
        assertThat(database.body()).contains("use postgresql, mysql or sqlite");
        HttpResponse<String> settle =
                gateway.send(admin("/v1/keys/settle").POST(HttpRequest.BodyPublishers.ofString("{}")));
        assertThat(settle.statusCode()).isEqualTo(400);
        assertThat(settle.body()).contains("key is missing").doesNotContain("dev.onlyonce");
        String token = Files.readString(gateway.data().resolve("admin-token")).strip();
        assertThat(gateway.send(HttpRequest.newBuilder(gateway.admin("/v1/stats"))
                                .header("Authorization", "bearer " + token))
                        .statusCode())
                .as("the name of a scheme has no case")
                .isEqualTo(200);
    }

    @Test
    @DisplayName("prints the schema, and is told what is wrong with a command")
    void others() {
        assertThat(run("schema", "apply").out()).contains("sqlite");
        Result script = runAlone("schema", "print", "postgresql");
        assertThat(script.out()).contains("CREATE TABLE");
        assertThat(runAlone("nonsense").exitCode()).isEqualTo(Cli.USAGE);
        assertThat(runAlone("gateway", "--check", "--upstream", "nonsense").err())
                .contains("http://127.0.0.1:9000");
        Result nowhere = runAlone("bench", "nonsense");
        assertThat(nowhere.exitCode()).isEqualTo(Cli.USAGE);
        assertThat(nowhere.err()).contains("is not a URL; write for example");
        assertThat(runAlone("gateway", "--check", "--upstream", "http://a", "--port", "70000")
                        .err())
                .contains("--port must be between 0 and 65535");
        assertThat(runAlone("gateway", "--check", "--upstream", "http://a", "--admin-token-file", "none")
                        .err())
                .contains("the file none does not exist");
        assertThat(runAlone("gateway", "--check", "--upstream", "http://a").out())
                .contains("valid");
        assertThat(runAlone("gateway").exitCode()).isEqualTo(Cli.USAGE);
    }
}
