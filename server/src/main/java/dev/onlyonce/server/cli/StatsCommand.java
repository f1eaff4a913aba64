package dev.onlyonce.server.cli;

import dev.onlyonce.server.admin.AdminOperator;
import picocli.CommandLine.Command;

@Command(
        name = "stats",
        description = "Counts keys by state, and what the gateway is doing.",
        footer = "  onlyonce stats --json")
final class StatsCommand extends OperatorCommand {
    @Override
    void run(AdminOperator operator) {
        print(operator.stats(), stats -> {
            Table table = new Table("WHAT", "NUMBER");
            stats.entries()
                    .forEach((state, count) ->
                            table.row("keys " + state, count >= stats.countedMax() ? count + " or more" : count));
            stats.gateway().forEach((name, number) -> table.row("gateway " + name, number));
            table.print(out());
        });
    }
}
