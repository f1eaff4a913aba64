package dev.onlyonce.server.cli;

import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** A command that does nothing but have commands. */
@Command(mixinStandardHelpOptions = true, synopsisSubcommandLabel = "COMMAND")
abstract class CommandGroup implements Runnable {
    @Spec
    private @Nullable CommandSpec spec;

    @Override
    public final void run() {
        throw Cli.missing(spec);
    }
}
