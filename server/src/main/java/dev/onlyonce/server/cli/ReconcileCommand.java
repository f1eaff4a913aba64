package dev.onlyonce.server.cli;

import dev.onlyonce.server.admin.AdminOperator;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

@Command(
        name = "reconcile",
        description = "Finds out the outcome of unknown keys.",
        subcommands = {ReconcileCommand.Backlog.class, ReconcileCommand.Run.class})
final class ReconcileCommand extends CommandGroup {
    @Command(
            name = "list",
            description = "Lists the keys whose outcome is unknown.",
            footer = "  onlyonce reconcile list --limit 20")
    static final class Backlog extends OperatorCommand {
        @Option(
                names = "--limit",
                defaultValue = "100",
                description = "The most to list, up to 1000 (${DEFAULT-VALUE})")
        private int limit = 100;

        @Override
        void run(AdminOperator operator) {
            print(operator.reconcileList(limit), backlog -> {
                Table table = new Table("TENANT", "KEY", "OPERATION", "SINCE", "LOOK-UP");
                backlog.unknown()
                        .forEach(key -> table.row(
                                key.tenant(),
                                key.key(),
                                key.operation(),
                                key.settledAt(),
                                backlog.operationsWithLookUp().contains(key.operation()) ? "yes" : "no"));
                table.print(out());
            });
        }
    }

    @Command(
            name = "run",
            description = "Makes the gateway ask about all of them now, by the look-ups that are configured.",
            footer = "  onlyonce reconcile run --json")
    static final class Run extends OperatorCommand {
        @Override
        void run(AdminOperator operator) {
            print(operator.reconcileRun(), run -> {
                out().println("Asked about " + run.asked() + ": " + run.found() + " found, " + run.absent()
                        + " absent, " + run.undecided() + " undecided.");
                if (run.withoutLookUp() > 0) {
                    out().println(run.withoutLookUp()
                            + " more have no look-up: add one to their operations in the gateway's configuration, or"
                            + " decide each with: onlyonce keys resolve");
                }
            });
        }
    }
}
