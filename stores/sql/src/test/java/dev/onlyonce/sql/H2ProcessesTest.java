package dev.onlyonce.sql;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariDataSource;
import dev.onlyonce.store.StoreUnavailable;
import java.io.BufferedReader;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.sql.DriverManager;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@Order(1)
@DisplayName("H2 with two processes on one file")
final class H2ProcessesTest {
    @TempDir
    private Path folder;

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
                    .hasMessageContaining("use a database server");
        } finally {
            process.destroyForcibly();
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

    /** The other process: has the file, and says so, until it is killed. */
    public static void main(String[] arguments) throws IOException {
        try (HikariDataSource pool = Pools.open(arguments[0], 4);
                SqlStore store = SqlStore.open(pool);
                FileOutputStream out = new FileOutputStream(FileDescriptor.out)) {
            out.write("open\n".getBytes(StandardCharsets.UTF_8));
            while (System.in.read() >= 0) {
                store.find(List.of(Claims.id("key")));
            }
        }
    }
}
