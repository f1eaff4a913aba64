package dev.onlyonce.sql.outbox;

import dev.onlyonce.sql.internal.connections.Connections;
import dev.onlyonce.sql.internal.connections.IdleBound;
import dev.onlyonce.sql.internal.connections.SqlDatabase;
import dev.onlyonce.sql.internal.connections.Standby;
import dev.onlyonce.sql.internal.entries.H2LockTimeout;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Bounds how long the statements of handlers wait for a lock: they run on a thread that other rows wait for. On PostgreSQL also
 * how long they run; SQLite has its busy time-out.
 */
final class LockBounds {
    private static final String POSTGRES = """
            SELECT set_config('lock_timeout', '1000', true), set_config('statement_timeout', '10000', true),
            """ + IdleBound.OWN + ",\n" + Standby.SYNCHRONOUS;

    private static final String POSTGRES_IMPATIENT = """
            SELECT set_config('lock_timeout', '20', true), set_config('statement_timeout', '10000', true),
            """ + IdleBound.OWN + ",\n" + Standby.SYNCHRONOUS;

    /** In seconds. */
    private static final String MYSQL = """
            SET @onlyonce_lock_wait = @@SESSION.innodb_lock_wait_timeout,
                @onlyonce_table_wait = @@SESSION.lock_wait_timeout,
                SESSION innodb_lock_wait_timeout = 1, SESSION lock_wait_timeout = 1""";

    /** 0 is not to wait at all; MySQL makes 1 of it. */
    private static final String MYSQL_IMPATIENT = """
            SET @onlyonce_lock_wait = @@SESSION.innodb_lock_wait_timeout,
                @onlyonce_table_wait = @@SESSION.lock_wait_timeout,
                SESSION innodb_lock_wait_timeout = 0, SESSION lock_wait_timeout = 1""";

    private static final String MYSQL_RESTORE = """
            SET SESSION innodb_lock_wait_timeout = @onlyonce_lock_wait,
                SESSION lock_wait_timeout = @onlyonce_table_wait""";

    private static final int PATIENT_MS = 1_000;
    private static final int IMPATIENT_MS = 20;

    private static final Logger log = LoggerFactory.getLogger(LockBounds.class);

    private final SqlDatabase kind;

    LockBounds(SqlDatabase kind) {
        this.kind = kind;
    }

    /**
     * Runs work in the transaction that is open.
     *
     * @param patient whether a second is not too long: many locked rows must not cost a second each
     */
    <T> T run(Connection connection, boolean patient, Connections.Work<T> work) throws SQLException {
        if (kind == SqlDatabase.SQLITE) {
            return work.run(connection);
        }
        if (kind == SqlDatabase.H2) {
            return H2LockTimeout.run(connection, patient ? PATIENT_MS : IMPATIENT_MS, work);
        }
        try (Statement statement = connection.createStatement()) {
            if (kind == SqlDatabase.POSTGRESQL) {
                statement.execute(patient ? POSTGRES : POSTGRES_IMPATIENT);
                return work.run(connection);
            }
            statement.execute(patient ? MYSQL : MYSQL_IMPATIENT);
            try {
                return work.run(connection);
            } finally {
                // It is the session's, and the connection goes back to the application's pool.
                restore(statement);
            }
        }
    }

    private static void restore(Statement statement) {
        try {
            statement.execute(MYSQL_RESTORE);
        } catch (SQLException e) {
            log.debug("A lost connection keeps its settings", e);
        }
    }
}
