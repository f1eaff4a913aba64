package dev.onlyonce.server.cli;

import dev.onlyonce.server.admin.Operator;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

@Command(
        name = "outbox",
        mixinStandardHelpOptions = true,
        synopsisSubcommandLabel = "COMMAND",
        description = "Lists, retries and drops calls that workers have given up.",
        subcommands = {OutboxCommand.Dead.class, OutboxCommand.Retry.class, OutboxCommand.Drop.class})
final class OutboxCommand implements Runnable {
    @Spec
    private @Nullable CommandSpec spec;

    @Override
    public void run() {
        throw Cli.missing(spec);
    }

    @Command(
            name = "list",
            mixinStandardHelpOptions = true,
            description = "Lists dead letters by their numbers.",
            footerHeading = "%nExample:%n",
            footer = "  onlyonce outbox list --limit 20")
    static final class Dead extends OperatorCommand {
        @Option(names = "--after", defaultValue = "0", description = "Only numbers above this one")
        private long after;

        @Option(names = "--limit", defaultValue = "100", description = "At most so many (${DEFAULT-VALUE})")
        private int limit = 100;

        @Override
        void run(Operator operator) {
            print(operator.outboxList(after, limit), dead -> {
                Table table = new Table("NUMBER", "TENANT", "KEY", "TOPIC", "TRIES", "LAST ERROR");
                dead.letters()
                        .forEach(letter -> table.row(
                                letter.id(),
                                letter.tenant(),
                                letter.key(),
                                letter.topic(),
                                letter.tries(),
                                letter.lastError()));
                table.print(out());
            });
        }
    }

    @Command(
            name = "retry",
            mixinStandardHelpOptions = true,
            description = "Gives a dead letter all its tries again.",
            footerHeading = "%nExample:%n",
            footer = "  onlyonce outbox retry 17 --reason \"the provider is back\"")
    static final class Retry extends OperatorCommand {
        @Parameters(paramLabel = "NUMBER", description = "As outbox list shows it")
        private long id;

        @Option(names = "--reason", required = true, description = "Why, for the audit")
        private String reason = "";

        @Override
        void run(Operator operator) {
            operator.outboxRetry(id, reason);
            print(Map.of("retried", true), done -> out().println("It will be tried again."));
        }
    }

    @Command(
            name = "drop",
            mixinStandardHelpOptions = true,
            description = "Forgets a dead letter. Its key stays as it is: settle it too.",
            footerHeading = "%nExample:%n",
            footer = "  onlyonce outbox drop 17 --reason \"paid by hand, ticket 12\"")
    static final class Drop extends OperatorCommand {
        @Parameters(paramLabel = "NUMBER", description = "As outbox list shows it")
        private long id;

        @Option(names = "--reason", required = true, description = "Why, for the audit")
        private String reason = "";

        @Override
        void run(Operator operator) {
            operator.outboxDrop(id, reason);
            print(Map.of("dropped", true), done -> out().println("It is forgotten."));
        }
    }
}
