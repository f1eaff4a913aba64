package dev.onlyonce.testservers;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * MariaDB for tests, from the binaries of a Maven artifact, or MariaDB at the URL in the system property or environment
 * variable {@code ONLYONCE_MARIADB_URL} (a user who may create databases).
 */
public final class MariaDbServer {
    /** For the shared server, which runs thousands of small transactions: a commit goes to the file, not to the disk. */
    private static final String[] NO_SYNC = {
        "innodb-flush-log-at-trx-commit=2", "innodb-flush-method=nosync", "skip-innodb-doublewrite"
    };

    private MariaDbServer() {}

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
            ServerUrl outside = ServerUrl.outside(ServerUrl.MARIADB);
            return outside == null ? start(NO_SYNC) : DatabaseServer.outside(outside);
        }
    }

    /** Starts a server of the caller's own, to stop, kill and restart; its data go with it. */
    public static DatabaseServer start(String... settings) {
        Path home = Folders.temporary("onlyonce-mariadb");
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
        Path base = Binaries.mariadb();
        Path data = home.resolve("data");
        Path log = home.resolve("server.log");
        int port = ServerUrl.freePort();
        List<String> command = new ArrayList<>(List.of(
                base.resolve("bin/mariadbd").toString(),
                "--no-defaults",
                "--basedir=" + base,
                "--datadir=" + data,
                "--tmpdir=" + Folders.create(home.resolve("tmp")),
                "--lc-messages-dir=" + base.resolve("share"),
                "--character-sets-dir=" + base.resolve("share/charsets"),
                "--innodb-flush-log-at-trx-commit=1",
                "--innodb-doublewrite=1",
                "--innodb-log-file-size=64M",
                "--max-connections=300"));
        if (Folders.isRoot()) {
            command.add("--user=root");
        }
        if (!Files.exists(data)) {
            initialise(base, command, home, data, log);
        }
        command.addAll(List.of(
                "--bind-address=127.0.0.1",
                "--port=" + port,
                "--socket=server.sock",
                "--skip-name-resolve",
                // It would make itself an RSA key at every start, which takes up to half a minute.
                "--skip-ssl"));
        for (String setting : settings) {
            command.add("--" + setting);
        }
        ServerUrl url = new ServerUrl("jdbc:mariadb://127.0.0.1:" + port, "mysql", "?user=root");
        return DatabaseServer.start(new DatabaseServer.Plan("MariaDB", command, url, "TERM", "KILL"), log, trash);
    }

    /** Does what mariadb-install-db does, without the help texts and the sys schema, so in half a second. */
    private static void initialise(Path base, List<String> command, Path home, Path data, Path log) {
        try {
            Path draft = Folders.create(home.resolve("draft"));
            List<String> bootstrap = new ArrayList<>(command);
            bootstrap.addAll(List.of("--datadir=" + draft, "--bootstrap", "--silent-startup"));
            StringBuilder sql = new StringBuilder("CREATE DATABASE mysql;\nUSE mysql;\nSET @auth_root_socket=NULL;\n");
            for (String script : List.of("system_tables", "performance_tables", "system_tables_data")) {
                sql.append(Files.readString(base.resolve("share/mariadb_" + script + ".sql")));
            }
            Path input = Files.writeString(home.resolve("initialise.sql"), sql);
            ServerProcess.run(bootstrap, input, log);
            // Renamed only now, so that a folder with data always has all of them.
            Files.move(draft, data);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
