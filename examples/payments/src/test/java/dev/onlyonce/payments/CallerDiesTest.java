package dev.onlyonce.payments;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@DisplayName("The demo that dies after the charge, before the record")
class CallerDiesTest {
    private static final Pattern COMMAND = Pattern.compile("```\n(curl -si [^\n]*tok_caller_dies[^\n]*)\n```");

    @TempDir
    private Path folder;

    @Test
    @DisplayName("W3 D1 answers the retry after its next start, with one charge; the command is the one in the guide")
    void oneCharge() throws Exception {
        Matcher guide = COMMAND.matcher(Script.document("docs/guides/payments-demo.md"));
        assertThat(guide.find()).isTrue();
        String port = String.valueOf(DemoCommand.freePort());
        String providerPort = String.valueOf(DemoCommand.freePort());
        String command = guide.group(1).replace(":8080", ":" + port);
        Script script = new Script(folder);
        try (Script.Demo demo = script.demo("--port", port, "--provider-port", providerPort)) {
            Script.Ended died = script.run("sh", "-c", command);
            assertThat(died.code()).as("no answer: " + died.out()).isNotZero();
            assertThat(demo.ended()).isEqualTo(137);
        }
        try (Script.Demo demo = script.demo("--port", port, "--provider-port", providerPort)) {
            Script.Ended retry = script.run(
                    "sh", "-ec", "until " + command + " | grep 'HTTP/1.1 201'; do sleep 1; done; " + command);
            assertThat(retry.out()).contains("Idempotent-Replayed: true").contains("\"amount\":300");
            Script.Ended ledger = script.run("curl", "-s", "http://127.0.0.1:" + providerPort + "/ledger");
            assertThat(ledger.out().split("\"kind\":\"charge\"", -1))
                    .as("one charge")
                    .hasSize(2);
            assertThat(demo.text()).contains("Ctrl-C");
        }
    }
}
