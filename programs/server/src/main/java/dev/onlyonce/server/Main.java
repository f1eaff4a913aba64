package dev.onlyonce.server;

import dev.onlyonce.server.cli.Cli;

/** The program {@code onlyonce}. */
public final class Main {
    private Main() {}

    /** Runs a command and ends with its exit code. */
    public static void main(String[] arguments) {
        // Each costs something for every event and helps only to find a fault in the proxy itself.
        unlessSet("io.netty.leakDetection.level", "disabled");
        unlessSet("vertx.disableContextTimings", "true");
        unlessSet("vertx.disableTCCL", "true");
        System.exit(Cli.run(arguments));
    }

    private static void unlessSet(String property, String value) {
        System.setProperty(property, System.getProperty(property, value));
    }
}
