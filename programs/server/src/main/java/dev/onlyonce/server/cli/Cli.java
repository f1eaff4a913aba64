package dev.onlyonce.server.cli;

import dev.onlyonce.server.gateway.StoreHealth;
import dev.onlyonce.store.StoreException;
import java.io.UncheckedIOException;
import org.jspecify.annotations.Nullable;
import picocli.AutoComplete;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.IVersionProvider;

/** The command line: parses, runs, and turns what went wrong into a message and an exit code that scripts can trust. */
public final class Cli {
    /** It worked. */
    public static final int OK = 0;
    /** It did not work, for the reason that was printed. */
    public static final int FAILED = 1;
    /** The command line or the configuration is wrong. */
    public static final int USAGE = 2;
    /** There is no such key, or it is not in a state that allows this. */
    public static final int NOT_FOUND = 3;
    /** The gateway or the database cannot be reached. */
    public static final int UNAVAILABLE = 4;
    /** It was sent, and its outcome is not known yet. */
    public static final int IN_DOUBT = 5;

    private Cli() {}

    /** Runs a command; returns its exit code. */
    public static int run(String... arguments) {
        return commandLine().execute(arguments);
    }

    /** All commands. */
    public static CommandLine commandLine() {
        CommandLine line = new CommandLine(new Root());
        line.addSubcommand(new GatewayCommand());
        line.addSubcommand(new LookCommands.Glance());
        line.addSubcommand(new LookCommands.LastHour());
        line.addSubcommand(new LookCommands.Protected());
        line.addSubcommand(new LookCommands.Top());
        line.addSubcommand(new KeysCommand());
        line.addSubcommand(new ReconcileCommand());
        line.addSubcommand(new OutboxCommand());
        line.addSubcommand(new SchemaCommand());
        line.addSubcommand(new StoreCommand());
        line.addSubcommand(new StatsCommand());
        line.addSubcommand(new BackupCommand());
        line.addSubcommand(new SendCommand());
        line.addSubcommand(new CheckCommand(Confirmation.terminal()));
        line.addSubcommand("generate-completion", new AutoComplete.GenerateCompletion());
        line.setExecutionExceptionHandler((failure, command, parsed) -> explain(failure, command));
        line.setCaseInsensitiveEnumValuesAllowed(true);
        line.setUsageHelpWidth(100);
        // A body is given as @FILE.
        line.setExpandAtFiles(false);
        return line;
    }

    private static int explain(Exception failure, CommandLine command) throws Exception {
        if (failure instanceof Failed failed) {
            command.getErr().println(failed.getMessage());
            return failed.exitCode();
        }
        if (failure instanceof StoreException store) {
            command.getErr().println("The store cannot be used: " + StoreHealth.explain(store));
            return UNAVAILABLE;
        }
        if (failure instanceof IllegalArgumentException
                || failure instanceof IllegalStateException
                || failure instanceof UncheckedIOException) {
            command.getErr().println(failure.getMessage());
            return FAILED;
        }
        throw failure;
    }

    /** A command cannot do its work. */
    static final class Failed extends Exception {
        private static final long serialVersionUID = 1;

        private final int exitCode;

        Failed(int exitCode, String message) {
            super(message, null, false, false);
            this.exitCode = exitCode;
        }

        int exitCode() {
            return exitCode;
        }
    }

    @Command(
            name = "onlyonce",
            mixinStandardHelpOptions = true,
            versionProvider = Version.class,
            synopsisSubcommandLabel = "COMMAND",
            description = "Makes state-changing requests safe to retry.",
            exitCodeListHeading = "%nExit codes:%n",
            exitCodeList = {
                "0:it worked",
                "1:it did not work, for the reason that was printed",
                "2:the command line or the configuration is wrong",
                "3:there is no such key, or its state does not allow this",
                "4:the gateway or the database cannot be reached",
                "5:a request is in doubt; run the same command again"
            },
            footerHeading = "%nExamples:%n",
            footer = {
                "  onlyonce gateway --upstream http://127.0.0.1:9000",
                "  onlyonce keys list --state unknown",
                "  onlyonce COMMAND --help"
            })
    static final class Root implements Runnable {
        @CommandLine.Spec
        private CommandLine.Model.@Nullable CommandSpec spec;

        @Override
        public void run() {
            throw missing(spec);
        }
    }

    /** For commands that do nothing themselves. */
    static RuntimeException missing(CommandLine.Model.@Nullable CommandSpec spec) {
        return spec == null
                ? new IllegalStateException("the command line was not parsed")
                : new CommandLine.ParameterException(spec.commandLine(), "A command is missing.");
    }

    static final class Version implements IVersionProvider {
        @Override
        public String[] getVersion() {
            String version = Cli.class.getPackage().getImplementationVersion();
            return new String[] {"onlyonce " + (version == null ? "(not packaged)" : version)};
        }
    }
}
