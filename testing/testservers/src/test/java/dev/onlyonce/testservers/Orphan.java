package dev.onlyonce.testservers;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

/** A JVM that starts a server, prints where it lives, and waits to be killed. */
final class Orphan {
    private Orphan() {}

    public static void main(String[] arguments) throws Exception {
        String program = arguments[0];
        DatabaseServer server = switch (program) {
            case "postgres" -> PostgresServer.start();
            case "mysqld" -> MySqlServer.start();
            default -> MariaDbServer.start();
        };
        server.createDatabase();
        System.out.write((home(program) + "\n").getBytes(StandardCharsets.UTF_8));
        System.out.flush();
        System.in.read();
    }

    /** The folder of the server that is a child of a child of this process. */
    private static Path home(String program) throws Exception {
        for (ProcessHandle child : ProcessHandle.current().descendants().toList()) {
            String command = Files.readString(Path.of("/proc", String.valueOf(child.pid()), "cmdline"));
            for (String argument : command.split("[\0=]")) {
                if (argument.endsWith("/data")) {
                    return Path.of(argument).getParent();
                }
            }
        }
        throw new IllegalStateException("No " + program + " among the children");
    }
}
