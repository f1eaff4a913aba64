package dev.onlyonce.server.cli;

import dev.onlyonce.http.admin.AdminOperator;
import java.util.Map;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

@Command(
        name = "outbox",
        description = "Lists, retries and drops calls that workers have given up.",
        subcommands = {
            OutboxCommand.Dead.class,
            OutboxCommand.Show.class,
            OutboxCommand.Message.class,
            OutboxCommand.Retry.class,
            OutboxCommand.Drop.class
        })
final class OutboxCommand extends CommandGroup {
    @Command(
            name = "list",
            description = "Lists dead letters by their numbers.",
            footer = "  onlyonce outbox list --limit 20")
    static final class Dead extends OperatorCommand {
        @Option(names = "--after", defaultValue = "0", description = "Only numbers above this one")
        private long after;

        @Option(names = "--limit", defaultValue = "100", description = "The most to list (${DEFAULT-VALUE})")
        private int limit = 100;

        @Override
        void run(AdminOperator operator) {
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
                if (!dead.consumers().isEmpty()) {
                    Table messages = new Table("CONSUMER", "TOPIC", "REASON", "MESSAGES", "LAST");
                    dead.consumers()
                            .forEach(it -> messages.row(it.group(), it.topic(), it.reason(), it.count(), it.lastAt()));
                    messages.print(out());
                    Table last = new Table("MESSAGE", "TOPIC", "COORDINATES", "TRIES", "WHY");
                    dead.messages()
                            .forEach(it ->
                                    last.row(it.id(), it.topic(), it.coordinates(), it.tries(), Table.cut(it.text())));
                    last.print(out());
                }
            });
        }
    }

    @Command(name = "show", description = "Shows a dead letter with its payload.", footer = "  onlyonce outbox show 17")
    static final class Show extends OperatorCommand {
        @Parameters(paramLabel = "NUMBER", description = "As outbox list shows it")
        private long id;

        @Override
        void run(AdminOperator operator) {
            print(operator.outboxShow(id), letter -> {
                Table table = new Table("FIELD", "VALUE");
                table.row("number", letter.id());
                table.row("tenant", letter.tenant());
                table.row("key", letter.key());
                table.row("operation", letter.operation());
                table.row("topic", letter.topic());
                table.row("tries", letter.tries());
                table.row("accepted", letter.acceptedAt());
                table.row("provider's id", letter.providerId());
                table.row("last error", letter.lastError());
                table.row("payload", letter.payload() == null ? letter.payloadBase64() : letter.payload());
                table.print(out());
            });
        }
    }

    @Command(
            name = "message",
            description = "Shows a message that a consumer of the node has given up, with its payload.",
            footer = "  onlyonce outbox message 3")
    static final class Message extends OperatorCommand {
        @Parameters(paramLabel = "NUMBER", description = "As outbox list shows it")
        private long id;

        @Override
        void run(AdminOperator operator) {
            print(operator.outboxMessage(id), message -> {
                Table table = new Table("FIELD", "VALUE");
                table.row("number", message.id());
                table.row("consumer", message.group());
                table.row("topic", message.topic());
                table.row("coordinates", message.coordinates());
                table.row("reason", message.reason() + ": " + message.text());
                table.row("tries", message.tries());
                table.row("given up", message.at());
                table.row("payload", message.payload() == null ? message.payloadBase64() : message.payload());
                table.print(out());
            });
        }
    }

    /** Does something with one dead letter. */
    abstract static class OneLetter extends OperatorCommand {
        @Parameters(paramLabel = "NUMBER", description = "As outbox list shows it")
        private long id;

        @Option(names = "--reason", required = true, description = "Why, for the audit")
        private String reason = "";

        long id() {
            return id;
        }

        String reason() {
            return reason;
        }
    }

    @Command(
            name = "retry",
            description = "Gives a dead letter all its tries again.",
            footer = "  onlyonce outbox retry 17 --reason \"the provider is back\"")
    static final class Retry extends OneLetter {
        @Override
        void run(AdminOperator operator) {
            operator.outboxRetry(id(), reason());
            print(Map.of("retried", true), done -> out().println("It will be tried again."));
        }
    }

    @Command(
            name = "drop",
            description = "Forgets a dead letter. Its key stays as it is: settle it too.",
            footer = "  onlyonce outbox drop 17 --reason \"paid by hand, ticket 12\"")
    static final class Drop extends OneLetter {
        @Override
        void run(AdminOperator operator) {
            operator.outboxDrop(id(), reason());
            print(Map.of("dropped", true), done -> out().println("It is forgotten."));
        }
    }
}
