package dev.onlyonce.testservers;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@DisplayName("The guard of a server")
class GuardTest {
    /** A server that says who it is. */
    private static final List<String> SERVER = List.of("sh", "-c", "echo $$ $PPID; exec sleep 600");

    @TempDir
    Path folder;

    @ParameterizedTest
    @ValueSource(strings = {"TERM", "INT", "HUP"})
    @DisplayName("ends its server if a signal to a whole group of processes ends it first")
    void group(String signal) throws Exception {
        Path log = folder.resolve("log");
        ServerProcess server = new ServerProcess("Sleep", SERVER, log, "KILL", null);
        server.start(() -> hasSpoken(log), Duration.ZERO);
        String[] ids = Files.readString(log).strip().split(" ", -1);
        ProcessHandle sleeping = ProcessHandle.of(Long.parseLong(ids[0])).orElseThrow();
        assertThat(ServerProcess.succeeds("kill", "-" + signal, ids[1])).isTrue();
        sleeping.onExit().get(1, TimeUnit.MINUTES);
        assertThat(sleeping.isAlive()).isFalse();
        server.signal("KILL");
    }

    private static boolean hasSpoken(Path log) {
        try {
            return Files.exists(log) && Files.readString(log).endsWith("\n");
        } catch (IOException e) {
            return false;
        }
    }
}
