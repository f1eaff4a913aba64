package dev.onlyonce.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onlyonce.server.cli.Cli;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;

@DisplayName("docs/reference/cli.md")
class CliReferenceTest {

    @Test
    @DisplayName("is what --help prints; run with -Dreference.write=true to write it")
    void same() throws IOException {
        StringBuilder page = new StringBuilder("# The command line\n\nWhat `--help` prints, for every command.\n");
        describe(page, "onlyonce", Cli.commandLine());
        Path file = ConfigFileTest.root().resolve("docs/reference/cli.md");
        if (Boolean.getBoolean("reference.write")) {
            Files.writeString(file, page);
        }
        assertThat(Files.readString(file)).isEqualTo(page.toString());
    }

    private static void describe(StringBuilder page, String name, CommandLine command) {
        page.append("\n## ").append(name).append("\n\n```\n");
        page.append(command.getUsageMessage(CommandLine.Help.Ansi.OFF).stripTrailing())
                .append("\n```\n");
        for (Map.Entry<String, CommandLine> sub : command.getSubcommands().entrySet()) {
            if (!sub.getKey().equals("generate-completion")) {
                describe(page, name + " " + sub.getKey(), sub.getValue());
            }
        }
    }
}
