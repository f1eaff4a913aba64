package dev.onlyonce.testservers;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * MySQL 8 for tests, from the binaries of a Maven artifact, or MySQL at the URL in the system property or environment
 * variable {@code ONLYONCE_MYSQL_URL} (a user who may create databases). The URLs are those of MySQL's own driver; MariaDB's
 * takes them too, with {@code jdbc:mariadb:} in front.
 */
public final class MySqlServer {
    /** For the shared server, which runs thousands of small transactions: a commit goes to the file, not to the disk. */
    private static final String[] NO_SYNC = {
        "innodb-flush-log-at-trx-commit=2", "innodb-flush-method=nosync", "skip-innodb-doublewrite"
    };

    private MySqlServer() {}

    /**
     * Returns the one server of this JVM, started when first asked for and stopped when the JVM ends. It does not wait for
     * the disk: what it acknowledged survives the death of its process, not that of the machine.
     */
    public static DatabaseServer shared() {
        return Shared.SERVER;
    }

    private static final class Shared {
        private static final DatabaseServer SERVER = open();

        private static DatabaseServer open() {
            ServerUrl outside = ServerUrl.outside(ServerUrl.MYSQL);
            return outside == null ? start(NO_SYNC) : DatabaseServer.outside(outside);
        }
    }

    /** Starts a server of the caller's own, to stop, kill and restart; its data go with it. */
    public static DatabaseServer start(String... settings) {
        Path home = Folders.temporary("onlyonce-mysql");
        return start(home, home, settings);
    }

    /**
     * Starts a server of the caller's own whose data are kept in a folder of the caller's choice. A folder in which an
     * earlier server was stopped or killed goes on from there.
     *
     * @param settings as in my.cnf, e.g. {@code innodb_buffer_pool_size=1G}; they win over the defaults for tests
     */
    public static DatabaseServer start(Path home, String... settings) {
        return start(Folders.create(home), null, settings);
    }

    private static DatabaseServer start(Path home, @Nullable Path trash, String... settings) {
        Path base = Binaries.mysql();
        Path data = home.resolve("data");
        if (!Files.exists(data)) {
            copy(base.resolve(Binaries.MYSQL_EMPTY), home.resolve("draft"), data);
        }
        int port = ServerUrl.freePort();
        List<String> command = new ArrayList<>(command(base, data));
        command.addAll(List.of(
                "--tmpdir=" + Folders.create(home.resolve("tmp")),
                "--bind-address=127.0.0.1",
                "--port=" + port,
                "--socket=server.sock",
                "--mysqlx=OFF",
                "--skip-name-resolve",
                "--disable-log-bin",
                "--performance-schema=OFF",
                "--innodb-flush-log-at-trx-commit=1",
                "--max-connections=300",
                // It would make itself keys at every start.
                "--tls-version=",
                "--auto-generate-certs=OFF",
                "--caching-sha2-password-auto-generate-rsa-keys=OFF"));
        for (String setting : settings) {
            command.add("--" + setting);
        }
        ServerUrl url = new ServerUrl("jdbc:mysql://127.0.0.1:" + port, "mysql", "?user=root");
        return DatabaseServer.start(
                new DatabaseServer.Plan("MySQL", command, url, "TERM", "KILL"), home.resolve("server.log"), trash);
    }

    /** What starts and what initialises a server have in common. */
    static List<String> command(Path base, Path data) {
        List<String> command = new ArrayList<>(List.of(
                base.resolve("bin/mysqld").toString(),
                "--no-defaults",
                "--basedir=" + base,
                "--datadir=" + data,
                // The library for it is not there: see absent.c.
                "--innodb-use-native-aio=0",
                "--innodb-redo-log-capacity=64M"));
        if (Folders.isRoot()) {
            command.add("--user=root");
        }
        return command;
    }

    /** Makes the data of an empty server, which takes seconds: each server starts from a copy. */
    static void initialise(Path base, Path data) throws IOException {
        // Names of hosts are not looked up, so root at localhost is nobody who comes over TCP.
        Path users = Files.writeString(base.resolve("users.sql"), """
                CREATE USER root@'127.0.0.1';
                GRANT ALL ON *.* TO root@'127.0.0.1' WITH GRANT OPTION;
                """);
        List<String> command = new ArrayList<>(command(base, data));
        command.addAll(List.of(
                "--initialize-insecure",
                "--init-file=" + users,
                "--tls-version=",
                "--auto-generate-certs=OFF",
                "--disable-log-bin"));
        Path log = base.resolve("initialise.log");
        ServerProcess.run(command, Path.of("/dev/null"), log);
        // The server's identity: each copy makes its own.
        Files.delete(data.resolve("auto.cnf"));
    }

    static void copy(Path from, Path draft, Path to) {
        Folders.delete(draft);
        try (Stream<Path> found = Files.walk(from)) {
            for (Path path : (Iterable<Path>) found::iterator) {
                Files.copy(path, draft.resolve(from.relativize(path).toString()));
            }
            // Renamed only now, so that a folder with data always has all of them.
            Files.move(draft, to);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
