package dev.onlyonce.testservers;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * PostgreSQL for tests: a primary whose commits wait for one standby. Neither waits for the disk: what they acknowledged survives the
 * death of their processes, not that of the machine.
 */
public final class PostgresPair implements AutoCloseable {
    private static final String STANDBYS = "SELECT count(*) FROM pg_stat_replication";
    private static final String SYNCHRONOUS = STANDBYS + " WHERE sync_state = 'sync'";
    private static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(20);
    private static final long PATIENCE_NANOS = TimeUnit.MINUTES.toNanos(2);

    private final Path home;
    private final DatabaseServer primary;
    private final DatabaseServer standby;

    private PostgresPair(Path home, DatabaseServer primary, DatabaseServer standby) {
        this.home = home;
        this.primary = primary;
        this.standby = standby;
    }

    /** Starts both, and returns when commits wait for the standby and get their answer. */
    public static PostgresPair start() {
        Path home = Folders.temporary("onlyonce-postgres-pair");
        Path first = Folders.create(home.resolve("primary"));
        Path second = home.resolve("standby");
        PostgresServer.initialise(first);
        PostgresServer.copy(first, second);
        try {
            Files.createFile(second.resolve("data").resolve("standby.signal"));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        DatabaseServer primary = PostgresServer.start(
                first, "fsync=off", "full_page_writes=off", "synchronous_standby_names=standby", "wal_keep_size=256");
        String port = primary.jdbcUrl("postgres").replaceAll(".*:(\\d+)/.*", "$1");
        DatabaseServer standby = PostgresServer.start(
                second,
                "fsync=off",
                "full_page_writes=off",
                "wal_retrieve_retry_interval=100",
                "primary_conninfo=host=127.0.0.1 port=" + port + " user=postgres application_name=standby");
        PostgresPair pair = new PostgresPair(home, primary, standby);
        pair.await(SYNCHRONOUS, 1);
        return pair;
    }

    /** The server that takes writes at first. */
    public DatabaseServer primary() {
        return primary;
    }

    /** The server that commits wait for; it can be read. */
    public DatabaseServer standby() {
        return standby;
    }

    /** Takes the standby away: from here on commits of the primary wait. */
    public void cutOff() {
        standby.kill();
        // Its children notice only now that it is gone, and one of them may still be answering.
        await(STANDBYS, 0);
    }

    /** Brings the standby back, and returns when it has caught up. */
    public void rejoin() {
        standby.restart();
        await(SYNCHRONOUS, 1);
    }

    /** Kills the primary, and has the standby take its place; whatever the primary alone has is gone. */
    public void failOver() {
        primary.kill();
        standby.restart();
        try (Connection connection = DriverManager.getConnection(standby.jdbcUrl("postgres"));
                Statement statement = connection.createStatement()) {
            statement.execute("SELECT pg_promote()");
        } catch (SQLException e) {
            throw new IllegalStateException("the standby cannot be promoted", e);
        }
    }

    private void await(String count, int wanted) {
        long begun = System.nanoTime();
        try (Connection connection = DriverManager.getConnection(primary.jdbcUrl("postgres"));
                Statement statement = connection.createStatement()) {
            while (System.nanoTime() - begun < PATIENCE_NANOS) {
                try (ResultSet row = statement.executeQuery(count)) {
                    row.next();
                    if (row.getInt(1) == wanted) {
                        return;
                    }
                }
                LockSupport.parkNanos(PAUSE_NANOS);
            }
        } catch (SQLException e) {
            throw new IllegalStateException("the primary does not answer", e);
        }
        throw new IllegalStateException("not " + wanted + " after two minutes: " + count);
    }

    @Override
    public void close() {
        primary.close();
        standby.close();
        Folders.delete(home);
    }
}
