package dev.onlyonce.server;

import dev.onlyonce.server.cli.Cli;

/** The program {@code onlyonce}. */
public final class Main {
    private Main() {}

    /** Runs a command and ends with its exit code. */
    public static void main(String[] arguments) {
        System.exit(Cli.run(arguments));
    }
}
