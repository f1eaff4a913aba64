package dev.onlyonce.sql.steps;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onlyonce.sql.Sources;
import dev.onlyonce.sql.SqlClock;
import dev.onlyonce.sql.SqlStore;
import dev.onlyonce.testkit.ManualTime;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.sqlite.Function;

/** Runs {@link StepsSimulation} on a SQLite file whose clock is the simulation's. */
class StepsSimulationTest {
    /** More of them: {@code -Donlyonce.stepSeeds=10000}. */
    private static final int SEEDS = Integer.getInteger("onlyonce.stepSeeds", 25);
    /** Runs this seed alone. */
    private static final String SEED = "onlyonce.seed";

    private final Deque<Connection> idle = new ArrayDeque<>();
    private final DataSource dataSource = Sources.of(this::connection);
    private ManualTime time = new ManualTime();
    private String url;

    @BeforeEach
    void create(@TempDir Path folder) {
        url = "jdbc:sqlite:" + folder.resolve("steps.db") + "?journal_mode=WAL&synchronous=FULL&busy_timeout=0";
        SqlStore.open(dataSource).close();
        SqlClock.execute(
                dataSource,
                "CREATE VIEW onlyonce_test_clock AS SELECT simulated_micros() AS micros",
                "CREATE TABLE booking (name TEXT NOT NULL)");
    }

    @AfterEach
    void close() throws SQLException {
        for (Connection connection : idle) {
            connection.close();
        }
    }

    /** Frames that lie beneath others keep theirs. */
    private Connection connection() throws SQLException {
        Connection taken = idle.isEmpty() ? open() : idle.pop();
        return Sources.proxy(Connection.class, (self, method, arguments) -> {
            if (method.getName().equals("close")) {
                idle.push(taken);
                return null;
            }
            return Sources.invoke(taken, method, arguments);
        });
    }

    private Connection open() throws SQLException {
        Connection connection = DriverManager.getConnection(url);
        Function.create(connection, "simulated_micros", new Function() {
            @Override
            protected void xFunc() throws SQLException {
                result(ChronoUnit.MICROS.between(Instant.EPOCH, time.now()));
            }
        });
        return connection;
    }

    @Test
    @DisplayName(
            "D1 D2 D8 D12 D15 whatever goes wrong, no step happens twice, and no owner goes on that was fenced out")
    void holds() throws SQLException {
        Long only = Long.getLong(SEED);
        Map<String, Integer> happened = new HashMap<>();
        for (long seed = only == null ? 1 : only; seed <= (only == null ? SEEDS : only); seed++) {
            run(seed).forEach((what, times) -> happened.merge(what, times, Integer::sum));
        }
        if (only == null) {
            assertThat(happened)
                    .as("the trouble is real")
                    .containsKeys("crash", "lost commit", "cut off", "eviction", "zombie", "refused and cut off")
                    .containsKeys("Executed", "Replayed", "Unknown", "InFlight", "LeaseLost");
        }
    }

    private Map<String, Integer> run(long seed) throws SQLException {
        time = new ManualTime();
        SqlClock.execute(
                dataSource,
                "DELETE FROM onlyonce_entry WHERE fingerprint_version > 0",
                "DELETE FROM onlyonce_audit",
                "DELETE FROM onlyonce_step",
                "DELETE FROM booking");
        try (SqlStore store = SqlClock.store(dataSource).build()) {
            StepsSimulation simulation = new StepsSimulation(seed, time, this::connection, store);
            simulation.play();
            simulation.ledger().booked(bookings());
            return simulation.happened();
        } catch (AssertionError | RuntimeException e) {
            throw new AssertionError("Run it alone with -D" + SEED + "=" + seed + ": " + e.getMessage(), e);
        }
    }

    private Map<String, Integer> bookings() throws SQLException {
        try (Connection connection = connection();
                Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery("SELECT name, count(*) FROM booking GROUP BY name")) {
            Map<String, Integer> bookings = new HashMap<>();
            while (row.next()) {
                bookings.put(row.getString(1), row.getInt(2));
            }
            return bookings;
        }
    }
}
