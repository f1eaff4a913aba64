package dev.onlyonce.client.journal;

import dev.onlyonce.client.JournalException;
import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One connection to a SQLite file.
 *
 * <ol>
 *   <li>A new journal is made beside its place, whole, and then gets its name: no process ever sees half of one, so an empty
 *       file is damage.
 *   <li>An existing one is opened only if it is marked as a journal, SQLite finds it intact, and it has the table. Nothing is ever
 *       made in a file that exists.
 *   <li>Every transaction has the write lock from its beginning, and is on disk when it has committed. Threads that wait at the same
 *       time share one, each behind a savepoint of its own.
 *   <li>Before and after each transaction, the name must still lead to the file that was opened. SQLite would go on with a file
 *       that has no name any more.
 * </ol>
 */
final class SqliteFile implements Transactions {
    private static final String DRIVER = "org.sqlite.JDBC";
    /** "Once", so that no other SQLite file is taken for a journal. */
    private static final int APPLICATION = 0x4f6e6365;

    private static final int FORMAT = 1;
    /** How long to wait for other processes: one that was stopped while it wrote must not stop us too. */
    private static final int BUSY_MILLIS = 10_000;

    private static final int BUSY = 5;
    private static final int CORRUPT = 11;
    private static final int NOT_A_DATABASE = 26;
    private static final int PRIMARY_CODE = 0xff;

    private static final Logger log = LoggerFactory.getLogger(SqliteFile.class);

    private final Path path;
    private final Connection connection;
    private final Optional<Object> identity;
    private final ReentrantLock lock = new ReentrantLock();
    private final Queue<Task<?>> waiting = new ConcurrentLinkedQueue<>();
    private boolean closed; // guarded by lock

    private SqliteFile(Path path, Connection connection, Optional<Object> identity) {
        this.path = path;
        this.connection = connection;
        this.identity = identity;
    }

    static SqliteFile open(Path file) {
        try {
            Class.forName(DRIVER);
        } catch (ClassNotFoundException e) {
            throw new JournalException(
                    "A SqliteJournal needs SQLite's driver on the class path: add org.xerial:sqlite-jdbc, or use a"
                            + " JdbcJournal in another database",
                    e);
        }
        Path path = OwnerFiles.real(file);
        if (path.toString().indexOf('?') >= 0) {
            throw new JournalException(path + " has a question mark in its name, which SQLite's driver does not take");
        }
        try {
            makeIfNone(path);
            Optional<Object> identity = OwnerFiles.identity(path);
            Connection connection = connect(path);
            try {
                check(path, connection);
                OwnerFiles.checkOwnerOnly(path);
                return new SqliteFile(path, connection, identity);
            } catch (SQLException | IOException | RuntimeException | Error e) {
                connection.close();
                throw e;
            }
        } catch (IOException e) {
            throw new JournalException(
                    "The journal " + path + " cannot be written: " + e
                            + ". Check that the directory is there and yours, and the disk's space",
                    e);
        } catch (SQLException e) {
            throw trouble(path, e);
        }
    }

    private static void makeIfNone(Path path) throws IOException, SQLException {
        Path directory = path.getParent();
        OwnerFiles.makeDirectory(directory);
        if (Files.exists(path)) {
            return;
        }
        if (Files.exists(beside(path, "-wal"))) {
            // A journal that another process makes at this moment has its name before its log.
            if (Files.exists(path)) {
                return;
            }
            throw new JournalException("The journal " + path + " is gone, but its log " + beside(path, "-wal")
                    + " is there. Put the file back, or remove the log if no call of it matters");
        }
        // Readable by its owner alone.
        Path fresh = Files.createTempFile(directory, path.getFileName() + ".", ".new");
        try {
            try (Connection connection = connect(fresh)) {
                var unused = ask(connection, "PRAGMA journal_mode = WAL");
                execute(connection, "BEGIN IMMEDIATE");
                for (String sql : JdbcDialect.SQLITE.table()) {
                    execute(connection, sql);
                }
                execute(connection, "PRAGMA application_id = " + APPLICATION);
                execute(connection, "PRAGMA user_version = " + FORMAT);
                execute(connection, "COMMIT");
            }
            name(fresh, path);
        } finally {
            Files.deleteIfExists(fresh);
        }
        OwnerFiles.sync(directory);
    }

    /** Gives the new file its name, unless another process was first. */
    private static void name(Path fresh, Path path) throws IOException {
        try {
            Files.createLink(path, fresh);
        } catch (FileAlreadyExistsException e) {
            log.debug("{} was made by another process", path);
        } catch (UnsupportedOperationException e) {
            Files.move(fresh, path);
        }
    }

    private static Connection connect(Path path) throws SQLException {
        Connection connection = DriverManager.getConnection("jdbc:sqlite:" + path);
        try {
            execute(connection, "PRAGMA busy_timeout = " + BUSY_MILLIS);
            execute(connection, "PRAGMA synchronous = FULL");
            return connection;
        } catch (SQLException e) {
            connection.close();
            throw e;
        }
    }

    private static void check(Path path, Connection connection) throws SQLException {
        if (!ask(connection, "PRAGMA application_id").equals(Integer.toString(APPLICATION))) {
            throw new JournalException(path + " is not a journal. It was left as it is; give the journal another name");
        }
        if (!ask(connection, "PRAGMA user_version").equals(Integer.toString(FORMAT))) {
            throw new JournalException(path + " was written by another release, or is damaged");
        }
        String mode = ask(connection, "PRAGMA journal_mode");
        if (!mode.equalsIgnoreCase("wal")) {
            throw damaged(path, "its head says that there is no write-ahead log");
        }
        String state = ask(connection, "PRAGMA integrity_check(1)");
        if (!state.equals("ok")) {
            throw damaged(path, state);
        }
        CallTable.probe(connection);
        // A file that cannot be written says so now, and not when the first call is made.
        execute(connection, "BEGIN IMMEDIATE");
        execute(connection, "ROLLBACK");
    }

    /** Whoever gets the lock does the work of all that wait, and syncs once for all. */
    @Override
    public <T> T run(Work<T> work) throws SQLException {
        Task<T> task = new Task<>(work);
        waiting.add(task);
        lock.lock();
        try {
            if (!task.isDone) {
                runAll();
            }
        } finally {
            lock.unlock();
        }
        return task.result();
    }

    private void runAll() {
        List<Task<?>> tasks = new ArrayList<>();
        for (Task<?> next = waiting.poll(); next != null; next = waiting.poll()) {
            tasks.add(next);
        }
        try {
            if (closed) {
                throw new JournalException("The journal " + path + " is closed");
            }
            checkIdentity();
            transaction(tasks);
            checkIdentity();
            tasks.forEach(task -> task.end(null));
        } catch (SQLException | RuntimeException | Error e) {
            tasks.forEach(task -> task.end(e));
        }
    }

    private void transaction(List<Task<?>> tasks) throws SQLException {
        execute(connection, "BEGIN IMMEDIATE");
        try {
            for (Task<?> task : tasks) {
                execute(connection, "SAVEPOINT task");
                if (!task.run(connection)) {
                    execute(connection, "ROLLBACK TO task");
                }
                execute(connection, "RELEASE task");
            }
            execute(connection, "COMMIT");
        } catch (SQLException | RuntimeException | Error e) {
            rollback(e);
            throw e;
        }
    }

    private void rollback(Throwable cause) {
        try {
            execute(connection, "ROLLBACK");
        } catch (SQLException e) {
            // After some failures SQLite has rolled back by itself.
            cause.addSuppressed(e);
        }
    }

    /** Work that waits for its turn; guarded by the lock. */
    private static final class Task<T> {
        private final Work<T> work;
        private @Nullable T result;
        private @Nullable Throwable failure;
        private boolean isDone;

        Task(Work<T> work) {
            this.work = work;
        }

        /** Whether it succeeded. */
        boolean run(Connection connection) {
            try {
                result = work.with(connection);
                return true;
            } catch (SQLException | RuntimeException | Error e) {
                failure = e;
                return false;
            }
        }

        void end(@Nullable Throwable all) {
            failure = failure == null ? all : failure;
            isDone = true;
        }

        T result() throws SQLException {
            if (failure instanceof SQLException e) {
                throw new SQLException(e.getMessage(), e.getSQLState(), e.getErrorCode(), e);
            }
            if (failure instanceof JournalException e) {
                throw new JournalException(String.valueOf(e.getMessage()), e);
            }
            if (failure != null) {
                throw new JournalException("The journal failed: " + failure, failure);
            }
            return Objects.requireNonNull(result);
        }
    }

    private void checkIdentity() {
        if (identity.isPresent() && !identity.equals(OwnerFiles.identity(path))) {
            throw new JournalException(
                    "The journal " + path + " was removed or replaced while it was in use, so nothing was sent: what is"
                            + " written now would be lost. Put the file back, or restart the application with the new one");
        }
    }

    private static void execute(Connection connection, String sql) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }

    private static String ask(Connection connection, String sql) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(sql)) {
            return row.next() ? String.valueOf(row.getString(1)) : "";
        }
    }

    private static Path beside(Path path, String suffix) {
        return path.resolveSibling(path.getFileName() + suffix);
    }

    @Override
    public JournalException trouble(SQLException failure) {
        return trouble(path, failure);
    }

    private static JournalException trouble(Path path, SQLException failure) {
        return switch (failure.getErrorCode() & PRIMARY_CODE) {
            case NOT_A_DATABASE ->
                new JournalException(path + " is not a journal, or its head is damaged. It was left as it is", failure);
            case CORRUPT -> damaged(path, String.valueOf(failure.getMessage()));
            case BUSY ->
                new JournalException(
                        "Another process has held the lock on " + path + " for " + BUSY_MILLIS / 1000
                                + " seconds, so nothing was sent; is it stopped?",
                        failure);
            default ->
                new JournalException(
                        "The journal " + path + " cannot be written, so nothing was sent: " + failure.getMessage()
                                + ". Check the disk's space and the file's owner",
                        failure);
        };
    }

    private static JournalException damaged(Path path, String how) {
        return new JournalException(
                "The journal " + path + " is damaged, so nothing was sent (" + how.strip()
                        + "). It was left as it is. Restore it from a copy, or look up its calls at the server before you use a new one");
    }

    @Override
    public void close() {
        lock.lock();
        try {
            if (!closed) {
                closed = true;
                connection.close();
            }
        } catch (SQLException e) {
            log.warn("The journal {} could not be closed", path, e);
        } finally {
            lock.unlock();
        }
    }
}
