package dev.onlyonce.sql;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assumptions.assumeThat;

import com.zaxxer.hikari.HikariDataSource;
import dev.onlyonce.store.ClaimRequest;
import dev.onlyonce.store.ClaimResult;
import dev.onlyonce.store.StoreRejected;
import dev.onlyonce.testservers.DatabaseServer;
import dev.onlyonce.testservers.PostgresServer;
import java.io.File;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@DisplayName("PgBouncer, where it is on the PATH,")
class PgBouncerTest {
    private static final int CLIENTS = 6;

    private static Optional<Path> program = Optional.empty();
    private static DatabaseServer server;

    @TempDir
    Path folder;

    @BeforeAll
    static void find() {
        program = Stream.of((System.getenv("PATH") + ":/usr/sbin").split(File.pathSeparator, -1))
                .map(place -> Path.of(place, "pgbouncer"))
                .filter(Files::isExecutable)
                .findFirst();
        assumeThat(program)
                .as("PgBouncer is not on the PATH: what it does is not tested")
                .isPresent();
        server = PostgresServer.start("fsync=off");
    }

    @AfterAll
    static void close() {
        if (program.isPresent()) {
            server.close();
        }
    }

    @Test
    @DisplayName("E2 works with pool_mode=session")
    void session() throws Exception {
        try (Pooler pooler = new Pooler("session");
                HikariDataSource pool = Pools.open(pooler.url, 4);
                SqlStore store = SqlStore.open(pool)) {
            List<ClaimRequest> claims = Claims.claims("session", 40);
            assertThat(store.claim(claims)).allMatch(ClaimResult.Claimed.class::isInstance);
            claims.forEach(
                    claim -> assertThat(store.find(List.of(claim.id())).get(0)).isPresent());
        }
    }

    @ParameterizedTest
    @CsvSource({"transaction, false", "transaction, true", "statement, false", "statement, true"})
    @DisplayName("D4 is refused with any other mode, also while others keep its sessions changing")
    void refused(String mode, boolean busy) throws Exception {
        try (Pooler pooler = new Pooler(mode);
                Traffic traffic = new Traffic(pooler.url, busy ? CLIENTS : 0);
                HikariDataSource pool = Pools.open(pooler.url, 4)) {
            assertThat(traffic.threads).hasSize(busy ? CLIENTS : 0);
            assertThatThrownBy(() -> SqlStore.open(pool))
                    .isInstanceOf(StoreRejected.class)
                    .hasMessageContaining("pool_mode=session");
        }
    }

    /** Other clients of the pooler. */
    private static final class Traffic implements AutoCloseable {
        private final AtomicBoolean over = new AtomicBoolean();
        private final List<Thread> threads = new ArrayList<>();

        Traffic(String url, int clients) {
            for (int i = 0; i < clients; i++) {
                Thread thread = new Thread(() -> use(url));
                thread.setDaemon(true);
                thread.start();
                threads.add(thread);
            }
        }

        private void use(String url) {
            try (Connection connection = DriverManager.getConnection(url + "&prepareThreshold=0");
                    Statement statement = connection.createStatement()) {
                while (!over.get()) {
                    statement.execute("SELECT pg_sleep(0.002)");
                }
            } catch (SQLException e) {
                // The pooler has ended.
                over.set(true);
            }
        }

        @Override
        public void close() {
            over.set(true);
        }
    }

    private final class Pooler implements AutoCloseable {
        private static final String SETTINGS = """
            [databases]
            postgres = host=127.0.0.1 port=%s user=postgres password=postgres
            [pgbouncer]
            listen_addr = 127.0.0.1
            listen_port = %d
            unix_socket_dir =
            auth_type = any
            pool_mode = %s
            ignore_startup_parameters = extra_float_digits,options,search_path
            """;

        final String url;
        private final Process process;

        Pooler(String mode) throws IOException {
            String direct = server.jdbcUrl("postgres");
            String database = direct.replaceAll(".*:(\\d+)/.*", "$1");
            int port;
            try (ServerSocket socket = new ServerSocket(0)) {
                port = socket.getLocalPort();
            }
            url = direct.replace(":" + database + "/", ":" + port + "/");
            Path place = Files.createTempDirectory(folder, mode);
            Path settings = Files.writeString(place.resolve("pgbouncer.ini"), SETTINGS.formatted(database, port, mode));
            List<String> command = new ArrayList<>(List.of(program.orElseThrow().toString()));
            if (System.getProperty("user.name").equals("root")) {
                // It does not run as root.
                for (Path each = place; each.startsWith(folder); each = each.getParent()) {
                    Files.setPosixFilePermissions(each, PosixFilePermissions.fromString("rwxr-xr-x"));
                }
                command.addAll(List.of("-u", "nobody"));
            }
            command.add(settings.toString());
            process = new ProcessBuilder(command)
                    .redirectErrorStream(true)
                    .redirectOutput(place.resolve("log").toFile())
                    .start();
            while (!listens(port)) {
                assertThat(process.isAlive())
                        .as(() -> "PgBouncer runs: " + place.resolve("log"))
                        .isTrue();
                LockSupport.parkNanos(20_000_000);
            }
        }

        private static boolean listens(int port) {
            try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
                return socket.isConnected();
            } catch (IOException e) {
                return false;
            }
        }

        @Override
        public void close() {
            process.destroyForcibly().onExit().join();
        }
    }
}
