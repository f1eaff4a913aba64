package dev.onlyonce.prove;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * The processes of a server that this process started, found by its port.
 *
 * @param port on their command line
 */
record ServerProcesses(String port) {
    private static final long PAGE = 4096;
    private static final int WAIT_SECONDS = 10;

    /** Lets their writes fail, as on a full disk: no file may grow beyond a page. What they start meanwhile inherits the limit. */
    void failWrites() throws IOException, InterruptedException {
        for (long process : ids()) {
            failWrites(process);
        }
    }

    /** The same for one process. */
    static void failWrites(long process) throws IOException, InterruptedException {
        // The soft limit alone, which may be raised again.
        run("prlimit", "--pid", String.valueOf(process), "--fsize=" + PAGE + ":");
    }

    /** Lets their writes succeed again. */
    void healWrites() throws IOException, InterruptedException {
        for (long process : ids()) {
            healWrites(process);
        }
    }

    /** The same for one process. */
    static void healWrites(long process) throws IOException, InterruptedException {
        run("prlimit", "--pid", String.valueOf(process), "--fsize=unlimited:");
    }

    /** Stops them all with SIGSTOP. */
    void freeze() throws IOException, InterruptedException {
        for (long process : ids()) {
            // Who is stopped does not notice that the prover is gone.
            Orphans.guard(process);
            run("kill", "-STOP", String.valueOf(process));
        }
    }

    /** Lets them all go on. */
    void thaw() throws IOException, InterruptedException {
        for (long process : ids()) {
            run("kill", "-CONT", String.valueOf(process));
            Orphans.free(process);
        }
    }

    private List<Long> ids() {
        return ProcessHandle.current()
                .descendants()
                .filter(process -> commandLine(process).contains(port))
                .flatMap(process -> Stream.concat(Stream.of(process), process.descendants()))
                .map(ProcessHandle::pid)
                .distinct()
                .toList();
    }

    private static String commandLine(ProcessHandle process) {
        try {
            String line = Files.readString(Path.of("/proc", String.valueOf(process.pid()), "cmdline"), UTF_8);
            // Not the shell that guards it.
            return line.startsWith("sh\0") || line.startsWith("java") ? "" : line;
        } catch (IOException e) {
            return "";
        }
    }

    private static void run(String... command) throws IOException, InterruptedException {
        new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .start()
                .waitFor(WAIT_SECONDS, TimeUnit.SECONDS);
    }
}
