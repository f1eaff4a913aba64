package dev.onlyonce.server.cli;

import dev.onlyonce.http.admin.AdminOperator;
import dev.onlyonce.http.admin.Count;
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
            stats.entries().forEach((state, count) -> table.row("keys " + state, new Count(count, stats.kind())));
            stats.gateway().forEach((name, number) -> table.row("gateway " + name, number));
            table.print(out());
        });
    }
}
