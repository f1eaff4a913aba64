package dev.onlyonce.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onlyonce.server.cli.Cli;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("A back-up of a running gateway's database")
class BackupTest extends AdminFixture {

    @Test
    @DisplayName("R1 has every key that was answered before it began, and a gateway on it replays them")
    void restored() throws Exception {
        AtomicBoolean stopped = new AtomicBoolean();
        AtomicInteger written = new AtomicInteger();
        Thread traffic = new Thread(() -> {
            while (!stopped.get()) {
                written.incrementAndGet();
                gateway.begin("/orders", "traffic-" + written.get()).join();
            }
        });
        String first = gateway.post("/orders", "before", "{}").body();
        traffic.start();
        Path copy = folder.resolve("copies").resolve("monday.db");
        Files.createDirectory(copy.getParent());
        Result made;
        try {
            made = runAlone("backup", "--data", gateway.data().toString(), copy.toString());
        } finally {
            stopped.set(true);
            traffic.join();
        }
        assertThat(made.err()).isEmpty();
        assertThat(made.exitCode()).isEqualTo(Cli.OK);
        assertThat(made.out()).contains("Copied ", " keys, ");
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(copy)))
                .isEqualTo("rw-------");
        assertThat(copy.resolveSibling("monday.db.partial")).doesNotExist();

        Path other = Files.createDirectory(folder.resolve("other"));
        try (Running restored = Running.start(other, upstream.url(), "store: {url: \"jdbc:sqlite:" + copy + "\"}\n")) {
            int effects = upstream.effects();
            assertThat(restored.post("/orders", "before", "{}").body()).isEqualTo(first);
            assertThat(upstream.effects()).as("replayed").isEqualTo(effects);
        }
    }

    @Test
    @DisplayName("replaces no file, copies no server's database, and says where it looked")
    void refuses() throws Exception {
        Path there = Files.writeString(folder.resolve("there.db"), "precious");
        Result replaced = runAlone("backup", "--data", gateway.data().toString(), there.toString());
        assertThat(replaced.exitCode()).isEqualTo(Cli.USAGE);
        assertThat(replaced.err()).contains("a back-up replaces nothing");
        assertThat(there).hasContent("precious");
        String copy = folder.resolve("copy.db").toString();
        Result server = runAlone("backup", "--db", "jdbc:postgresql://127.0.0.1/x", copy);
        assertThat(server.exitCode()).isEqualTo(Cli.USAGE);
        assertThat(server.err()).contains("pg_dump");
        Result nothing = runAlone("backup", "--data", folder.resolve("nowhere").toString(), copy);
        assertThat(nothing.exitCode()).isEqualTo(Cli.UNAVAILABLE);
        assertThat(nothing.err()).contains("nowhere", "--data or --db");
        Path empty = Files.createFile(folder.resolve("empty.db"));
        Result foreign = runAlone("backup", "--db", "jdbc:sqlite:" + empty, copy);
        assertThat(foreign.exitCode()).isEqualTo(Cli.FAILED);
        assertThat(Path.of(copy)).doesNotExist();
        Result noFolder = runAlone(
                "backup",
                "--data",
                gateway.data().toString(),
                folder.resolve("no/copy.db").toString());
        assertThat(noFolder.exitCode()).isEqualTo(Cli.FAILED);
    }
}
