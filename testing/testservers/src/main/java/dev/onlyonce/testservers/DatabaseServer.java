package dev.onlyonce.testservers;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.jspecify.annotations.Nullable;

/**
 * A real database server for tests, from {@link PostgresServer}, {@link MariaDbServer} or {@link MySqlServer}. An
 * acknowledged commit survives {@link #kill()} and {@link #restart()}. It cannot outlive this JVM, even if that is killed.
 *
 * <p>All methods may be called by any thread. A server at a URL given from outside is not ours to stop: there {@link
 * #stop()}, {@link #kill()} and {@link #restart()} throw {@link UnsupportedOperationException}.
 */
public final class DatabaseServer implements AutoCloseable {
    /** A killed server's children end within a second or two, on a loaded machine later. */
    private static final Duration RESTART_PATIENCE = Duration.ofSeconds(60);

    private final ServerUrl url;
    private final @Nullable Local local;
    private final ConcurrentLinkedQueue<String> created = new ConcurrentLinkedQueue<>();

    /**
     * What we know of a server that we started.
     *
     * @param stopSignal ends it in order, breaking connections
     * @param endSignal ends it at once, with all its children, when its data are not wanted any more
     * @param trash the folder to delete in the end, or null if it belongs to the caller
     */
    record Local(
            ServerProcess process,
            String stopSignal,
            String endSignal,
            @Nullable Path trash) {}

    /** What to start: a name, a command, and the signals it understands. */
    record Plan(String name, List<String> command, ServerUrl url, String stopSignal, String endSignal) {}

    private DatabaseServer(ServerUrl url, @Nullable Local local) {
        this.url = url;
        this.local = local;
    }

    static DatabaseServer outside(ServerUrl url) {
        DatabaseServer server = new DatabaseServer(url, null);
        Runtime.getRuntime().addShutdownHook(new Thread(server::close));
        return server;
    }

    static DatabaseServer start(Plan plan, Path log, @Nullable Path trash) {
        ServerProcess process = new ServerProcess(plan.name(), plan.command(), log, plan.endSignal(), trash);
        Local local = new Local(process, plan.stopSignal(), plan.endSignal(), trash);
        DatabaseServer server = new DatabaseServer(plan.url(), local);
        try {
            process.start(plan.url()::answers, Duration.ZERO);
        } catch (RuntimeException e) {
            server.close();
            throw e;
        }
        Runtime.getRuntime().addShutdownHook(new Thread(server::close));
        return server;
    }

    /** Returns the JDBC URL of a database on this server, with the user in it. */
    public String jdbcUrl(String database) {
        return url.with(database);
    }

    /** Creates an empty database with a random name and returns its JDBC URL. */
    public String createDatabase() {
        String database = url.createDatabase();
        created.add(database);
        return url.with(database);
    }

    /** Shuts down in order, breaking open connections; the data stay. Does nothing when it is down. */
    public void stop() {
        Local ours = ours();
        ours.process().signal(ours.stopSignal());
    }

    /** Ends the server with SIGKILL, as a crash would; the data stay. Does nothing when it is down. */
    public void kill() {
        ours().process().signal("KILL");
    }

    /** Starts again on the same port and data, shutting down first when it is up. Returns when it answers. */
    public void restart() {
        stop();
        ours().process().start(url::answers, RESTART_PATIENCE);
    }

    /** Ends the server for good and deletes its data if it made their folder itself; from an outside server, only drops ours. */
    @Override
    public void close() {
        if (local == null) {
            for (String database = created.poll(); database != null; database = created.poll()) {
                url.execute("DROP DATABASE " + database);
            }
            return;
        }
        local.process().signal(local.endSignal());
        if (local.trash() != null) {
            Folders.delete(local.trash());
        }
    }

    private Local ours() {
        if (local == null) {
            throw new UnsupportedOperationException(
                    "The server was given by URL, so it is not ours to stop; this test needs the bundled one");
        }
        return local;
    }
}
