package dev.onlyonce.sql;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import dev.onlyonce.Key;
import dev.onlyonce.store.Entry;
import dev.onlyonce.store.State;
import dev.onlyonce.testkit.KillStorm;
import dev.onlyonce.testservers.DatabaseServer;
import dev.onlyonce.testservers.MySqlServer;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@DisplayName("Nodes on MySQL that are killed")
final class KillStormTest {
    private static final int KILLS = Boolean.getBoolean("onlyonce.thorough") ? 4 : 2;

    @TempDir
    private Path folder;

    @Test
    @DisplayName(
            "C1 D1 W1 E4 and the server with them: at most once when leased, exactly once in a transaction, and no claim stays")
    void storm() throws Exception {
        long seed = new Random().nextLong(1_000_000);
        Random random = new Random(seed);
        try (DatabaseServer server = MySqlServer.start();
                KillStorm storm = new KillStorm(StormNode.class, folder)) {
            String url = server.createDatabase();
            try (HikariDataSource pool = Pools.open(url, 4);
                    SqlStore store = SqlStore.open(pool)) {
                SqlClock.execute(
                        pool, "CREATE TABLE effect (id INT AUTO_INCREMENT PRIMARY KEY, name VARCHAR(100) NOT NULL)");
                Deque<Process> nodes = new ArrayDeque<>();
                nodes.add(storm.start(url, Long.toString(seed)));
                for (int kill = 1; kill <= KILLS; kill++) {
                    nodes.add(storm.start(url, Long.toString(seed + kill)));
                    int wanted = kill * StormNode.KEYS / (KILLS + 2) + random.nextInt(20);
                    storm.await(nodes.getLast(), () -> store.countStored(null, wanted) >= wanted);
                    KillStorm.kill(nodes.removeFirst());
                    if (kill == KILLS / 2) {
                        server.kill();
                        server.restart();
                    }
                }
                storm.join(nodes.removeFirst(), Duration.ofMinutes(3));
                check(store, effects(pool), seed);
            }
        }
    }

    private static void check(SqlStore store, Map<String, Integer> effects, long seed) {
        for (Key key : StormNode.keys()) {
            Entry entry = store.find(List.of(key.entryId())).get(0).orElseThrow();
            int times = effects.getOrDefault(key.value(), 0);
            boolean leased = key.operation().equals(StormNode.LEASED);
            assertThat(entry.state())
                    .as("%s, seed %s", entry, seed)
                    .isIn(leased ? List.of(State.COMPLETED, State.UNKNOWN) : List.of(State.COMPLETED));
            assertThat(times)
                    .as("effects of %s, seed %s", entry, seed)
                    .isBetween(entry.state() == State.UNKNOWN ? 0 : 1, 1);
        }
    }

    private static Map<String, Integer> effects(HikariDataSource pool) throws SQLException {
        Map<String, Integer> effects = new HashMap<>();
        try (Connection connection = pool.getConnection();
                Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery("SELECT name, COUNT(*) FROM effect GROUP BY name")) {
            while (row.next()) {
                effects.put(row.getString(1), row.getInt(2));
            }
        }
        return effects;
    }
}
