package dev.onlyonce.payments;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@DisplayName("docs/guides/payments-demo.md")
class DemoGuideTest {
    private static final Pattern COMMANDS = Pattern.compile("```sh\n(.*?)```", Pattern.DOTALL);
    private static final String FAULTS = "curl -s -X PUT http://127.0.0.1:8081/faults -d ";
    private static final String RESET_AFTER = "'{\"reset_after\": 1}'";

    @TempDir
    private Path folder;

    @Test
    @DisplayName("works as it stands, command by command; README.md names the same two commands")
    void works() throws Exception {
        List<String> blocks = new ArrayList<>();
        Matcher commands = COMMANDS.matcher(Script.document("docs/guides/payments-demo.md"));
        while (commands.find()) {
            blocks.add(commands.group(1));
        }
        assertThat(blocks).hasSize(7).startsWith("./onlyonce demo\n").endsWith("./onlyonce storm\n");
        assertThat(blocks.get(4)).startsWith(FAULTS + RESET_AFTER);
        assertThat(Script.document("README.md"))
                .contains("```\n./onlyonce demo\n```")
                .contains("```\n./onlyonce storm\n```");

        Script script = new Script(folder);
        String port = String.valueOf(DemoCommand.freePort());
        String providerPort = String.valueOf(DemoCommand.freePort());
        try (Script.Demo demo = script.demo("--port", port, "--provider-port", providerPort)) {
            assertThat(demo.text()).contains("127.0.0.1:" + port);
            List<String> outs = new ArrayList<>();
            for (String block : blocks.subList(1, blocks.size())) {
                String own = block.replace(
                                "./onlyonce storm",
                                "./onlyonce storm --payments 20 --url http://127.0.0.1:8080"
                                        + " --provider-url http://127.0.0.1:8081")
                        // Else the charge might be found before the client is answered that nobody knows of it.
                        .replace(RESET_AFTER, RESET_AFTER.replace("}", ", \"webhook_never\": 1, \"lookup_error\": 1}"))
                        // On a busy machine seconds are not enough.
                        .replaceFirst(
                                "sleep 5\n(curl.*)\n",
                                FAULTS + RESET_AFTER + "\nuntil $1 | grep 'HTTP/1.1 201'; do sleep 1; done\n$1\n")
                        .replace(":8080", ":" + port)
                        .replace(":8081", ":" + providerPort);
                Script.Ended ended = script.run("sh", "-ec", own);
                assertThat(ended.code()).as(own + ended.out() + ended.err()).isZero();
                outs.add(ended.out());
            }
            String retries = outs.get(0);
            assertThat(retries.split("HTTP/1.1 201", -1)).hasSize(3);
            assertThat(retries.split("Idempotent-Replayed: true", -1)).hasSize(2);
            assertThat(retries).contains("HTTP/1.1 422").contains("key_reused");
            assertThat(outs.get(1).split("\"kind\":\"charge\"", -1))
                    .as("one charge")
                    .hasSize(2);
            assertThat(outs.get(2)).contains("HTTP/1.1 201").doesNotContain("Idempotent-Replayed");
            assertThat(outs.get(3)).contains("HTTP/1.1 409").contains("outcome_unknown");
            assertThat(outs.get(4)).contains("HTTP/1.1 201").contains("\"amount\":700");
            assertThat(outs.get(5)).contains("All is well.");
        }
    }
}
