package dev.onlyonce.sql;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onlyonce.store.ClaimRequest;
import dev.onlyonce.store.ClaimResult;
import dev.onlyonce.store.Entry;
import dev.onlyonce.store.EntryQuery;
import dev.onlyonce.store.Settlement;
import dev.onlyonce.store.State;
import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@DisplayName("SQLite with several processes on one file")
final class SqliteProcessesTest {
    private static final int BATCHES = 60;
    private static final int BATCH = 10;

    @TempDir
    private Path folder;

    @Test
    @DisplayName("C1 of two processes that claim the same keys exactly one wins each, and nothing is lost")
    void twoProcesses() throws Exception {
        Path file = folder.resolve("entries.db");
        Path log = folder.resolve("rival.log");
        Process rival = start(file, log);
        try {
            int won;
            try (SqlStore store = SqlStore.sqlite(file)) {
                meet(folder, "first", "second");
                won = run(store);
            }
            assertThat(rival.waitFor(120, TimeUnit.SECONDS)).isTrue();
            String output = Files.readString(log);
            assertThat(rival.exitValue()).as(output).isZero();
            int rivals = Integer.parseInt(Files.readString(folder.resolve("won")));
            assertThat(won + rivals).isEqualTo(BATCHES * BATCH);
            try (SqlStore store = SqlStore.sqlite(file)) {
                List<Entry> entries = store.list(EntryQuery.all(1000));
                assertThat(entries).hasSize(BATCHES * BATCH).allSatisfy(e -> {
                    assertThat(e.state()).isEqualTo(State.COMPLETED);
                    assertThat(e.attempt()).isEqualTo(1);
                });
            }
        } finally {
            rival.destroyForcibly();
        }
    }

    private static Process start(Path file, Path log) throws Exception {
        String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
        List<String> command = new ArrayList<>(List.of(java, "-XX:TieredStopAtLevel=1"));
        if (Runtime.version().feature() >= 24) {
            command.add("--enable-native-access=ALL-UNNAMED");
        }
        command.addAll(List.of(
                "-cp", System.getProperty("java.class.path"), SqliteProcessesTest.class.getName(), file.toString()));
        File output = log.toFile();
        return new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(output)
                .start();
    }

    /** The other process. */
    public static void main(String[] arguments) throws Exception {
        Path file = Path.of(arguments[0]);
        Path folder = file.getParent();
        try (SqlStore store = SqlStore.sqlite(file)) {
            meet(folder, "second", "first");
            Files.writeString(folder.resolve("won"), String.valueOf(run(store)));
        }
    }

    /** Waits until both are ready. */
    private static void meet(Path folder, String mine, String others) throws Exception {
        Files.createFile(folder.resolve(mine));
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
        while (!Files.exists(folder.resolve(others))) {
            assertThat(System.nanoTime()).isLessThan(deadline);
            Thread.onSpinWait();
        }
    }

    private static int run(SqlStore store) {
        int won = 0;
        for (int i = 0; i < BATCHES; i++) {
            List<ClaimRequest> claims = Claims.claims("batch" + i + "-", BATCH);
            List<ClaimResult> results = store.claim(claims);
            List<Settlement> settlements = new ArrayList<>();
            for (int j = 0; j < BATCH; j++) {
                if (results.get(j) instanceof ClaimResult.Claimed) {
                    settlements.add(Claims.settle(claims.get(j), State.COMPLETED));
                }
            }
            store.settle(settlements);
            won += settlements.size();
        }
        return won;
    }
}
