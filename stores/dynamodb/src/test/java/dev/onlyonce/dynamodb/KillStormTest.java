package dev.onlyonce.dynamodb;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onlyonce.Key;
import dev.onlyonce.store.Entry;
import dev.onlyonce.store.State;
import dev.onlyonce.testkit.KillStorm;
import dev.onlyonce.testservers.DynamoDbServer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;
import software.amazon.awssdk.services.dynamodb.DynamoDbAsyncClient;

@DisplayName("Nodes on DynamoDB that are killed")
@DisabledIfSystemProperty(named = DynamoDbServer.PROPERTY, matches = "false", disabledReason = "-Ddynamodb.local=false")
class KillStormTest {
    private static final int KILLS = Boolean.getBoolean("onlyonce.thorough") ? 4 : 2;

    @TempDir
    Path folder;

    @Test
    @DisplayName("C1 W1 take effect at most once when leased, exactly once in a transaction, and leave no claim behind")
    void storm() throws Exception {
        long seed = new Random().nextLong(1_000_000);
        Random random = new Random(seed);
        try (DynamoDbServer server = DynamoDbServer.start();
                DynamoDbStore store = StormNode.store(server.endpoint(), true);
                DynamoDbAsyncClient client = BusinessTables.client(server.endpoint());
                KillStorm storm = new KillStorm(StormNode.class, folder)) {
            BusinessTables.create(client, StormNode.EFFECTS);
            for (int kill = 0; kill < KILLS; kill++) {
                Process node = storm.start(server.endpoint(), Long.toString(seed + kill));
                int wanted = (kill + 1) * StormNode.KEYS / (KILLS + 2) + random.nextInt(20);
                storm.await(node, () -> store.countStored(null, wanted) >= wanted);
                KillStorm.kill(node);
            }
            storm.join(storm.start(server.endpoint(), Long.toString(seed + KILLS)), Duration.ofMinutes(3));
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
}
