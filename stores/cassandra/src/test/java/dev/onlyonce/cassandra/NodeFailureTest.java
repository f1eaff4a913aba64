package dev.onlyonce.cassandra;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import com.datastax.oss.driver.api.core.ConsistencyLevel;
import com.datastax.oss.driver.api.core.cql.PreparedStatement;
import dev.onlyonce.Key;
import dev.onlyonce.Onlyonce;
import dev.onlyonce.Outcome;
import dev.onlyonce.fingerprint.Fingerprint;
import dev.onlyonce.store.ClaimResult;
import dev.onlyonce.store.EntryId;
import dev.onlyonce.store.StoreBusy;
import dev.onlyonce.store.StoreException;
import dev.onlyonce.store.StoreUnavailable;
import dev.onlyonce.testservers.CassandraCluster;
import dev.onlyonce.testservers.CassandraServer;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Isolated;

/** Nodes that are killed while others work on them. */
@Isolated("it kills nodes of the cluster that the others use")
@DisplayName("A cluster of three Cassandra nodes")
class NodeFailureTest {
    private static final Fingerprint PRINT = Fingerprint.of("10 EUR".getBytes(StandardCharsets.UTF_8));
    private static final Duration NOTICED_MAX = Duration.ofMinutes(1);
    private static final Duration PAUSE = Duration.ofMillis(10);
    private static final int CALLERS = 8;
    private static final int KEYS = 300;
    private static final int LOST_KEYS = 10;
    /** Each partition is one write; a third of them goes to each node first. */
    private static final int INDEX_WRITES = 16;

    private final CassandraCluster cluster = CassandraCluster.shared();
    private final Map<String, AtomicInteger> effects = new ConcurrentHashMap<>();
    private final Map<String, String> answers = new ConcurrentHashMap<>();
    private final Queue<StoreException> failures = new ConcurrentLinkedQueue<>();
    private final ExecutorService callers = Executors.newFixedThreadPool(CALLERS);
    private volatile boolean over;

    @AfterEach
    void stop() {
        over = true;
        callers.shutdownNow();
    }

    @Test
    @DisplayName(
            "E4 C1 R3 of which one is killed under load serves on and runs nothing twice; without two it refuses; back, all is well")
    void killed() throws Exception {
        // Each entry is on one node, so a third of them cannot be used without the first.
        try (CassandraStore thin = CassandraStore.builder(cluster.url("thin"))
                        .replication(1)
                        .clock(new Standing())
                        .build();
                Onlyonce thinOnce = Onlyonce.builder(thin).cacheBytesMax(0).build();
                CassandraStore store = CassandraStore.open(Keyspaces.transactions());
                Onlyonce once = Onlyonce.builder(store)
                        .cacheBytesMax(0)
                        .lease(Duration.ofSeconds(30))
                        .build()) {
            CassandraServer first = cluster.servers().get(0);
            CassandraServer second = cluster.servers().get(1);
            // The buckets of its calendar are announced while all nodes are there.
            thin.claim(List.of(Calls.claim("before")));
            assertThat(Calls.untilTaken(() -> thinOnce.execute(key("warm"), PRINT, String.class, claim -> "paid"))
                            .orElseThrow())
                    .isEqualTo("paid");
            try {
                workWhile(once, first);
                assertThat(failures).as("what clients saw").isEmpty();
                assertThat(answers).as("answered").hasSize(KEYS);
                refusesOnlyWhatItMust(thin, thinOnce, first);

                second.kill();
                assertThatThrownBy(() -> pay(once, "refused")).isInstanceOf(StoreException.class);
                assertThat(effects).as("nothing runs without a majority").doesNotContainKey("refused");
            } finally {
                CassandraCluster.restart(first, second);
            }
            assertThat(Calls.untilTaken(() -> pay(once, "refused"))).isEqualTo("paid refused");
            effects.forEach((key, count) -> assertThat(count.get()).as(key).isEqualTo(1));
            // What was answered while a node was down is answered the same way now.
            for (var answered : answers.entrySet()) {
                Outcome<String> again =
                        Calls.untilTaken(() -> once.execute(key(answered.getKey()), PRINT, String.class, claim -> {
                            throw new AssertionError(answered.getKey() + " runs again");
                        }));
                assertThat(again.orElseThrow()).isEqualTo(answered.getValue());
            }
        }
    }

    @Test
    @DisplayName("E4 of which one hangs takes index rows: what it does not answer soon is sent to another one")
    void hangs() {
        CassandraServer frozen = cluster.servers().get(2);
        try (CassandraStore store = CassandraStore.open(Keyspaces.transactions())) {
            Link link = new Link(store.session(), ConsistencyLevel.QUORUM, ConsistencyLevel.SERIAL);
            Indexes indexes = new Indexes(link, () -> 0);
            long now = new ClusterClock(store.session()).now();
            List<IndexRow> rows = new ArrayList<>();
            for (int shard = 0; shard < INDEX_WRITES; shard++) {
                EntryId id = Calls.claim("hangs-" + shard).id();
                rows.add(new IndexRow.Due(IndexRow.Kind.LEASE, shard, now, id, UUID.randomUUID(), 0));
            }
            indexes.add(rows, now);
            frozen.freeze();
            try {
                assertThatCode(() -> indexes.add(rows, now)).doesNotThrowAnyException();
            } finally {
                frozen.thaw();
            }
        }
    }

    /** A clock that stands still, so that all claims end in the same bucket of the calendar. */
    private record Standing() implements Clock {
        @Override
        public long now() {
            return Micros.of(Duration.ofDays(20_000));
        }

        @Override
        public long error() {
            return 0;
        }
    }

    /** Decision 83: a claim without its replicas is refused at once, and the node goes on with the others. */
    private static void refusesOnlyWhatItMust(CassandraStore thin, Onlyonce once, CassandraServer dead) {
        PreparedStatement find = new Statements(thin.session()).find;
        List<String> lost = new ArrayList<>();
        List<String> there = new ArrayList<>();
        for (int i = 0; lost.size() < LOST_KEYS || there.size() < 2 * KEYS; i++) {
            EntryId id = Calls.claim("thin-" + i).id();
            (isOn(thin, dead, Statements.read(find, id).getRoutingKey()) ? lost : there).add(id.key());
        }
        // Until the living nodes have noticed that one is dead, a claim times out and may be in doubt.
        assertThat(Calls.untilTaken(() -> thin.claim(List.of(Calls.claim(lost.get(0))))))
                .hasOnlyElementsOfType(ClaimResult.Unavailable.class);
        assertThatThrownBy(() -> thin.find(List.of(Calls.claim(lost.get(0)).id())))
                .isInstanceOf(StoreBusy.class);
        Iterator<String> next = there.iterator();
        for (int i = 0; i < LOST_KEYS; i++) {
            assertThat(refusal(once, lost.get(i))).hasMessageContaining("replicas");
            executeOneOf(next, once);
        }
    }

    /** The other living node may notice later that one is dead. Until then claims time out, or are in doubt. */
    private static StoreUnavailable refusal(Onlyonce once, String key) {
        long begun = System.nanoTime();
        while (true) {
            StoreUnavailable refused = catchThrowableOfType(
                    StoreUnavailable.class, () -> once.execute(key(key), PRINT, String.class, claim -> "never"));
            if (String.valueOf(refused.getMessage()).contains("replicas")
                    || System.nanoTime() - begun > NOTICED_MAX.toNanos()) {
                return refused;
            }
        }
    }

    /** The index rows of a key may be on the dead node although its entry is not. */
    private static void executeOneOf(Iterator<String> keys, Onlyonce once) {
        while (true) {
            try {
                assertThat(once.execute(key(keys.next()), PRINT, String.class, claim -> "paid")
                                .orElseThrow())
                        .isEqualTo("paid");
                return;
            } catch (StoreException e) {
                assertThat(e).hasMessageNotContaining("not tried again yet");
            }
        }
    }

    private static boolean isOn(CassandraStore thin, CassandraServer server, ByteBuffer partition) {
        return thin.session().getMetadata().getTokenMap().orElseThrow().getReplicas("thin", partition).stream()
                .anyMatch(node -> node.getEndPoint().resolve().equals(server.address()));
    }

    private void workWhile(Onlyonce once, CassandraServer killed) throws Exception {
        AtomicInteger next = new AtomicInteger();
        List<Future<?>> done = new ArrayList<>();
        for (int i = 0; i < CALLERS; i++) {
            done.add(callers.submit(() -> {
                for (int key = next.getAndIncrement(); key < KEYS; key = next.getAndIncrement()) {
                    customer(once, "key-" + key);
                }
            }));
        }
        while (next.get() < KEYS / 4) {
            LockSupport.parkNanos(PAUSE.toNanos());
        }
        killed.kill();
        for (Future<?> caller : done) {
            caller.get(2, TimeUnit.MINUTES);
        }
    }

    private static Key key(String key) {
        return Key.of("acme", "POST /payments", key);
    }

    private String pay(Onlyonce once, String key) {
        return once.execute(key(key), PRINT, String.class, claim -> {
                    effects.computeIfAbsent(key, k -> new AtomicInteger()).incrementAndGet();
                    return "paid " + key;
                })
                .orElseThrow();
    }

    /** Asks until there is an answer, once more at most after a failure. */
    private void customer(Onlyonce once, String key) {
        for (int attempt = 1; attempt <= 2 && !over && !answers.containsKey(key); attempt++) {
            try {
                answers.put(key, pay(once, key));
            } catch (StoreException e) {
                if (attempt == 2) {
                    failures.add(e);
                }
            }
        }
    }
}
