package dev.onlyonce.payments;

import dev.onlyonce.payments.cli.CannotRun;
import dev.onlyonce.payments.kafka.BookkeeperCommand;
import dev.onlyonce.payments.provider.ProviderCommand;
import dev.onlyonce.payments.storm.StormCommand;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.SpringApplication;
import picocli.CommandLine;
import picocli.CommandLine.Command;

/**
 * The payments program: {@code demo}, {@code storm}, and the parts of a demo one by one, {@code provider}, {@code app} and {@code
 * bookkeeper}.
 */
@Command(
        name = "onlyonce",
        description = "The reference payments system.",
        mixinStandardHelpOptions = true,
        subcommands = {DemoCommand.class, StormCommand.class, ProviderCommand.class, BookkeeperCommand.class})
public final class Main implements Runnable {
    @CommandLine.Spec
    private CommandLine.Model.@Nullable CommandSpec spec;

    private Main() {}

    /** Runs the command; the application ({@code app}) takes Spring Boot's arguments, such as {@code --payments.db=…}. */
    public static void main(String[] arguments) {
        if (arguments.length > 0 && arguments[0].equals("app")) {
            SpringApplication.run(PaymentsApplication.class, Arrays.copyOfRange(arguments, 1, arguments.length));
            return;
        }
        System.exit(commandLine().execute(arguments));
    }

    /** What is wrong is said in one line, with an exit code. */
    static CommandLine commandLine() {
        CommandLine line = new CommandLine(new Main());
        line.setParameterExceptionHandler((wrong, given) -> misused(wrong));
        line.setExecutionExceptionHandler((failure, command, parsed) -> explain(failure, command));
        line.setUsageHelpWidth(100);
        return line;
    }

    private static int misused(CommandLine.ParameterException wrong) {
        CommandLine command = wrong.getCommandLine();
        command.getErr()
                .println(wrong.getMessage() + "; see ./"
                        + command.getCommandSpec().qualifiedName() + " --help");
        return CannotRun.USAGE;
    }

    private static int explain(Exception failure, CommandLine command) throws Exception {
        if (failure instanceof CannotRun cannot) {
            command.getErr().println(cannot.getMessage());
            return cannot.exitCode();
        }
        throw failure;
    }

    @Override
    public void run() {
        if (spec != null) {
            spec.commandLine().usage(spec.commandLine().getOut());
        }
    }
}
