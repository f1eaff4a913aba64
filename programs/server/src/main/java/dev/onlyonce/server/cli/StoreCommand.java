package dev.onlyonce.server.cli;

import dev.onlyonce.http.admin.AdminOperator;
import java.util.Map;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

@Command(
        name = "store",
        description = "Decides about a store that nodes refuse.",
        subcommands = StoreCommand.Accept.class)
final class StoreCommand extends CommandGroup {
    @Command(
            name = "accept",
            description = "Accepts that the store is empty, or another one than before. Keys from before are forgotten:"
                    + " requests with them run again.",
            footer = "  onlyonce store accept --reason \"restored after the fire, payments were compared, ticket 12\"")
    static final class Accept extends OperatorCommand {
        @Option(names = "--reason", required = true, description = "Why, for the log and the store's mark")
        private String reason = "";

        @Override
        void run(AdminOperator operator) {
            operator.storeAccept(reason);
            print(Map.of("accepted", true), done -> out().println("All nodes go on with it."));
        }
    }
}
