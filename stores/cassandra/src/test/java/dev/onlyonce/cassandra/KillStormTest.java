package dev.onlyonce.cassandra;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onlyonce.Key;
import dev.onlyonce.store.Entry;
import dev.onlyonce.store.State;
import dev.onlyonce.testkit.EffectFile;
import dev.onlyonce.testkit.KillStorm;
import dev.onlyonce.testservers.CassandraCluster;
import dev.onlyonce.testservers.CassandraServer;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Isolated;

@Isolated("it kills a node of the cluster that the others use")
@DisplayName("Nodes on Cassandra that are killed")
class KillStormTest {
    private static final int KILLS = Boolean.getBoolean("onlyonce.thorough") ? 4 : 2;
    /** After this many of them a node of Cassandra is killed too, and stays down. */
    private static final int KILLS_BEFORE_SERVER = 1;

    private final CassandraCluster cluster = CassandraCluster.shared();
    private final String url = Keyspaces.transactions();

    @TempDir
    Path folder;

    private int started;

    private Process start(KillStorm storm, long seed) throws IOException {
        return storm.start(url, folder.resolve("effects").toString(), Long.toString(seed + started++));
    }

    @Test
    @DisplayName("D1 E4 C1 together with a server take effect at most once, and leave no key undecided")
    void storm() throws Exception {
        long seed = new Random().nextLong(1_000_000);
        Random random = new Random(seed);
        EffectFile effects = new EffectFile(folder.resolve("effects"));
        CassandraServer server = cluster.servers().get(2);
        try (CassandraStore store = CassandraStore.open(url);
                KillStorm storm = new KillStorm(StormNode.class, folder)) {
            try {
                // Two at a time: one is killed, and the other one goes on.
                Process older = start(storm, seed);
                for (int kill = 1; kill <= KILLS; kill++) {
                    Process newer = start(storm, seed);
                    int wanted = kill * StormNode.KEYS / (KILLS + 2) + random.nextInt(20);
                    storm.await(older, () -> effects.size() >= wanted);
                    KillStorm.kill(older);
                    older = newer;
                    if (kill == KILLS_BEFORE_SERVER) {
                        server.kill();
                    }
                }
                storm.join(older, Duration.ofMinutes(3));
            } finally {
                CassandraCluster.restart(server);
            }
            check(store, effects.perKey(), seed);
        }
    }

    private static void check(CassandraStore store, Map<String, Integer> effects, long seed) {
        int completed = 0;
        for (Key key : StormNode.keys()) {
            Entry entry = Calls.untilTaken(() -> store.find(List.of(key.entryId())))
                    .get(0)
                    .orElseThrow();
            int times = effects.getOrDefault(key.value(), 0);
            completed += entry.state() == State.COMPLETED ? 1 : 0;
            assertThat(times).as("%s, seed %s", entry, seed).isLessThanOrEqualTo(1);
            assertThat(entry.state()).as("%s, seed %s", entry, seed).isIn(State.COMPLETED, State.UNKNOWN);
            // What nobody knows is recorded as unknown; what is recorded as completed took place.
            assertThat(times == 1 || entry.state() == State.UNKNOWN)
                    .as("%s, seed %s", entry, seed)
                    .isTrue();
        }
        assertThat(completed).as("seed %s", seed).isGreaterThan(StormNode.KEYS / 2);
    }
}
