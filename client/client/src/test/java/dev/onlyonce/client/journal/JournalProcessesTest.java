package dev.onlyonce.client.journal;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onlyonce.client.Journal;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ThreadLocalRandom;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Real processes on one file: killed, at the same time, and with a disk that is full. */
@DisplayName("A journal that several processes use")
class JournalProcessesTest {
    private static final long SEED = ThreadLocalRandom.current().nextLong(1_000_000);

    @TempDir
    private Path folder;

    private Path file() {
        return folder.resolve("journal");
    }

    private Process start(String limit, String name, int calls) throws IOException {
        String classPath = System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));
        return new ProcessBuilder(
                        "sh",
                        "-c",
                        limit + " exec \"$0\" \"$@\"",
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-Xmx64m",
                        // Shared memory for monitoring is a file too, and would not fit.
                        "-XX:-UsePerfData",
                        "-XX:TieredStopAtLevel=1",
                        "-cp",
                        classPath,
                        JournalProcess.class.getName(),
                        file().toString(),
                        name,
                        Integer.toString(calls))
                .redirectErrorStream(true)
                .start();
    }

    @Test
    @DisplayName("X1 X2 has every call that was begun, whenever they are killed")
    void killed() throws Exception {
        Random random = new Random(SEED);
        List<String> durable = new ArrayList<>();
        for (int round = 0; round < 4; round++) {
            Process one = start("", "a" + round, 100_000);
            Process other = start("", "b" + round, 100_000);
            for (Process process : List.of(one, other)) {
                BufferedReader out = process.inputReader();
                for (int lines = 5 + random.nextInt(40); lines > 0; lines--) {
                    durable.add(out.readLine());
                }
            }
            for (Process process : List.of(one, other)) {
                // Unlike that of the process, this leaves the pipe open: what it said before it died is read below.
                process.toHandle().destroyForcibly();
                process.waitFor();
                process.inputReader()
                        .lines()
                        .filter(line -> line.matches("[ab]\\d-\\d+"))
                        .forEach(durable::add);
            }
        }
        try (Journal journal = SqliteJournal.open(file())) {
            // The last line of a killed process may be torn; it then names another call, which is there as well.
            for (String id : durable) {
                assertThat(journal.find(id)).as("seed %d, %s", SEED, id).isPresent();
            }
            assertThat(journal.pending()).hasSizeGreaterThan(40);
        }
    }

    @Test
    @DisplayName("X1 a full disk fails the call before it is sent, and everything before it stays")
    void full() throws Exception {
        // In blocks of 512 bytes; SQLite's native library, which its driver unpacks, has 1.1 MB.
        Process process = start("ulimit -f 3000;", "a", 1000);
        List<String> lines = process.inputReader().lines().toList();
        assertThat(process.waitFor()).isZero();
        assertThat(lines)
                .last()
                .asString()
                .contains("cannot be written, so nothing was sent", "Check the disk's space");
        int written = lines.size() - 1;
        assertThat(written).isBetween(10, 500);
        try (Journal journal = SqliteJournal.open(file())) {
            for (String id : lines.subList(0, written)) {
                assertThat(journal.find(id)).as(id).isPresent();
            }
            assertThat(journal.find("a-" + written)).isEmpty();
            assertThat(journal.begin(JournalContract.call("more", "key", JournalContract.NOW)))
                    .isEmpty();
        }
        assertThat(Files.size(file())).isGreaterThan(10_000);
    }
}
