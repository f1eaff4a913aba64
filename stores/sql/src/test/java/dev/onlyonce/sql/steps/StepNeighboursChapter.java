package dev.onlyonce.sql.steps;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onlyonce.Codec;
import dev.onlyonce.Onlyonce;
import dev.onlyonce.Outcome;
import dev.onlyonce.sql.SqlClock;
import dev.onlyonce.sql.SqlStore;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import javax.sql.DataSource;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What a step's code holds up, on databases that lock rows. SQLite has one writer at a time, whatever we do. */
interface StepNeighboursChapter {
    /** Not the store's mark. */
    String LOCK_FREE = "SELECT 1 FROM onlyonce_entry WHERE fingerprint_version > 0 FOR UPDATE SKIP LOCKED";

    DataSource dataSource();

    Steps stepped();

    @Test
    @DisplayName("D11 a database step's code runs without a lock on its entry: heartbeats do not wait for it")
    default void rowIsFree() throws Exception {
        Outcome<String> outcome = stepped().execute(StepsBench.KEY, StepsBench.REQUEST, Codec.text(), steps -> {
            return steps.local("book", Codec.text(), connection -> {
                StepsBench.insert(connection);
                return "rows free to others: " + lockEntries(dataSource());
            });
        });
        assertThat(StepsBench.value(outcome)).isEqualTo("rows free to others: 1");
    }

    @ParameterizedTest
    @ValueSource(ints = {Connection.TRANSACTION_REPEATABLE_READ, Connection.TRANSACTION_SERIALIZABLE})
    @DisplayName("D3 a heartbeat during a database step does not keep it from committing, at any isolation level")
    default void heartbeatInBetween(int isolation) throws Exception {
        try (SqlStore store = SqlStore.open(isolated(dataSource(), isolation));
                Onlyonce once = Onlyonce.builder(store).build()) {
            Steps isolated = Steps.of(once);
            Outcome<String> outcome = isolated.execute(StepsBench.KEY, StepsBench.REQUEST, Codec.text(), steps -> {
                return steps.local("book", Codec.text(), connection -> {
                    StepsBench.insert(connection);
                    // Waits for nobody the first time; if the step has to lock the row, the heartbeat is the one to
                    // wait.
                    heartbeat(dataSource());
                    return "booked";
                });
            });
            assertThat(outcome).isInstanceOf(Outcome.Executed.class);
        }
        assertThat(SqlClock.number(dataSource(), "SELECT count(*) FROM effect")).isEqualTo(1);
    }

    private static DataSource isolated(DataSource pool, int isolation) {
        return (DataSource) Proxy.newProxyInstance(
                DataSource.class.getClassLoader(), new Class<?>[] {DataSource.class}, (proxy, method, arguments) -> {
                    Object answer = method.invoke(pool, arguments);
                    if (answer instanceof Connection connection) {
                        connection.setTransactionIsolation(isolation);
                    }
                    return answer;
                });
    }

    private static void heartbeat(DataSource dataSource) throws SQLException {
        try (Connection other = dataSource.getConnection()) {
            other.setAutoCommit(false);
            try (Statement statement = other.createStatement()) {
                try (ResultSet free = statement.executeQuery(LOCK_FREE)) {
                    if (!free.next()) {
                        return;
                    }
                }
                statement.execute(
                        "UPDATE onlyonce_entry SET lease_until = lease_until + 1 WHERE fingerprint_version > 0");
            }
            other.commit();
        }
    }

    /** How many entries another transaction can lock at once. */
    private static int lockEntries(DataSource dataSource) throws SQLException {
        try (Connection other = dataSource.getConnection()) {
            other.setAutoCommit(false);
            int rows = 0;
            try (Statement statement = other.createStatement();
                    ResultSet row = statement.executeQuery(LOCK_FREE)) {
                while (row.next()) {
                    rows++;
                }
            }
            other.rollback();
            return rows;
        }
    }
}
