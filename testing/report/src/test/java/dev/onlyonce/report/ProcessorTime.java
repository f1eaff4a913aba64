package dev.onlyonce.report;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/**
 * The processor time that a process has used.
 *
 * @param own by itself
 * @param children by all that it has started, directly or not, and that has ended
 */
record ProcessorTime(Duration own, Duration children) {
    /** In /proc, time is counted in hundredths of a second on every Linux. */
    private static final int MILLIS = 10;
    /** In the line of /proc/PID/stat, behind the name of the program. */
    private static final int OWN = 11;

    private static final int CHILDREN = 13;

    /** Of the process that runs this build; empty where the system does not tell. */
    static Optional<ProcessorTime> ofMaven() throws IOException {
        Optional<ProcessHandle> maven = ProcessHandle.current().parent();
        // A shell may be between.
        while (maven.isPresent() && !maven.get().info().command().orElse("").endsWith("java")) {
            maven = maven.get().parent();
        }
        Path stat = Path.of("/proc", maven.map(process -> "" + process.pid()).orElse("none"), "stat");
        return Files.isReadable(stat) ? Optional.of(of(Files.readString(stat))) : Optional.empty();
    }

    static ProcessorTime of(String stat) {
        List<String> fields = List.of(stat.substring(stat.lastIndexOf(')') + 2).split(" "));
        return new ProcessorTime(sum(fields, OWN), sum(fields, CHILDREN));
    }

    private static Duration sum(List<String> fields, int first) {
        long ticks = Long.parseLong(fields.get(first)) + Long.parseLong(fields.get(first + 1));
        return Duration.ofMillis(ticks * MILLIS);
    }
}
