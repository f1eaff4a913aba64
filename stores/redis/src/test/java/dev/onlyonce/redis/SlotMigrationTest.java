package dev.onlyonce.redis;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onlyonce.Onlyonce;
import dev.onlyonce.store.ClaimRequest;
import dev.onlyonce.store.ClaimResult;
import dev.onlyonce.store.OnLeaseLost;
import dev.onlyonce.store.SettleResult;
import dev.onlyonce.store.Settlement;
import dev.onlyonce.store.State;
import dev.onlyonce.store.Terms;
import dev.onlyonce.testservers.RedisCluster;
import io.lettuce.core.RedisClient;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.api.sync.RedisCommands;
import io.lettuce.core.cluster.SlotHash;
import io.lettuce.core.codec.ByteArrayCodec;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** Slots that move from one master to another while they are used. */
@DisplayName("A Redis cluster whose slots move")
class SlotMigrationTest {
    private static final Partitions PARTITIONS = new Partitions("onlyonce", Partitions.COUNT_CLUSTER);
    private static final int MASTERS = 3;
    private static final int SLOTS = 16_384;

    private final List<Node> nodes = new ArrayList<>();
    private RedisCluster cluster;

    private record Node(
            String id,
            int port,
            RedisClient client,
            StatefulRedisConnection<byte[], byte[]> connection,
            RedisCommands<byte[], byte[]> commands) {}

    @BeforeEach
    void start() {
        cluster = RedisCluster.start();
        for (int i = 0; i < MASTERS; i++) {
            var server = cluster.servers().get(i);
            RedisClient client = RedisClient.create(server.url());
            StatefulRedisConnection<byte[], byte[]> connection = client.connect(ByteArrayCodec.INSTANCE);
            nodes.add(new Node(connection.sync().clusterMyId(), server.port(), client, connection, connection.sync()));
        }
    }

    @AfterEach
    void stop() {
        nodes.forEach(node -> {
            node.connection().close();
            node.client().shutdown();
        });
        cluster.close();
    }

    /** A move of one partition's slot, step by step. */
    private final class Move {
        private final int slot;
        private final Node from;
        private final Node to;

        Move(int partition) {
            slot = SlotHash.getSlot(PARTITIONS.key(partition, Partitions.LEASES));
            int master = (int) (((long) slot * MASTERS) / SLOTS);
            from = nodes.get(owner(master));
            to = nodes.get((nodes.indexOf(from) + 1) % MASTERS);
        }

        /** The slot may have moved before. */
        private int owner(int first) {
            for (int i = 0; i < MASTERS; i++) {
                String shown = nodes.get(i).commands().clusterNodes();
                String own = shown.lines()
                        .filter(line -> line.contains("myself"))
                        .findFirst()
                        .orElseThrow();
                if (own.contains(" " + slot + " ") || own.endsWith(" " + slot)) {
                    return i;
                }
            }
            return first;
        }

        void begin() {
            to.commands().clusterSetSlotImporting(slot, from.id());
            from.commands().clusterSetSlotMigrating(slot, to.id());
        }

        /** Moves a key; false if none is left. A key that is on both sides fails the test. */
        boolean step() {
            List<byte[]> left = from.commands().clusterGetKeysInSlot(slot, 1);
            left.forEach(key -> from.commands().migrate("127.0.0.1", to.port(), key, 0, 5000));
            return !left.isEmpty();
        }

        void end() {
            nodes.forEach(node -> node.commands().clusterSetSlotNode(slot, to.id()));
        }
    }

    private static List<ClaimRequest> inPartition(int partition, int count, String prefix) {
        return IntStream.iterate(0, i -> i + 1)
                .mapToObj(i -> Calls.claim(prefix + i))
                .filter(claim -> PARTITIONS.of(claim.id()) == partition)
                .limit(count)
                .toList();
    }

    private static ClaimRequest again(ClaimRequest claim) {
        return Calls.claim(claim.id().key());
    }

    @Test
    @DisplayName(
            "E4 C1 claims no entry again, in whatever state, that is on the other server; each is refused or there")
    void halfMoved() {
        try (RedisStore store = RedisStore.open(cluster.url())) {
            int partition = 7;
            List<ClaimRequest> settled = new ArrayList<>();
            for (State end : List.of(State.COMPLETED, State.FAILED, State.UNKNOWN, State.EXPIRED)) {
                List<ClaimRequest> its = inPartition(partition, 3, end + "-").stream()
                        .map(claim -> end == State.EXPIRED ? withTombstone(claim) : claim)
                        .toList();
                store.claim(its);
                store.settle(its.stream().map(claim -> ended(claim, end)).toList());
                settled.addAll(its);
            }
            List<ClaimRequest> running = inPartition(partition, 6, "running-");
            List<ClaimRequest> fresh = new ArrayList<>(inPartition(partition, 40, "fresh-"));
            store.claim(running);
            List<ClaimRequest> taken = new ArrayList<>();
            Move move = new Move(partition);
            move.begin();
            int steps = 0;
            do {
                List<ClaimRequest> all = new ArrayList<>(settled);
                all.addAll(running);
                all.addAll(taken);
                for (ClaimRequest claim : all) {
                    assertThat(store.claim(List.of(again(claim))).get(0))
                            .as("step " + steps + ", " + claim.id().key())
                            .isInstanceOfAny(ClaimResult.Existing.class, ClaimResult.Unavailable.class);
                    // A look-up needs one key and follows it.
                    assertThat(store.find(List.of(claim.id())).get(0))
                            .as("step " + steps + ", " + claim.id().key())
                            .isPresent();
                }
                assertThat(store.claim(
                                all.stream().map(SlotMigrationTest::again).toList()))
                        .as("step " + steps)
                        .doesNotHaveAnyElementsOfTypes(ClaimResult.Claimed.class);
                ClaimRequest first = fresh.remove(0);
                if (store.claim(List.of(first)).get(0) instanceof ClaimResult.Claimed) {
                    taken.add(first);
                }
                store.sweep(100);
                store.purge(100);
                steps++;
            } while (move.step());
            assertThat(steps).isGreaterThan(18);
            move.end();

            assertThat(Calls.untilTaken(() -> settled(store, running)))
                    .hasOnlyElementsOfType(SettleResult.Settled.class);
            assertThat(store.claim(
                            settled.stream().map(SlotMigrationTest::again).toList()))
                    .hasOnlyElementsOfType(ClaimResult.Existing.class);
            assertThat(store.claim(fresh)).hasOnlyElementsOfType(ClaimResult.Claimed.class);
        }
    }

    /** Expires at once. */
    private static ClaimRequest withTombstone(ClaimRequest claim) {
        Terms terms = new Terms(Duration.ofMinutes(5), OnLeaseLost.UNKNOWN, Duration.ZERO, Duration.ofHours(1));
        return new ClaimRequest(
                claim.id(), claim.operation(), claim.fingerprint(), claim.token(), claim.owner(), terms, claim.start());
    }

    private static Settlement ended(ClaimRequest claim, State end) {
        State to = end == State.EXPIRED ? State.COMPLETED : end;
        return Settlement.of(claim.id(), claim.token(), to, Optional.empty(), "done");
    }

    private static List<SettleResult> settled(RedisStore store, List<ClaimRequest> claims) {
        return store.settle(claims.stream().map(Calls::completed).toList());
    }

    @Test
    @DisplayName("E4 C1 R3 under load runs nothing twice, and answers everything")
    void load() throws Exception {
        int keys = 2500;
        try (RedisStore store = RedisStore.open(cluster.url());
                Onlyonce once = Onlyonce.builder(store)
                        .cacheBytesMax(0)
                        .lease(Duration.ofMinutes(1))
                        .build();
                Customers customers = new Customers(once, 8, keys)) {
            customers.awaitAsked(200);
            int moved = 0;
            for (int partition = 0; partition < PARTITIONS.count() && customers.isBusy(); partition++) {
                Move move = new Move(partition);
                move.begin();
                while (move.step()) {
                    // Until all keys have moved.
                }
                move.end();
                moved++;
            }
            customers.awaitDone();
            assertThat(moved).isGreaterThan(5);
            customers.check(keys);
        }
    }
}
