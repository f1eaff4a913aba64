package dev.onlyonce.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onlyonce.Onlyonce;
import dev.onlyonce.store.ClaimRequest;
import dev.onlyonce.store.ClaimResult;
import dev.onlyonce.store.StoreException;
import dev.onlyonce.store.StoreOutcomeUnknown;
import dev.onlyonce.store.StoreRefused;
import dev.onlyonce.store.StoreUnavailable;
import dev.onlyonce.testservers.RedisCluster;
import dev.onlyonce.testservers.RedisServer;
import io.lettuce.core.cluster.SlotHash;
import io.lettuce.core.resource.ClientResources;
import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;

/** A cluster that loses a master while nodes work on it. */
@Order(1)
@DisplayName("A Redis cluster")
class ClusterFailureTest {
    private static final int CALLERS = 8;
    private static final int KEYS = 800;

    @Test
    @DisplayName(
            "E4 C1 R3 whose master is killed under load runs nothing twice and loses no answer when replicas are waited for")
    void masterKilled() throws Exception {
        try (RedisCluster cluster = RedisCluster.start();
                RedisStore store = RedisStore.builder(cluster.url())
                        .replicas(1)
                        .timeout(Duration.ofSeconds(1))
                        .build();
                Onlyonce once = Onlyonce.builder(store)
                        .cacheBytesMax(0)
                        .lease(Duration.ofSeconds(2))
                        .build();
                Customers customers = new Customers(once, CALLERS, KEYS)) {
            customers.awaitAsked(KEYS / 4);
            RedisServer killed = cluster.servers().get(0);
            RedisServer promoted = cluster.servers().get(3);
            killed.kill();
            promoted.await("role:master", "INFO", "replication");
            // Until the new master has a replica, nothing of its partitions is acknowledged.
            killed.restart();
            customers.awaitDone();

            customers.check(KEYS / 2);
            assertThat(killed.command("INFO", "replication")).contains("role:slave");
        }
    }

    @Test
    @DisplayName("E2 acknowledges nothing that a replica takes which has taken over, and evicts, until it is set right")
    void unsafeReplicaPromoted() {
        Partitions partitions = new Partitions("onlyonce", Partitions.COUNT_CLUSTER);
        try (RedisCluster cluster = RedisCluster.start();
                RedisStore store = RedisStore.open(cluster.url())) {
            List<ClaimRequest> warm = claims("warm");
            assertThat(store.claim(warm)).hasOnlyElementsOfType(ClaimResult.Claimed.class);
            RedisServer promoted = cluster.servers().get(3);
            promoted.command("CONFIG", "SET", "maxmemory-policy", "allkeys-lru");
            promoted.command("CLUSTER", "FAILOVER");
            promoted.await("role:master", "INFO", "replication");
            // The first of three masters has the first third of the slots.
            List<ClaimRequest> its = IntStream.iterate(0, i -> i + 1)
                    .mapToObj(i -> Calls.claim("its-" + i))
                    .filter(claim -> SlotHash.getSlot(partitions.entry(partitions.of(claim.id()), claim.id()))
                            < SlotHash.SLOT_COUNT / 3)
                    .limit(200)
                    .toList();
            for (ClaimRequest claim : its) {
                try {
                    assertThat(store.claim(List.of(claim))).hasOnlyElementsOfType(ClaimResult.Unavailable.class);
                } catch (StoreUnavailable | StoreOutcomeUnknown e) {
                    // Not acknowledged.
                }
            }
            Calls.until(StoreUnavailable.class, "set maxmemory-policy to noeviction", () -> store.claim(its));
            promoted.command("CONFIG", "SET", "maxmemory-policy", "noeviction");
            assertThat(Calls.untilTaken(() -> store.claim(its))).hasOnlyElementsOfType(ClaimResult.Claimed.class);
        }
    }

    @Test
    @DisplayName("E2 E5 with more replicas of a master than it waits for is refused, unless they may not take over")
    void tooManyReplicas() {
        try (RedisCluster cluster = RedisCluster.start();
                RedisStore store = RedisStore.builder(cluster.url()).replicas(1).build()) {
            store.recheck();
            RedisServer moved = cluster.servers().get(4);
            String first = cluster.servers().get(0).command("CLUSTER", "MYID").strip();
            moved.command("CLUSTER", "REPLICATE", first);
            Calls.until(StoreRefused.class, "any of 2 replicas may be promoted, and only 1 of them", store::recheck);
            assertThatThrownBy(
                            () -> RedisStore.builder(cluster.url()).replicas(1).build())
                    .isInstanceOf(StoreUnavailable.class)
                    .hasMessageContaining("cluster-replica-no-failover");
            moved.command("CONFIG", "SET", "cluster-replica-no-failover", "yes");
            Calls.untilTaken(() -> {
                store.recheck();
                return List.of();
            });
        }
    }

    @Test
    @DisplayName("E4 is asked where its masters are without putting calls in doubt that wait for replicas")
    void topologyRefreshed() {
        ClientResources resources = ClientResources.create();
        try (RedisCluster cluster = RedisCluster.start();
                Link link = LinkOpening.open(
                        LinkOpening.Servers.trusting(RedisUrl.of(cluster.url()).servers(), null), resources)) {
            assertThat(link.masters()).hasSize(3);
            int generation = link.generation();
            int before = connections(cluster);
            AtomicInteger asked = new AtomicInteger();
            link.findMaster();
            Calls.untilTaken(() -> {
                // Each question is a connection to each server.
                int servers = cluster.servers().size();
                int others = connections(cluster) - before - asked.incrementAndGet() * servers;
                if (others < servers) {
                    throw new StoreUnavailable("not yet", null);
                }
                return true;
            });
            assertThat(link.generation()).isEqualTo(generation);
        } finally {
            var unused = resources.shutdown();
        }
    }

    private static int connections(RedisCluster cluster) {
        return cluster.servers().stream()
                .mapToInt(server -> server.command("INFO", "stats")
                        .lines()
                        .filter(line -> line.startsWith("total_connections_received:"))
                        .mapToInt(line -> Integer.parseInt(line.substring(line.indexOf(':') + 1)))
                        .sum())
                .sum();
    }

    @Test
    @DisplayName(
            "E4 D11 whose master hangs goes on with the other partitions, and with all of them when its replica takes over")
    void masterHangs() {
        Duration timeout = Duration.ofSeconds(1);
        Queue<Thread> threads = new ConcurrentLinkedQueue<>();
        ClientResources resources = ClientResources.builder()
                .threadFactoryProvider(pool -> work -> {
                    Thread thread = new Thread(work, pool);
                    thread.setDaemon(true);
                    threads.add(thread);
                    return thread;
                })
                .build();
        try (RedisCluster cluster = RedisCluster.start();
                RedisStore store = RedisStore.builder(cluster.url())
                        .resources(resources)
                        .timeout(timeout)
                        .build()) {
            cluster.servers().forEach(server -> server.command("CONFIG", "SET", "cluster-node-timeout", "10000"));
            List<ClaimRequest> warm = claims("warm");
            assertThat(store.claim(warm)).hasOnlyElementsOfType(ClaimResult.Claimed.class);
            long before = threads.stream().filter(Thread::isAlive).count();
            cluster.servers().get(0).freeze();
            List<ClaimRequest> claims = claims("key");
            // The first call finds out; after it, only the partitions of that server are refused.
            assertThat(failure(() -> store.claim(claims))).isInstanceOf(StoreOutcomeUnknown.class);
            List<ClaimResult> results = store.claim(claims);
            assertThat(results).hasAtLeastOneElementOfType(ClaimResult.Unavailable.class);
            assertThat(results.stream().filter(ClaimResult.Claimed.class::isInstance))
                    .hasSizeGreaterThan(claims.size() / 2);
            for (int i = 0; i < 20; i++) {
                long begun = System.nanoTime();
                store.claim(claims("more-" + i));
                assertThat(Duration.ofNanos(System.nanoTime() - begun)).isLessThan(timeout.minusMillis(50));
            }
            Calls.untilTaken(() -> {
                if (store.claim(claims).stream().anyMatch(ClaimResult.Unavailable.class::isInstance)) {
                    throw new StoreOutcomeUnknown("not yet", null);
                }
                return true;
            });
            cluster.servers().get(3).await("role:master", "INFO", "replication");
            assertThat(threads).filteredOn(Thread::isAlive).hasSizeLessThan((int) before + 10);
            cluster.servers().get(0).thaw();
        } finally {
            var unused = resources.shutdown();
        }
    }

    private static List<ClaimRequest> claims(String prefix) {
        return IntStream.range(0, 60)
                .mapToObj(i -> Calls.claim(prefix + "-" + i))
                .toList();
    }

    private static StoreException failure(Runnable call) {
        try {
            call.run();
        } catch (StoreException e) {
            return e;
        }
        throw new AssertionError("did not fail");
    }
}
