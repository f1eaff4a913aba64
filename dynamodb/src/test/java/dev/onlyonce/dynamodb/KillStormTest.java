package dev.onlyonce.dynamodb;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onlyonce.Key;
import dev.onlyonce.store.Entry;
import dev.onlyonce.store.State;
import dev.onlyonce.testservers.DynamoDbServer;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;
import software.amazon.awssdk.services.dynamodb.DynamoDbAsyncClient;

@DisplayName("Nodes on DynamoDB that are killed")
@DisabledIfSystemProperty(named = DynamoDbServer.PROPERTY, matches = "false", disabledReason = "-Ddynamodb.local=false")
class KillStormTest {
    private static final int KILLS = 6;

    @TempDir
    Path folder;

    private Process node(String endpoint, long seed) throws IOException {
        String classPath = System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));
        return new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-Xmx256m",
                        "-XX:TieredStopAtLevel=1",
                        "-cp",
                        classPath,
                        StormNode.class.getName(),
                        endpoint,
                        Long.toString(seed))
                .redirectErrorStream(true)
                .redirectOutput(folder.resolve("node-" + seed + ".log").toFile())
                .start();
    }

    @Test
    @DisplayName("C1 W1 take effect at most once when leased, exactly once in a transaction, and leave no claim behind")
    void storm() throws Exception {
        long seed = new Random().nextLong(1_000_000);
        Random random = new Random(seed);
        try (DynamoDbServer server = DynamoDbServer.start();
                DynamoDbStore store = StormNode.store(server.endpoint(), true);
                DynamoDbAsyncClient client = BusinessTables.client(server.endpoint())) {
            BusinessTables.create(client, StormNode.EFFECTS);
            for (int kill = 0; kill < KILLS; kill++) {
                Process node = node(server.endpoint(), seed + kill);
                awaitWork(store, node, (kill + 1) * StormNode.KEYS / (KILLS + 2) + random.nextInt(20));
                node.destroyForcibly().waitFor();
            }
            Process last = node(server.endpoint(), seed + KILLS);
            assertThat(last.waitFor(3, TimeUnit.MINUTES)).isTrue();
            assertThat(last.exitValue()).as("seed %s", seed).isZero();
            int unknown = 0;
            for (Key key : StormNode.keys()) {
                Entry entry = store.find(List.of(key.entryId())).get(0).orElseThrow();
                int effects = StormNode.effects(client, key);
                boolean leased = key.operation().equals(StormNode.LEASED);
                unknown += entry.state() == State.UNKNOWN ? 1 : 0;
                assertThat(effects).as("%s, seed %s", entry, seed).isBetween(leased ? 0 : 1, 1);
                assertThat(entry.state()).as("%s, seed %s", entry, seed).isIn(State.COMPLETED, State.UNKNOWN);
                assertThat(effects == 1 || entry.state() == State.UNKNOWN)
                        .as("%s, seed %s", entry, seed)
                        .isTrue();
                assertThat(leased || entry.state() == State.COMPLETED)
                        .as("%s, seed %s", entry, seed)
                        .isTrue();
            }
            // A node works on one key at a time, so each kill leaves at most one in doubt.
            assertThat(unknown).as("seed %s", seed).isLessThanOrEqualTo(KILLS);
        }
    }

    /** Until this many keys have an entry, or the node has done everything. */
    private static void awaitWork(DynamoDbStore store, Process node, int entries) throws InterruptedException {
        while (store.countStored(null, entries) < entries && !node.waitFor(20, TimeUnit.MILLISECONDS)) {
            assertThat(node.isAlive() || node.exitValue() == 0).isTrue();
        }
    }
}
