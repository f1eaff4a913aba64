package dev.onlyonce.sql.internal.connections;

import dev.onlyonce.store.StoreRefused;
import dev.onlyonce.store.StoreUnavailable;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Optional;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A SQLite file and its connections: one that writes, because SQLite has one writer at a time and a lock of our own is
 * fairer than its polling, and some that read at the same time. Other processes may use the file too.
 */
public final class SqliteConnections implements Source {
    /** How long to wait for another process's write transaction. */
    private static final int BUSY_TIMEOUT_MS = 5_000;
    /** How long to wait for this process's other writers. */
    private static final int WRITER_TIMEOUT_MS = 10_000;
    /** Switching a new file to WAL needs it for oneself and does not wait by itself. */
    private static final int WAL_TRIES_MAX = 250;

    private static final long WAL_PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(20);
    private static final int BUSY = 5;

    private static final Logger log = LoggerFactory.getLogger(SqliteConnections.class);

    private final Path file;
    private final String url;
    private final ReentrantLock writing = new ReentrantLock();
    private final ConcurrentLinkedQueue<Connection> readers = new ConcurrentLinkedQueue<>();
    private @Nullable Connection writer; // guarded by writing
    private volatile boolean closed;
    /** Which file it was when it was first opened; empty before that, and where files have no identity. */
    private volatile Optional<Object> identity = Optional.empty();

    /** Held while connections are opened and closed: the last one to close removes the write-ahead log. */
    private final Object lifecycle = new Object();

    private final Path writeAheadLog;
    private int open; // guarded by lifecycle
    /** Which file the write-ahead log is; empty while there is none. */
    private volatile Optional<Object> logIdentity = Optional.empty(); // written with lifecycle held

    public SqliteConnections(Path file) {
        this.file = file.toAbsolutePath();
        this.writeAheadLog = Path.of(this.file + "-wal");
        url = "jdbc:sqlite:" + this.file;
    }

    @Override
    public Borrowed borrow(Use use) throws SQLException {
        if (closed) {
            throw new StoreUnavailable("the store is closed", null);
        }
        if (identity.isPresent() && !identity.equals(identity(file))) {
            throw new StoreRefused(
                    "the database " + file
                            + " was removed or replaced while it was in use: what is written now would be lost."
                            + " Put the file back, or restart with the new one if its keys are known",
                    null);
        }
        if (isLogLost()) {
            throw new StoreRefused(
                    "the write-ahead log " + writeAheadLog
                            + " was removed or replaced while it was in use: what is written now would"
                            + " be lost. Stop the program in an orderly way, which saves what the log has, and start it again",
                    null);
        }
        return use == Use.READ ? borrowReader() : borrowWriter();
    }

    /** SQLite goes on with a file that has no name any more, and a restart would begin with an empty one. */
    private static Optional<Object> identity(Path file) {
        try {
            return Optional.ofNullable(
                    Files.readAttributes(file, BasicFileAttributes.class).fileKey());
        } catch (IOException e) {
            return Optional.empty();
        }
    }

    /** SQLite goes on with that too, and a crash would lose everything since the last checkpoint. */
    private boolean isLogLost() {
        Optional<Object> known = logIdentity;
        if (known.isPresent() && known.equals(identity(writeAheadLog))) {
            return false;
        }
        synchronized (lifecycle) {
            if (logIdentity.isEmpty() && open > 0) {
                logIdentity = identity(writeAheadLog);
            }
            return logIdentity.isPresent() && !logIdentity.equals(identity(writeAheadLog));
        }
    }

    private Borrowed borrowWriter() throws SQLException {
        try {
            if (!writing.tryLock(WRITER_TIMEOUT_MS, TimeUnit.MILLISECONDS)) {
                throw new StoreUnavailable("other threads have been writing for " + WRITER_TIMEOUT_MS + " ms", null);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new StoreUnavailable("interrupted while waiting for the writer", e);
        }
        try {
            Connection connection = writer == null ? connect() : writer;
            writer = connection;
            return new Writer(connection);
        } catch (Throwable e) {
            // After an Error too: nobody would write any more.
            writing.unlock();
            throw e;
        }
    }

    private Borrowed borrowReader() throws SQLException {
        Connection idle = readers.poll();
        return new Reader(idle == null ? connect() : idle);
    }

    private Connection connect() throws SQLException {
        synchronized (lifecycle) {
            Connection connection = configured();
            open++;
            return PreparedOnce.on(connection);
        }
    }

    private Connection configured() throws SQLException {
        Connection connection = DriverManager.getConnection(url);
        try (Statement statement = connection.createStatement()) {
            statement.execute("PRAGMA busy_timeout = " + BUSY_TIMEOUT_MS);
            writeAhead(statement);
            statement.execute("PRAGMA synchronous = FULL");
            if (identity.isEmpty()) {
                identity = identity(file);
            }
            return connection;
        } catch (Throwable e) {
            connection.close();
            throw e;
        }
    }

    private static void writeAhead(Statement statement) throws SQLException {
        for (int tries = 1; ; tries++) {
            try {
                statement.execute("PRAGMA journal_mode = WAL");
                return;
            } catch (SQLException e) {
                if ((e.getErrorCode() & 0xff) != BUSY || tries == WAL_TRIES_MAX) {
                    throw e;
                }
                LockSupport.parkNanos(WAL_PAUSE_NANOS);
            }
        }
    }

    @Override
    public void close() {
        closed = true;
        for (Connection reader = readers.poll(); reader != null; reader = readers.poll()) {
            end(reader);
        }
        writing.lock();
        try {
            if (writer != null) {
                end(writer);
                writer = null;
            }
        } finally {
            writing.unlock();
        }
    }

    private void end(Connection connection) {
        synchronized (lifecycle) {
            try {
                connection.close();
            } catch (SQLException e) {
                log.debug("A connection could not be closed", e);
            }
            open--;
            if (open == 0) {
                logIdentity = Optional.empty();
            }
        }
    }

    private final class Writer implements Borrowed {
        private final Connection connection;

        Writer(Connection connection) {
            this.connection = connection;
        }

        @Override
        public Connection connection() {
            return connection;
        }

        @Override
        public void giveBack(boolean healthy) {
            try {
                if (!healthy || closed) {
                    writer = null;
                    end(connection);
                }
            } finally {
                writing.unlock();
            }
        }
    }

    private final class Reader implements Borrowed {
        private final Connection connection;

        Reader(Connection connection) {
            this.connection = connection;
        }

        @Override
        public Connection connection() {
            return connection;
        }

        @Override
        public void giveBack(boolean healthy) {
            if (!healthy || closed) {
                end(connection);
            } else {
                readers.add(connection);
                if (closed) {
                    SqliteConnections.this.close();
                }
            }
        }
    }
}
