package dev.onlyonce.testservers;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * A server that runs as a process of its own and cannot outlive this JVM.
 *
 * <p>Between the JVM and the server stands a shell that reads the names of signals from the JVM and passes them on. When
 * the JVM is gone, however it ended, the shell reads the end of its input, ends the server and deletes its folder.
 */
final class ServerProcess {
    /** Ample for a loaded machine with a slow disk; a server that is well answers within two seconds. */
    private static final Duration PATIENCE = Duration.ofMinutes(4);

    private static final String GUARD = """
            log=$1; last=$2; trash=$3; shift 3
            exec 3<&0
            "$@" </dev/null >>"$log" 2>&1 3<&- &
            server=$!
            orphaned=
            # USR1: the JVM is gone. The others end a whole group of processes, and the JVM with it.
            trap 'orphaned=yes; kill -"$last" "$server"' USR1 INT TERM HUP
            ( while read -r signal; do kill -"$signal" "$server"; done; kill -USR1 $$ ) <&3 &
            watcher=$!
            wait "$server"; status=$?
            if [ "$orphaned" ]; then
              wait "$server"
              [ "$trash" ] && rm -rf "$trash"
            fi
            kill "$watcher"; wait "$watcher"
            exit "$status"
            """;

    private final String name;
    private final List<String> command;
    private final Path log;
    private final String lastSignal;
    private final String trash;
    private @Nullable Process guard;

    /**
     * @param name what the server is called in the report of the build
     * @param lastSignal the signal that ends the server at once, e.g. {@code KILL}
     * @param trash the folder to delete if this JVM dies, or null to keep all
     */
    ServerProcess(String name, List<String> command, Path log, String lastSignal, @Nullable Path trash) {
        this.name = name;
        this.command = List.copyOf(command);
        this.log = log;
        this.lastSignal = lastSignal;
        this.trash = trash == null ? "" : trash.toString();
    }

    /** Says whether the server answers already. */
    @FunctionalInterface
    interface Probe {
        boolean answers();
    }

    /**
     * Starts the server and returns when it answers.
     *
     * @param again for how long to try again if it ends at once: after a kill the last run's children may be in its way
     */
    synchronized void start(Probe probe, Duration again) {
        long start = System.nanoTime();
        count();
        while (true) {
            Process process = launch();
            guard = process;
            while (process.isAlive()) {
                if (probe.answers()) {
                    return;
                }
                if (System.nanoTime() - start > PATIENCE.toNanos()) {
                    signal(lastSignal);
                    throw new IllegalStateException("No answer within " + PATIENCE + "\n" + tail(log));
                }
                exited(process, Duration.ofMillis(20));
            }
            signal(lastSignal);
            if (System.nanoTime() - start >= again.toNanos()) {
                throw new IllegalStateException("Ends at once: " + command + "\n" + tail(log));
            }
        }
    }

    /** Sends a signal and returns when the server has ended; does nothing when it is down. */
    synchronized void signal(String name) {
        Process process = guard;
        if (process == null) {
            return;
        }
        guard = null;
        try (var orders = process.getOutputStream()) {
            if (process.isAlive()) {
                orders.write((name + "\n").getBytes(StandardCharsets.US_ASCII));
                orders.flush();
                if (!exited(process, PATIENCE)) {
                    throw new IllegalStateException("Still running after SIG" + name + "\n" + tail(log));
                }
            }
        } catch (IOException e) {
            // The guard ended between the question and the order, and it ends only after its server.
            exited(process, PATIENCE);
        }
    }

    /** Sends a signal that does not end the server, e.g. {@code STOP}. Does nothing when it is down. */
    synchronized void pass(String name) {
        Process process = guard;
        if (process != null) {
            try {
                process.getOutputStream().write((name + "\n").getBytes(StandardCharsets.US_ASCII));
                process.getOutputStream().flush();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }

    /** Notes the start for the report of the build, where Maven runs this. */
    private void count() {
        Path target = Path.of("target");
        if (Files.isDirectory(target)) {
            try {
                Path folder = Files.createDirectories(target.resolve("servers"));
                Files.writeString(
                        folder.resolve(name), "started\n", StandardOpenOption.CREATE, StandardOpenOption.APPEND);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }

    private Process launch() {
        List<String> guarded = new ArrayList<>(List.of("sh", "-c", GUARD, "guard", log.toString(), lastSignal, trash));
        guarded.addAll(command);
        try {
            return new ProcessBuilder(guarded)
                    .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                    .redirectError(ProcessBuilder.Redirect.DISCARD)
                    .start();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Runs a command to its end; throws with its output unless it succeeds. */
    static void run(List<String> command, Path input, Path log) {
        try {
            Process process = new ProcessBuilder(command)
                    .redirectInput(input.toFile())
                    .redirectErrorStream(true)
                    .redirectOutput(ProcessBuilder.Redirect.appendTo(log.toFile()))
                    .start();
            if (!exited(process, PATIENCE)) {
                process.destroyForcibly();
                throw new IllegalStateException("Not done within " + PATIENCE + ": " + command + "\n" + tail(log));
            }
            if (process.exitValue() != 0) {
                throw new IllegalStateException("Failed: " + command + "\n" + tail(log));
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Tells whether a command exists here and succeeds. */
    static boolean succeeds(String... command) {
        try {
            Process process = new ProcessBuilder(command)
                    .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                    .redirectError(ProcessBuilder.Redirect.DISCARD)
                    .start();
            return exited(process, PATIENCE) && process.exitValue() == 0;
        } catch (IOException e) {
            return false;
        }
    }

    private static boolean exited(Process process, Duration patience) {
        try {
            return process.waitFor(patience.toMillis(), TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("Interrupted while waiting for a server", e);
        }
    }

    private static String tail(Path log) {
        try {
            List<String> lines = Files.readAllLines(log, StandardCharsets.ISO_8859_1);
            return String.join("\n", lines.subList(Math.max(0, lines.size() - 30), lines.size()));
        } catch (IOException e) {
            return "(no log: " + e + ")";
        }
    }
}
