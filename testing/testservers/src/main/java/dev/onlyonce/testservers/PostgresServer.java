package dev.onlyonce.testservers;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * PostgreSQL for tests, from the binaries of a Maven artifact, or at the URL in the system property or environment
 * variable {@code ONLYONCE_POSTGRES_URL} (a user who may create databases).
 *
 * <p>PostgreSQL refuses to run as root. Root starts it in a user namespace of its own, where it is nobody; where the system
 * forbids that, as the user nobody.
 */
public final class PostgresServer {
    private static final String NOBODY = "65534";

    /** For the shared server, which runs thousands of small transactions: a commit goes to the file, not to the disk. */
    private static final String[] NO_SYNC = {"fsync=off", "full_page_writes=off"};

    private PostgresServer() {}

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
            ServerUrl outside = ServerUrl.outside(ServerUrl.POSTGRES);
            return outside == null ? start(NO_SYNC) : DatabaseServer.outside(outside);
        }
    }

    /** Starts a server of the caller's own, to stop, kill and restart; its data go with it. */
    public static DatabaseServer start(String... settings) {
        Path home = Folders.temporary("onlyonce-postgres");
        return start(home, home, settings);
    }

    /**
     * Starts a server of the caller's own whose data are kept in a folder of the caller's choice. A folder in which an
     * earlier server was stopped or killed goes on from there.
     *
     * @param settings as in postgresql.conf, e.g. {@code shared_buffers=1GB}; they win over the defaults for tests
     */
    public static DatabaseServer start(Path home, String... settings) {
        return start(Folders.create(home), null, settings);
    }

    /** Makes the data of a server in a folder. */
    static void initialise(Path home) {
        Path initdb = Binaries.postgres().resolve("bin").resolve("initdb");
        List<String> init = new ArrayList<>(asOrdinaryUser(home));
        init.addAll(List.of(initdb.toString(), "--pgdata=" + home.resolve("data"), "--username=postgres"));
        init.addAll(List.of("--auth=trust", "--encoding=UTF8", "--locale=C", "--no-sync"));
        ServerProcess.run(init, Path.of("/dev/null"), home.resolve("server.log"));
    }

    /** Copies a folder with data; they keep their owner. */
    static void copy(Path home, Path copy) {
        List<String> command = new ArrayList<>(asOrdinaryUser(Folders.create(copy)));
        command.addAll(List.of(
                "cp",
                "-a",
                home.resolve("data").toString(),
                copy.resolve("data").toString()));
        ServerProcess.run(command, Path.of("/dev/null"), copy.resolve("server.log"));
    }

    private static DatabaseServer start(Path home, @Nullable Path trash, String... settings) {
        Path bin = Binaries.postgres().resolve("bin");
        Path data = home.resolve("data");
        Path log = home.resolve("server.log");
        List<String> user = asOrdinaryUser(home);
        if (!Files.exists(data)) {
            initialise(home);
        }
        int port = ServerUrl.freePort();
        List<String> command = new ArrayList<>(user);
        command.addAll(List.of(bin.resolve("postgres").toString(), "-D", data.toString(), "-p", String.valueOf(port)));
        for (String setting : List.of(
                "listen_addresses=127.0.0.1",
                "unix_socket_directories=",
                "fsync=on",
                "synchronous_commit=on",
                "full_page_writes=on",
                "max_connections=300",
                "log_timezone=UTC")) {
            command.addAll(List.of("-c", setting));
        }
        for (String setting : settings) {
            command.addAll(List.of("-c", setting));
        }
        ServerUrl url = new ServerUrl("jdbc:postgresql://127.0.0.1:" + port, "postgres", "?user=postgres");
        return DatabaseServer.start(new DatabaseServer.Plan("PostgreSQL", command, url, "INT", "QUIT"), log, trash);
    }

    private static List<String> asOrdinaryUser(Path home) {
        if (!Folders.isRoot()) {
            return List.of();
        }
        if (ServerProcess.succeeds("unshare", "-U", "true")) {
            return List.of("unshare", "-U");
        }
        List<String> nobody = List.of("setpriv", "--reuid", NOBODY, "--regid", NOBODY, "--clear-groups");
        if (!ServerProcess.succeeds("setpriv", "--reuid", NOBODY, "--regid", NOBODY, "--clear-groups", "true")) {
            throw new IllegalStateException(
                    "PostgreSQL does not run as root, and neither unshare -U nor setpriv works here:"
                            + " run the tests as an ordinary user, or set " + ServerUrl.POSTGRES);
        }
        give(home);
        return nobody;
    }

    /** Makes a folder nobody's own and its parents passable. */
    private static void give(Path home) {
        try {
            Files.setAttribute(home, "unix:uid", Integer.valueOf(NOBODY));
            for (Path parent = home.toAbsolutePath().getParent(); parent != null; parent = parent.getParent()) {
                Set<PosixFilePermission> permissions = Files.getPosixFilePermissions(parent);
                if (permissions.add(PosixFilePermission.OTHERS_EXECUTE)) {
                    Files.setPosixFilePermissions(parent, permissions);
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
