package dev.onlyonce.testservers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What the tests of stores rely on; all servers pass it. */
interface DatabaseServerContract {
    DatabaseServer shared();

    DatabaseServer start(Path home);

    /** What identifies the server's program on its command line. */
    String program();

    @Test
    @DisplayName("fresh databases are empty and separate")
    default void freshDatabases() throws SQLException {
        String one = shared().createDatabase();
        String two = shared().createDatabase();
        execute(one, "CREATE TABLE t (a INT PRIMARY KEY)");
        execute(two, "CREATE TABLE t (a INT PRIMARY KEY)");
        execute(one, "INSERT INTO t VALUES (1)");
        assertThat(query(one, "SELECT count(*) FROM t")).isEqualTo("1");
        assertThat(query(two, "SELECT count(*) FROM t")).isEqualTo("0");
    }

    @Test
    @DisplayName("100 connections are open at once")
    default void manyConnections() throws SQLException {
        String url = shared().createDatabase();
        List<Connection> open = new ArrayList<>();
        try {
            for (int i = 0; i < 100; i++) {
                open.add(DriverManager.getConnection(url));
            }
            assertThat(open).allMatch(DatabaseServerContract::isValid);
        } finally {
            for (Connection connection : open) {
                connection.close();
            }
        }
    }

    @Test
    @DisplayName("committed rows survive kill and restart on the same URL, others do not")
    default void killAndRestart(@TempDir Path home) throws Exception {
        try (DatabaseServer server = start(home)) {
            String url = server.createDatabase();
            execute(url, "CREATE TABLE t (a INT PRIMARY KEY)");
            execute(url, "INSERT INTO t VALUES (1)");
            try (Connection open = DriverManager.getConnection(url);
                    Statement statement = open.createStatement()) {
                open.setAutoCommit(false);
                statement.execute("INSERT INTO t VALUES (2)");
                server.kill();
                assertThatThrownBy(() -> DriverManager.getConnection(url).close())
                        .isInstanceOf(SQLException.class);
            } catch (SQLException e) {
                // Closing the broken connection may fail.
            }
            server.restart();
            assertThat(query(url, "SELECT min(a), max(a) FROM t")).isEqualTo("1,1");
            server.stop();
            assertThatThrownBy(() -> DriverManager.getConnection(url).close()).isInstanceOf(SQLException.class);
            server.restart();
            assertThat(query(url, "SELECT count(*) FROM t")).isEqualTo("1");
        }
        assertThat(running(home.toString())).isEmpty();
        assertThat(home.resolve("data")).exists();
    }

    @Test
    @DisplayName("a server whose JVM was killed ends too, and its data are deleted")
    default void orphan() throws Exception {
        Path java = Path.of(System.getProperty("java.home"), "bin", "java");
        Process jvm = new ProcessBuilder(
                        java.toString(),
                        "-cp",
                        System.getProperty("java.class.path"),
                        Orphan.class.getName(),
                        program())
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        try {
            String home = jvm.inputReader().readLine();
            assertThat(running(home)).isNotEmpty();
            jvm.destroyForcibly().waitFor();
            long start = System.nanoTime();
            while (!(running(home).isEmpty() && Files.notExists(Path.of(home)))) {
                assertThat(System.nanoTime() - start)
                        .isLessThan(Duration.ofSeconds(60).toNanos());
                LockSupport.parkNanos(Duration.ofMillis(50).toNanos());
            }
        } finally {
            jvm.destroyForcibly();
        }
    }

    /** The processes with a text on their command lines, apart from this JVM. */
    static List<String> running(String text) throws IOException {
        try (var processes = Files.newDirectoryStream(Path.of("/proc"), "[0-9]*")) {
            List<String> found = new ArrayList<>();
            for (Path process : processes) {
                String command = commandLine(process);
                if (command.contains(text)
                        && !process.endsWith(
                                String.valueOf(ProcessHandle.current().pid()))) {
                    found.add(command);
                }
            }
            return found;
        }
    }

    private static String commandLine(Path process) {
        try {
            return Files.readString(process.resolve("cmdline"));
        } catch (IOException e) {
            return "";
        }
    }

    private static boolean isValid(Connection connection) {
        try {
            return connection.isValid(30);
        } catch (SQLException e) {
            return false;
        }
    }

    static void execute(String url, String sql) throws SQLException {
        try (Connection connection = DriverManager.getConnection(url);
                Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }

    /** The first row, its columns separated by commas. */
    static String query(String url, String sql) throws SQLException {
        try (Connection connection = DriverManager.getConnection(url);
                Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery(sql)) {
            assertThat(rows.next()).isTrue();
            StringBuilder row = new StringBuilder(rows.getString(1));
            for (int i = 2; i <= rows.getMetaData().getColumnCount(); i++) {
                row.append(',').append(rows.getString(i));
            }
            return row.toString();
        }
    }
}
