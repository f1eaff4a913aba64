package dev.onlyonce.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onlyonce.server.cli.Cli;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;

@DisplayName("docs/reference/cli.md")
class CliReferenceTest {
    private static final String INTRODUCTION = """
            # The command line

            What `--help` prints, for every command. The first line names only what is required. Left out is what many commands
            share: `-h` and `-V`, and the options of commands that look at a node or a store.

            | option | meaning |
            |---|---|
            | `--admin=URL` | the gateway's admin API, as a URL or `host:port` (`http://127.0.0.1:8091`) |
            | `--admin-token-file=FILE` | the credential (`admin-token` in the data directory) |
            | `--data=DIR` | the gateway's data directory (`data`) |
            | `--db=STORE-URL` | works on this store directly, without a gateway |
            | `--json` | prints JSON, for programs |
            | `--operation=NAME` | only for keys that are unique in their operation |
            | `--tenant=NAME` | whose key it is (`default`) |
            """;
    /** An option of many commands, with the lines that its explanation goes on in. */
    private static final Pattern SHARED = Pattern.compile("(?m)^ +(-h, --help .*|-V, --version .*|--json  .*"
            + "|--admin=URL  .*|--admin-token-file=FILE\\n +The credential.*|--data=DIR +The gateway's data directory.*"
            + "|--db=STORE-URL +Works on this store directly.*"
            + "|--operation=<operation>\\n +Only for keys that are unique in their operation"
            + "|--tenant=<tenant> +Whose key it is.*)\\n");

    private static final Pattern SYNOPSIS = Pattern.compile("(?s)\\AUsage: .*?\\n(?! )");
    /** An option that may be left out; those that take lists have brackets within. */
    private static final Pattern OPTIONAL = Pattern.compile(" ?\\[[^\\[\\]]*](\\.\\.\\.)?");

    @Test
    @DisplayName("is what --help prints, without shared options; run with -Dreference.write=true to write it")
    void same() throws IOException {
        StringBuilder page = new StringBuilder(INTRODUCTION);
        describe(page, "onlyonce", Cli.commandLine());
        Path file = ConfigFileTest.root().resolve("docs/reference/cli.md");
        if (Boolean.getBoolean("reference.write")) {
            Files.writeString(file, page);
        }
        assertThat(Files.readString(file)).isEqualTo(page.toString());
    }

    private static void describe(StringBuilder page, String name, CommandLine command) {
        page.append("\n## ").append(name).append("\n\n```\n");
        page.append(own(command.getUsageMessage(CommandLine.Help.Ansi.OFF).stripTrailing()))
                .append("\n```\n");
        for (Map.Entry<String, CommandLine> sub : command.getSubcommands().entrySet()) {
            if (!sub.getKey().equals("generate-completion")) {
                describe(page, name + " " + sub.getKey(), sub.getValue());
            }
        }
    }

    /** Without the options that the introduction explains. */
    private static String own(String usage) {
        Matcher synopsis = SYNOPSIS.matcher(usage);
        if (!synopsis.find()) {
            throw new IllegalArgumentException(usage);
        }
        String line = synopsis.group().replaceAll("\\s+", " ").strip();
        while (OPTIONAL.matcher(line).find()) {
            line = OPTIONAL.matcher(line).replaceAll("");
        }
        return line + "\n" + SHARED.matcher(usage.substring(synopsis.end())).replaceAll("");
    }
}
