package dev.onlyonce.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onlyonce.server.cli.Cli;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import picocli.AutoComplete;
import picocli.CommandLine;
import picocli.CommandLine.Help.Ansi;

/** Generated files of the distribution. To bring them up to date, run this test with {@code -Dreference.write=true}. */
@DisplayName("The distribution")
class DistributionReferenceTest {
    private static final Path SHARE = ConfigFileTest.root().resolve("programs/server/src/dist/share");

    private static void same(Path file, String generated) throws IOException {
        if (Boolean.getBoolean("reference.write")) {
            Files.createDirectories(file.getParent());
            Files.writeString(file, generated);
        }
        assertThat(file).hasContent(generated.stripTrailing());
    }

    @Test
    @DisplayName("completes what the command line takes")
    void completions() throws IOException {
        String script = AutoComplete.bash("onlyonce", Cli.commandLine());
        same(SHARE.resolve("completions/onlyonce.bash"), script.replaceAll("(?m)[ \t]+$", ""));
    }

    @Test
    @DisplayName("has a manual page for every command")
    void manual() throws IOException {
        StringBuilder page = new StringBuilder("""
                .TH ONLYONCE 1 "" "Onlyonce" "Onlyonce"
                .SH NAME
                onlyonce \\- makes state-changing requests safe to retry
                """);
        describe(page, "onlyonce", Cli.commandLine());
        page.append(
                        ".SH FILES\n.TP\n$XDG_CACHE_HOME/onlyonce\nParsed classes, for a faster start. You may delete it.\n")
                .append(
                        ".SH ENVIRONMENT\n.TP\nONLYONCE_JAVA_OPTS\nOptions for Java instead of those of the launcher.\n")
                .append(".TP\nONLYONCE_LISTEN_PORT, ONLYONCE_STORE_URL, ...\nSettings of the gateway.\n");
        same(SHARE.resolve("man/man1/onlyonce.1"), page.toString());
    }

    private static void describe(StringBuilder page, String name, CommandLine command) {
        page.append(name.equals("onlyonce") ? ".SH SYNOPSIS\n" : ".SH " + name + "\n")
                .append(".nf\n")
                .append(command.getUsageMessage(Ansi.OFF)
                        .stripTrailing()
                        .replace("\\", "\\e")
                        .replaceAll("(?m)^([.'])", "\\\\&$1")
                        .replace("-", "\\-"))
                .append("\n.fi\n");
        for (Map.Entry<String, CommandLine> sub : command.getSubcommands().entrySet()) {
            if (!sub.getKey().equals("generate-completion")) {
                describe(page, name + " " + sub.getKey(), sub.getValue());
            }
        }
    }
}
