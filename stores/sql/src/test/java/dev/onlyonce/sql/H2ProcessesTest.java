package dev.onlyonce.sql;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariDataSource;
import dev.onlyonce.store.ClaimRequest;
import dev.onlyonce.store.ClaimResult;
import dev.onlyonce.store.Entry;
import dev.onlyonce.store.EntryQuery;
import dev.onlyonce.store.SettleResult;
import dev.onlyonce.store.State;
import dev.onlyonce.store.StoreException;
import dev.onlyonce.store.StoreUnavailable;
import java.io.BufferedReader;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.sql.DriverManager;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@Order(1)
@DisplayName("H2 with several processes on one file")
final class H2ProcessesTest {
    private static final int ACKNOWLEDGED = 300;
    private static final int SHARED = 60;

    @TempDir
    private Path folder;

    @Test
    @DisplayName("E4 R3 D1 a process that is killed at any moment loses nothing that it was told is recorded")
    void killed() throws Exception {
        String url = "jdbc:h2:file:" + folder.resolve("entries");
        Process process = start(url);
        List<String> acknowledged = new ArrayList<>();
        try (BufferedReader reader = process.inputReader(StandardCharsets.UTF_8)) {
            for (String line = reader.readLine(); line != null; line = reader.readLine()) {
                if (acknowledged.size() == ACKNOWLEDGED) {
                    // Not by the process, which would close what it has written as well.
                    process.toHandle().destroyForcibly();
                }
                if (line.startsWith("settled ")) {
                    acknowledged.add(line.substring("settled ".length()));
                }
            }
        } finally {
            process.destroyForcibly();
        }
        assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
        assertThat(acknowledged).hasSizeGreaterThanOrEqualTo(ACKNOWLEDGED);
        // The last line may have been cut off.
        acknowledged.remove(acknowledged.size() - 1);
        try (HikariDataSource pool = Pools.open(url, 4);
                SqlStore store = SqlStore.open(pool)) {
            for (String key : acknowledged) {
                assertThat(store.find(List.of(Claims.id(key))).get(0))
                        .as(key)
                        .get()
                        .extracting(Entry::state)
                        .isEqualTo(State.COMPLETED);
            }
        }
    }

    @Test
    @DisplayName("E2 a second process is refused, and learns why and what to do")
    void second() throws Exception {
        String url = "jdbc:h2:file:" + folder.resolve("entries");
        Process process = start(url);
        try (BufferedReader reader = process.inputReader(StandardCharsets.UTF_8)) {
            assertThat(reader.readLine()).isNotNull();
            assertThatThrownBy(() -> SqlStore.open(Sources.of(() -> DriverManager.getConnection(url))))
                    .isInstanceOf(StoreUnavailable.class)
                    .hasMessageContaining("one process at a time")
                    .hasMessageContaining("AUTO_SERVER=TRUE");
        } finally {
            process.destroyForcibly();
        }
    }

    @Test
    @DisplayName(
            "C1 of two processes that share a file by AUTO_SERVER exactly one wins each key; the other goes on alone after a kill")
    void autoServer() throws Exception {
        String url = "jdbc:h2:file:" + folder.resolve("entries") + ";AUTO_SERVER=TRUE";
        Process process = start(url);
        int won = 0;
        int lost = 0;
        try (BufferedReader reader = process.inputReader(StandardCharsets.UTF_8)) {
            assertThat(reader.readLine()).isNotNull();
            try (HikariDataSource pool = Pools.open(url, 4);
                    SqlStore store = SqlStore.open(pool)) {
                // Both count up; this one starts behind and overtakes, or is overtaken: each key has one owner.
                for (int i = 0; i < SHARED; i++) {
                    ClaimRequest claim = Claims.claim("key" + i);
                    ClaimResult result = store.claim(List.of(claim)).get(0);
                    if (result instanceof ClaimResult.Claimed) {
                        won++;
                        store.settle(Claims.complete(List.of(claim)));
                    } else {
                        lost++;
                    }
                }
                process.destroyForcibly();
                assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
                assertThat(afterwards(store, Claims.claim("afterwards"))).isInstanceOf(ClaimResult.Claimed.class);
                assertThat(store.list(EntryQuery.all(1000)))
                        .allSatisfy(entry -> assertThat(entry.attempt()).isEqualTo(1));
            }
        } finally {
            process.destroyForcibly();
        }
        assertThat(won + lost).isEqualTo(SHARED);
        assertThat(lost).as("keys of the other process").isPositive();
    }

    /** The connections to the process that was killed are lost; the next ones open the file. */
    private static ClaimResult afterwards(SqlStore store, ClaimRequest claim) {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
        while (true) {
            try {
                return store.claim(List.of(claim)).get(0);
            } catch (StoreException e) {
                assertThat(System.nanoTime()).as(e.toString()).isLessThan(deadline);
                Thread.onSpinWait();
            }
        }
    }

    private Process start(String url) throws IOException {
        String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
        Path errors = folder.resolve("errors.log");
        return new ProcessBuilder(
                        java,
                        "-XX:TieredStopAtLevel=1",
                        "-Dh2.bindAddress=127.0.0.1",
                        "-cp",
                        System.getProperty("java.class.path"),
                        H2ProcessesTest.class.getName(),
                        url)
                .redirectError(errors.toFile())
                .start();
    }

    /** The other process: claims and settles one key after the other, and says so, until it is killed. */
    public static void main(String[] arguments) throws IOException {
        try (HikariDataSource pool = Pools.open(arguments[0], 4);
                SqlStore store = SqlStore.open(pool);
                FileOutputStream out = new FileOutputStream(FileDescriptor.out)) {
            for (int i = 0; ; i++) {
                ClaimRequest claim = Claims.claim("key" + i);
                if (store.claim(List.of(claim)).get(0) instanceof ClaimResult.Claimed
                        && store.settle(Claims.complete(List.of(claim))).get(0) instanceof SettleResult.Settled) {
                    out.write(("settled key" + i + "\n").getBytes(StandardCharsets.UTF_8));
                }
            }
        }
    }
}
