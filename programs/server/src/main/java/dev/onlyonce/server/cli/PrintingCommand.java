package dev.onlyonce.server.cli;

import java.io.PrintWriter;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** A command with {@code --help} and {@code --version}, and where it prints. */
@Command(mixinStandardHelpOptions = true)
abstract class PrintingCommand implements Callable<Integer> {
    @Spec
    private @Nullable CommandSpec spec;

    final CommandLine commandLine() {
        if (spec == null) {
            throw new IllegalStateException("the command line was not parsed");
        }
        return spec.commandLine();
    }

    final PrintWriter out() {
        return commandLine().getOut();
    }

    final PrintWriter err() {
        return commandLine().getErr();
    }
}
