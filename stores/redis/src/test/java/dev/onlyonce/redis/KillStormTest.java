package dev.onlyonce.redis;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onlyonce.Key;
import dev.onlyonce.store.AuditRecord;
import dev.onlyonce.store.Entry;
import dev.onlyonce.store.State;
import dev.onlyonce.testservers.RedisCluster;
import dev.onlyonce.testservers.RedisServer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Several processes work on the same keys; one after the other is killed and replaced. */
@Order(1)
@DisplayName("Nodes on Redis that are killed")
class KillStormTest {
    private static final int NODES = 3;
    private static final int KILLS = Boolean.getBoolean("onlyonce.thorough") ? 4 : 2;

    @TempDir
    Path folder;

    private final List<Process> nodes = new ArrayList<>();
    private long seed = new Random().nextLong(1_000_000);

    @AfterEach
    void end() throws InterruptedException {
        for (Process node : nodes) {
            node.destroyForcibly().waitFor();
        }
    }

    @Test
    @DisplayName("C1 D1 on one server take effect at most once, and whatever is in doubt says so")
    void single() throws Exception {
        try (RedisServer server = RedisServer.start()) {
            storm(server.url());
        }
    }

    @Test
    @Tag("thorough")
    @DisplayName("C1 D1 on a cluster take effect at most once, and whatever is in doubt says so")
    void cluster() throws Exception {
        try (RedisCluster cluster = RedisCluster.start()) {
            storm(cluster.url());
        }
    }

    private Path ledger() {
        return folder.resolve("ledger");
    }

    private Process node(String url) throws IOException {
        String classPath = System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));
        seed++;
        return new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-Xmx128m",
                        "-XX:+UseSerialGC",
                        "-XX:TieredStopAtLevel=1",
                        "-cp",
                        classPath,
                        StormNode.class.getName(),
                        url,
                        ledger().toString(),
                        Long.toString(seed))
                .redirectErrorStream(true)
                .redirectOutput(folder.resolve("node-" + seed + ".log").toFile())
                .start();
    }

    private void storm(String url) throws Exception {
        Random random = new Random(seed);
        String shown = "seed " + seed;
        try (RedisStore store = StormNode.store(url)) {
            for (int i = 0; i < NODES; i++) {
                nodes.add(node(url));
            }
            for (int kill = 0; kill < KILLS; kill++) {
                awaitEntries(store, (kill + 1) * StormNode.KEYS / (KILLS + 2) + random.nextInt(20));
                int victim = random.nextInt(NODES);
                nodes.get(victim).destroyForcibly().waitFor();
                nodes.set(victim, node(url));
            }
            for (Process node : nodes) {
                assertThat(node.waitFor(2, TimeUnit.MINUTES)).as(shown).isTrue();
                assertThat(node.exitValue()).as(shown).isZero();
            }
            check(store, shown);
        }
    }

    private void check(RedisStore store, String shown) throws IOException {
        Map<String, Integer> effects = new HashMap<>();
        Files.readAllLines(ledger()).forEach(key -> effects.merge(key, 1, Integer::sum));
        int unknown = 0;
        for (Key key : StormNode.keys()) {
            Entry entry = store.find(List.of(key.entryId())).get(0).orElseThrow();
            int count = effects.getOrDefault(key.value(), 0);
            assertThat(entry.state()).as("%s, %s", entry, shown).isIn(State.COMPLETED, State.UNKNOWN);
            assertThat(count).as("%s, %s", entry, shown).isBetween(entry.state() == State.COMPLETED ? 1 : 0, 1);
            List<AuditRecord> history = store.history(key.entryId());
            assertThat(history.get(0).transition().from())
                    .as("%s, %s", entry, shown)
                    .isNull();
            assertThat(history.get(history.size() - 1).transition().to())
                    .as("%s, %s", entry, shown)
                    .isEqualTo(entry.state());
            unknown += entry.state() == State.UNKNOWN ? 1 : 0;
        }
        // A kill leaves as many as a node has threads, and a node that gets no processor for longer than its lease
        // does, too.
        assertThat(unknown).as(shown).isLessThan(StormNode.KEYS / 4);
    }

    /** Until this many keys have an entry; fails if a node has ended, which it does only when all are decided. */
    private void awaitEntries(RedisStore store, int entries) throws InterruptedException {
        while (store.countStored(null, entries) < entries) {
            for (Process node : nodes) {
                assertThat(node.waitFor(5, TimeUnit.MILLISECONDS))
                        .as("a node has ended")
                        .isFalse();
            }
        }
    }
}
