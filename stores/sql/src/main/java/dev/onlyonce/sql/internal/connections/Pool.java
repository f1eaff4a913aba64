package dev.onlyonce.sql.internal.connections;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import dev.onlyonce.store.StoreRejected;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLFeatureNotSupportedException;
import java.sql.Statement;
import java.util.concurrent.atomic.AtomicReference;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The caller's DataSource. Its connections go back with the settings they came with. */
public final class Pool implements Source {
    /** A server that does not answer for this long counts as lost. Longer than any bound that the server itself keeps. */
    static final int NETWORK_TIMEOUT_MS = 15_000;

    private static final int SQLITE_ERROR = 1;

    private static final Logger log = LoggerFactory.getLogger(Pool.class);

    private final DataSource dataSource;
    private final boolean network;
    private final AtomicReference<@Nullable Connected> expected = new AtomicReference<>();
    /** Where each connection of the driver leads: asking takes MariaDB's driver 0.2 ms, and the answer does not change. */
    private final Cache<Connection, SourceCheck.Url> urls =
            Caffeine.newBuilder().weakKeys().executor(Runnable::run).build();

    /**
     * Wraps it.
     *
     * @param network whether there is one between us and the database
     */
    public Pool(DataSource dataSource, boolean network) {
        this.dataSource = dataSource;
        this.network = network;
    }

    @Override
    public Borrowed borrow(Use use) throws SQLException {
        Connection connection = dataSource.getConnection();
        try {
            boolean autoCommit = connection.getAutoCommit();
            check(connection, autoCommit);
            if (!autoCommit) {
                connection.setAutoCommit(true);
            }
            return new PooledConnection(
                    connection,
                    autoCommit,
                    network && use != Use.TRANSACTION ? boundNetwork(connection) : -1,
                    () -> evict(connection));
        } catch (Throwable e) {
            if (e instanceof SQLException) {
                evict(connection);
            }
            // After an Error too: a small pool would soon have no connection left.
            close(connection, e);
            throw e;
        }
    }

    /**
     * HikariCP takes a connection for sound that was used half a second ago, unless it knows the error. It does not know those of
     * H2: after the database was closed, it would lend a dead connection for as long as there are calls.
     */
    private void evict(Connection connection) {
        for (DataSource source : SourceCheck.chain(dataSource)) {
            try {
                source.getClass().getMethod("evictConnection", Connection.class).invoke(source, connection);
            } catch (ReflectiveOperationException | RuntimeException e) {
                log.debug("{} cannot evict a connection", source.getClass(), e);
            }
        }
    }

    private static void close(Connection connection, Throwable cause) {
        try {
            connection.close();
        } catch (SQLException e) {
            cause.addSuppressed(e);
        }
    }

    /** The last line: what {@link SourceCheck} could not see when the store was opened. Needs no round trip. */
    private void check(Connection connection, boolean autoCommit) throws SQLException {
        String place = url(connection).place(connection);
        Connected first = expected.updateAndGet(known -> known == null ? new Connected(place, autoCommit) : known);
        if (!place.equals(first.place)) {
            throw new StoreRejected(
                    "the DataSource leads to " + place + ", but led to " + first.place + " before. "
                            + SourceCheck.INSTEAD,
                    null);
        }
        if (first.autoCommit && !autoCommit) {
            throw new StoreRejected(
                    "the DataSource hands out a connection with an open transaction. " + SourceCheck.INSTEAD, null);
        }
    }

    private SourceCheck.Url url(Connection connection) throws SQLException {
        Connection driver = driver(connection);
        // What is not a pool's wrapper is new, or stands for another connection each time.
        if (driver == connection) {
            return SourceCheck.Url.of(connection);
        }
        SourceCheck.Url known = urls.getIfPresent(driver);
        if (known == null) {
            known = SourceCheck.Url.of(connection);
            urls.put(driver, known);
        }
        return known;
    }

    /** Behind a pool's wrapper, if that lets others look there. */
    static Connection driver(Connection connection) {
        try {
            return connection.unwrap(Connection.class);
        } catch (SQLException | RuntimeException e) {
            // Not every wrapper lets others look behind it.
            return connection;
        }
    }

    /** Where the first connection led, and in which mode it was. */
    private record Connected(String place, boolean autoCommit) {}

    /** Returns what to set the time-out back to; negative: it was left alone. */
    private static int boundNetwork(Connection connection) throws SQLException {
        try {
            int timeout = connection.getNetworkTimeout();
            if (timeout > 0 && timeout <= NETWORK_TIMEOUT_MS) {
                return -1;
            }
            connection.setNetworkTimeout(Runnable::run, NETWORK_TIMEOUT_MS);
            return timeout;
        } catch (SQLFeatureNotSupportedException e) {
            return -1;
        }
    }

    @Override
    public void close() {}

    private record PooledConnection(Connection connection, boolean autoCommit, int networkTimeoutMs, Runnable eviction)
            implements Borrowed {
        @Override
        public void leave() {
            eviction.run();
        }

        /** Work that failed may have left a transaction open, which the next user of the connection must not get. */
        @Override
        public void giveBack(boolean healthy) {
            try (connection) {
                if (!healthy && !connection.isClosed() && !isRolledBack()) {
                    connection.abort(Runnable::run);
                    // Its pool learns from the error that it is gone.
                    isRolledBack();
                }
                if (!connection.isClosed()) {
                    if (networkTimeoutMs >= 0) {
                        connection.setNetworkTimeout(Runnable::run, networkTimeoutMs);
                    }
                    if (!autoCommit) {
                        connection.setAutoCommit(false);
                    }
                }
            } catch (SQLException | RuntimeException e) {
                log.debug("A connection could not be given back in order", e);
            }
        }

        private boolean isRolledBack() {
            try (Statement statement = connection.createStatement()) {
                if (connection.getAutoCommit()) {
                    statement.execute("ROLLBACK");
                } else {
                    connection.rollback();
                }
                return true;
            } catch (SQLException e) {
                // SQLite calls it an error that there is nothing to roll back.
                return e.getErrorCode() == SQLITE_ERROR;
            }
        }
    }
}
