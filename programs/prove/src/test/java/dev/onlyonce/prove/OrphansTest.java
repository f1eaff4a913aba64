package dev.onlyonce.prove;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@DisplayName("A killed prover")
class OrphansTest {
    private static final int SECONDS_MAX = 60;

    @TempDir
    Path folder;

    /** Starts a process that does not look at its input, stops it, says which, and waits to be killed. */
    public static final class Prover {
        private Prover() {}

        public static void main(String[] arguments) throws Exception {
            long freed = new ProcessBuilder("sleep", "600").start().pid();
            long left = new ProcessBuilder("sleep", "600").start().pid();
            Orphans.guard(freed);
            Orphans.guard(left);
            Orphans.free(freed);
            new ProcessBuilder("kill", "-STOP", String.valueOf(left)).start().waitFor();
            System.out.println(freed + " " + left);
            Thread.currentThread().join();
        }
    }

    @Test
    @DisplayName("leaves no process behind, not even one that is stopped")
    void stopped() throws Exception {
        Process prover = start(Prover.class.getName());
        try (BufferedReader said =
                new BufferedReader(new InputStreamReader(prover.getInputStream(), StandardCharsets.UTF_8))) {
            String[] ids = said.readLine().split(" ", -1);
            ProcessHandle freed = ProcessHandle.of(Long.parseLong(ids[0])).orElseThrow();
            ProcessHandle left = ProcessHandle.of(Long.parseLong(ids[1])).orElseThrow();
            prover.destroyForcibly().waitFor();
            left.onExit().get(SECONDS_MAX, TimeUnit.SECONDS);
            assertThat(left.isAlive()).isFalse();
            assertThat(freed.isAlive())
                    .as("the id of a process that has ended may be another's")
                    .isTrue();
            freed.destroyForcibly();
        }
    }

    @Test
    @DisplayName("leaves no node behind that waits for its store")
    void waitingNode() throws Exception {
        NodeProgram program = NodeProgram.of("node", "jdbc:postgresql://127.0.0.1:1/none", 1, Plant.NONE, folder);
        Process node = start(program.arguments().toArray(String[]::new));
        // The end of its input, as when the prover is gone.
        node.getOutputStream().close();
        assertThat(node.waitFor(SECONDS_MAX, TimeUnit.SECONDS)).isTrue();
    }

    private static Process start(String... program) throws IOException {
        String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
        List<String> command = new ArrayList<>(List.of(java, "-Xshare:auto", "-cp", NodeProcess.build()));
        command.addAll(List.of(program));
        return new ProcessBuilder(command)
                .redirectError(ProcessBuilder.Redirect.DISCARD)
                .start();
    }
}
