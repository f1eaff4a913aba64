package dev.onlyonce.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onlyonce.http.admin.AdminAction;
import dev.onlyonce.http.admin.ApiDescription;
import dev.onlyonce.http.admin.Json;
import dev.onlyonce.server.cli.Cli;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import picocli.CommandLine;

@DisplayName("The command line and the admin API")
class AdminActionsTest {
    /** Commands that ask a running gateway for nothing: they run one, send requests, copy a file, or serve the shell. */
    private static final List<String> NOT_ASKED = List.of("gateway", "check", "send", "backup", "generate-completion");

    @TempDir
    Path folder;

    /** All commands that do something, by their words. */
    private static Map<String, CommandLine> commands() {
        Map<String, CommandLine> leaves = new TreeMap<>();
        collect("", Cli.commandLine(), leaves);
        return leaves;
    }

    private static void collect(String words, CommandLine command, Map<String, CommandLine> leaves) {
        if (command.getSubcommands().isEmpty()) {
            leaves.put(words, command);
        }
        command.getSubcommands()
                .forEach((name, sub) -> collect(words.isEmpty() ? name : words + " " + name, sub, leaves));
    }

    @Test
    @DisplayName("O1 can do the same, by the same names")
    void same() {
        List<String> commands = commands().keySet().stream()
                .filter(it -> !NOT_ASKED.contains(it))
                .toList();
        assertThat(commands)
                .containsExactlyInAnyOrderElementsOf(Arrays.stream(AdminAction.values())
                        .map(AdminAction::command)
                        .toList());
    }

    @Test
    @DisplayName("of which the API answers to every request, and its reference names them all and no others")
    void routes() throws Exception {
        String page = Files.readString(ConfigFileTest.root().resolve("docs/reference/admin-api.md"));
        try (CountingUpstream upstream = new CountingUpstream();
                Running gateway = Running.start(folder, upstream.url(), "")) {
            String token =
                    Files.readString(gateway.data().resolve("admin-token")).strip();
            for (AdminAction action : AdminAction.values()) {
                String[] route = action.route().split(" ");
                HttpResponse<String> answer = gateway.send(HttpRequest.newBuilder(gateway.admin(route[1]))
                        .header("Authorization", "Bearer " + token)
                        .method(route[0], HttpRequest.BodyPublishers.noBody()));
                assertThat(answer.statusCode()).as(action.route()).isIn(200, 400);
                assertThat(page).contains("`" + action.route());
            }
        }
        assertThat(page.split("`(GET|POST) /v1/", -1)).hasSize(AdminAction.values().length + 1);
    }

    @Test
    @DisplayName("O1 are described by the table that they are made from; run with -Dreference.write=true to write it")
    void reference() throws Exception {
        StringBuilder table = new StringBuilder("| request | command | what it does |\n|---|---|---|\n");
        for (AdminAction action : AdminAction.values()) {
            String query = action.parameters().isEmpty() ? "" : "?" + String.join("=&", action.parameters()) + "=";
            table.append("| `")
                    .append(action.route())
                    .append(query)
                    .append("` | `")
                    .append(action.command());
            table.append("` | ").append(action.summary()).append(" |\n");
        }
        Path page = ConfigFileTest.root().resolve("docs/reference/admin-api.md");
        Path document = page.resolveSibling("admin-api.openapi.json");
        String described = Json.pretty(ApiDescription.document()) + "\n";
        String text = Files.readString(page);
        int begin = text.indexOf("-->\n", text.indexOf("<!-- actions")) + 4;
        int end = text.indexOf("<!-- end -->");
        if (Boolean.getBoolean("reference.write")) {
            Files.writeString(page, text.substring(0, begin) + "\n" + table + "\n" + text.substring(end));
            Files.writeString(document, described);
        }
        assertThat(Files.readString(page)).contains(table);
        assertThat(Files.readString(document)).isEqualTo(described);
    }

    @ParameterizedTest
    @EnumSource(AdminAction.class)
    @DisplayName("explain every command with an example")
    void examples(AdminAction action) {
        String help = commands().get(action.command()).getUsageMessage(CommandLine.Help.Ansi.OFF);
        assertThat(help).contains("Example").contains("\n  onlyonce " + action.command());
    }

    @ParameterizedTest
    @EnumSource(
            value = AdminAction.class,
            names = {"SCHEMA_PRINT"},
            mode = EnumSource.Mode.EXCLUDE)
    @DisplayName("speak JSON to programs")
    void json(AdminAction action) {
        assertThat(commands().get(action.command()).getCommandSpec().optionsMap())
                .containsKey("--json");
    }

    @Test
    @DisplayName("complete commands and options in bash, without a mistake in the script")
    void completion() throws Exception {
        StringWriter out = new StringWriter();
        assertThat(Cli.commandLine().setOut(new PrintWriter(out)).execute("generate-completion"))
                .isEqualTo(Cli.OK);
        Path script = Files.writeString(folder.resolve("completion"), out.toString());
        Process bash = new ProcessBuilder(
                        "bash",
                        "-c",
                        "source '" + script + "'; COMP_WORDS=(onlyonce keys e); COMP_CWORD=2; _complete_onlyonce;"
                                + " echo \"${COMPREPLY[@]}\"")
                .redirectErrorStream(true)
                .start();
        assertThat(new String(bash.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip())
                .isEqualTo("evict");
    }
}
