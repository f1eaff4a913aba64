package dev.onlyonce.testkit;

import dev.onlyonce.Key;
import dev.onlyonce.Onlyonce;
import dev.onlyonce.store.State;
import dev.onlyonce.store.StoreException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;

/**
 * Processes that execute operations on one store and are killed with SIGKILL in the middle of it.
 *
 * <ol>
 *   <li>The program of a process is a class of the test with a main method. It opens the store and calls {@link #work}.
 *   <li>The test starts processes, waits until some work is done, and kills them.
 *   <li>The last process ends by itself, when every key is decided. Then the test compares entries and effects.
 * </ol>
 *
 * <p>For one thread.
 */
public final class KillStorm implements AutoCloseable {
    private static final Duration LOOK_EVERY = Duration.ofMillis(20);

    private final Class<?> program;
    private final Path folder;
    private final List<Process> processes = new ArrayList<>();

    /**
     * No process runs yet.
     *
     * @param program has a main method, and is on the class path of this JVM
     * @param folder where processes write what they print
     */
    public KillStorm(Class<?> program, Path folder) {
        this.program = program;
        this.folder = folder;
    }

    /** Starts a process. */
    public Process start(String... arguments) throws IOException {
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx256m",
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                "-cp",
                System.getProperty("surefire.test.class.path", System.getProperty("java.class.path")),
                program.getName()));
        command.addAll(List.of(arguments));
        Process process = new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(log(processes.size()).toFile())
                .start();
        processes.add(process);
        return process;
    }

    private Path log(int number) {
        return folder.resolve("process-" + number + ".log");
    }

    /** Waits until the condition holds, or the process has done everything. */
    public void await(Process process, BooleanSupplier condition) throws InterruptedException {
        boolean isOver = false;
        while (!isOver && !condition.getAsBoolean()) {
            isOver = process.waitFor(LOOK_EVERY.toMillis(), TimeUnit.MILLISECONDS);
        }
        if (isOver) {
            check(process);
        }
    }

    /** Ends a process with SIGKILL. */
    public static void kill(Process process) throws InterruptedException {
        process.destroyForcibly().waitFor();
    }

    /** Waits until a process ends by itself. */
    public void join(Process process, Duration max) throws InterruptedException {
        if (!process.waitFor(max.toMillis(), TimeUnit.MILLISECONDS)) {
            throw new AssertionError("a process is not done after " + max + ". It printed:\n" + printed(process));
        }
        check(process);
    }

    private void check(Process process) {
        if (process.exitValue() != 0) {
            throw new AssertionError("a process failed. It printed:\n" + printed(process));
        }
    }

    private String printed(Process process) {
        try {
            return Files.readString(log(processes.indexOf(process)));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /**
     * For the program: executes every key, and again while one is not decided. A failure of the store is not the end: the key's turn
     * comes again.
     *
     * @param execution executes a key once
     */
    public static void work(Onlyonce once, List<Key> keys, Consumer<Key> execution) {
        List<Key> open = keys;
        while (!open.isEmpty()) {
            open.forEach(key -> {
                try {
                    execution.accept(key);
                } catch (StoreException e) {
                    // It is not decided yet.
                }
            });
            open = open.stream().filter(key -> !isDecided(once, key)).toList();
        }
    }

    private static boolean isDecided(Onlyonce once, Key key) {
        try {
            return once.find(key)
                    .filter(entry -> entry.state() == State.COMPLETED || entry.state() == State.UNKNOWN)
                    .isPresent();
        } catch (StoreException e) {
            return false;
        }
    }

    /** Kills what still runs. */
    @Override
    public void close() {
        processes.forEach(Process::destroyForcibly);
    }
}
