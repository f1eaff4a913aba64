package dev.onlyonce.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onlyonce.store.ClaimRequest;
import dev.onlyonce.store.ClaimResult;
import dev.onlyonce.store.SettleResult;
import dev.onlyonce.store.Settlement;
import dev.onlyonce.store.State;
import dev.onlyonce.store.StoreException;
import dev.onlyonce.store.StoreOutcomeUnknown;
import dev.onlyonce.store.StoreUnavailable;
import dev.onlyonce.testservers.RedisCluster;
import dev.onlyonce.testservers.RedisServer;
import io.lettuce.core.RedisURI;
import io.lettuce.core.resource.ClientResources;
import io.lettuce.core.resource.DnsResolvers;
import io.lettuce.core.resource.SocketAddressResolver;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.IntStream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** One server that is killed, forgets its scripts, runs out of memory, or is replaced by its replica. */
@DisplayName("A Redis server")
class ServerFailureTest {

    @Test
    @DisplayName("E4 D9 that is killed and restarted has every acknowledged change; meanwhile every call fails at once")
    void killed() {
        try (RedisServer server = RedisServer.start();
                RedisStore store = RedisStore.open(server.url())) {
            List<ClaimRequest> settled = new ArrayList<>();
            for (int i = 0; i < 50; i++) {
                ClaimRequest claim = Calls.claim("settled-" + i);
                store.claim(List.of(claim));
                store.settle(List.of(Calls.completed(claim)));
                settled.add(claim);
            }
            ClaimRequest running = Calls.claim("running");
            store.claim(List.of(running));
            server.kill();
            Calls.until(StoreUnavailable.class, "not connected", () -> store.claim(List.of(Calls.claim("meanwhile"))));
            assertThatThrownBy(() -> store.settle(List.of(Calls.completed(running))))
                    .isInstanceOf(StoreException.class);
            server.restart();

            assertThat(Calls.untilTaken(() -> store.settle(List.of(Calls.completed(running)))))
                    .hasOnlyElementsOfType(SettleResult.Settled.class);
            for (ClaimRequest claim : settled) {
                ClaimResult again =
                        store.claim(List.of(Calls.claim(claim.id().key()))).get(0);
                assertThat(again)
                        .isInstanceOfSatisfying(
                                ClaimResult.Existing.class,
                                existing -> assertThat(existing.entry().state()).isEqualTo(State.COMPLETED));
            }
        }
    }

    @Test
    @DisplayName("E4 that forgets its scripts gets them again, in the middle of whatever is under way")
    void scriptFlush() {
        try (RedisServer server = RedisServer.start();
                RedisStore store = RedisStore.open(server.url())) {
            for (int i = 0; i < 20; i++) {
                ClaimRequest claim = Calls.claim("key-" + i);
                assertThat(store.claim(List.of(claim))).containsExactly(new ClaimResult.Claimed(1));
                server.command("SCRIPT", "FLUSH");
                assertThat(store.settle(List.of(Calls.completed(claim))))
                        .hasOnlyElementsOfType(SettleResult.Settled.class);
            }
        }
    }

    @Test
    @DisplayName(
            "E4 D9 without memory left refuses claims before they change anything, and takes them when it has some again")
    void outOfMemory() {
        try (RedisServer server = RedisServer.start();
                RedisStore store = RedisStore.open(server.url())) {
            server.command("CONFIG", "SET", "maxmemory", "1");
            ClaimRequest claim = Calls.claim("key");
            assertThatThrownBy(() -> store.claim(List.of(claim)))
                    .isInstanceOf(StoreUnavailable.class)
                    .hasMessageContaining("OOM");
            assertThat(store.find(List.of(claim.id())).get(0)).isEmpty();
            assertThat(store.history(claim.id())).isEmpty();
            server.command("CONFIG", "SET", "maxmemory", "0");
            assertThat(store.claim(List.of(claim))).containsExactly(new ClaimResult.Claimed(1));
        }
    }

    @Test
    @DisplayName("E4 that hangs is given up after the time-out, with the outcome unknown; repeating the call tells")
    void hangs() {
        try (RedisServer server = RedisServer.start();
                RedisStore store = RedisStore.builder(server.url())
                        .timeout(Duration.ofMillis(300))
                        .build()) {
            ClaimRequest claim = Calls.claim("key");
            server.command("CLIENT", "PAUSE", "1500", "ALL");
            assertThatThrownBy(() -> store.claim(List.of(claim))).isInstanceOf(StoreOutcomeUnknown.class);
            assertThat(Calls.untilTaken(() -> store.claim(List.of(claim)))).containsExactly(new ClaimResult.Claimed(1));
        }
    }

    @Test
    @DisplayName("E4 that hangs is waited for until the time-out, however long that is")
    void slow() {
        try (RedisServer server = RedisServer.start();
                RedisStore store = RedisStore.builder(server.url())
                        .timeout(Duration.ofSeconds(60))
                        .build()) {
            server.command("CLIENT", "PAUSE", "3500", "ALL");
            assertThat(store.claim(List.of(Calls.claim("key")))).containsExactly(new ClaimResult.Claimed(1));
        }
    }

    @Test
    @DisplayName(
            "E4 that became a replica is left for the new master as soon as the host name leads there, however late")
    void lateName() {
        AtomicReference<RedisServer> named = new AtomicReference<>();
        ClientResources resources = ClientResources.builder()
                .socketAddressResolver(new SocketAddressResolver(DnsResolvers.UNRESOLVED) {
                    @Override
                    public SocketAddress resolve(RedisURI uri) {
                        return new InetSocketAddress(
                                InetAddress.getLoopbackAddress(), named.get().port());
                    }
                })
                .build();
        try (RedisServer first = RedisServer.start();
                RedisServer second = RedisServer.start("replicaof 127.0.0.1 " + first.port())) {
            second.await("master_link_status:up", "INFO", "replication");
            named.set(first);
            try (RedisStore store = RedisStore.builder("redis://redis.example:6379")
                    .resources(resources)
                    .build()) {
                store.claim(List.of(Calls.claim("before")));
                // With the store's mark.
                replicaHas(second, first);
                second.command("REPLICAOF", "NO", "ONE");
                first.command("REPLICAOF", "127.0.0.1", "" + second.port());
                Calls.until(StoreUnavailable.class, "it is a replica", () -> store.claim(List.of(Calls.claim("key"))));
                named.set(second);
                assertThat(Calls.untilTaken(() -> store.claim(List.of(Calls.claim("key")))))
                        .containsExactly(new ClaimResult.Claimed(1));
            }
        } finally {
            var unused = resources.shutdown();
        }
    }

    /** The line between what a failover keeps and what it loses, as docs/reference/redis.md draws it. */
    @Test
    @DisplayName(
            "E1 E4 replaced by a replica that lags runs again what it had acknowledged after the lag began, and nothing else")
    void laggingReplica() {
        try (RedisServer master = RedisServer.start();
                RedisServer replica = RedisServer.start("replicaof 127.0.0.1 " + master.port());
                RedisStore before = RedisStore.open(master.url())) {
            replica.await("master_link_status:up", "INFO", "replication");
            ClaimRequest replicated = Calls.claim("replicated");
            ClaimRequest lost = Calls.claim("lost");
            before.claim(List.of(replicated));
            before.settle(List.of(Calls.completed(replicated)));
            master.command("WAIT", "1", "5000");
            Calls.untilTaken(() -> replicaHas(replica, master));
            replica.command("REPLICAOF", "NO", "ONE");
            before.claim(List.of(lost));
            before.settle(List.of(Calls.completed(lost)));
            master.kill();

            try (RedisStore after = RedisStore.open(replica.url())) {
                assertThat(after.claim(List.of(Calls.claim("replicated"))).get(0))
                        .isInstanceOf(ClaimResult.Existing.class);
                assertThat(after.claim(List.of(Calls.claim("lost")))).containsExactly(new ClaimResult.Claimed(1));
            }
        }
    }

    private static boolean replicaHas(RedisServer replica, RedisServer master) {
        String offset = offset(master, "master_repl_offset");
        replica.await("slave_repl_offset:" + offset, "INFO", "replication");
        return true;
    }

    private static String offset(RedisServer server, String name) {
        return server.command("INFO", "replication")
                .lines()
                .filter(line -> line.startsWith(name + ":"))
                .map(line -> line.substring(name.length() + 1))
                .findFirst()
                .orElseThrow();
    }

    @Test
    @DisplayName("E4 whose replica lags acknowledges nothing if replicas are waited for: the action does not start")
    void waitsForReplicas() {
        try (RedisServer master = RedisServer.start();
                RedisServer replica = RedisServer.start("replicaof 127.0.0.1 " + master.port());
                RedisStore store = RedisStore.builder(master.url())
                        .replicas(1)
                        .timeout(Duration.ofMillis(500))
                        .build()) {
            replica.await("master_link_status:up", "INFO", "replication");
            ClaimRequest first = Calls.claim("first");
            assertThat(Calls.untilTaken(() -> store.claim(List.of(first)))).containsExactly(new ClaimResult.Claimed(1));
            replica.command("REPLICAOF", "NO", "ONE");
            ClaimRequest second = Calls.claim("second");
            assertThatThrownBy(() -> store.claim(List.of(second)))
                    .isInstanceOf(StoreOutcomeUnknown.class)
                    .hasMessageContaining("0 of 1 replicas");
            // Now that it is known, nothing is sent: no caller waits for replicas that are not there.
            assertThatThrownBy(() -> store.settle(List.of(Calls.completed(first))))
                    .isInstanceOf(StoreUnavailable.class)
                    .hasMessageContaining("fewer than 1 replicas");
            // Nor is anything read that a failover could take back: a duplicate must not get an answer that is lost.
            assertThatThrownBy(() -> store.find(List.of(first.id()))).isInstanceOf(StoreUnavailable.class);
            replica.command("REPLICAOF", "127.0.0.1", "" + master.port());
            replica.await("master_link_status:up", "INFO", "replication");
            assertThat(Calls.untilTaken(() -> store.settle(List.of(Calls.completed(first)))))
                    .hasOnlyElementsOfType(SettleResult.Settled.class);
        }
    }

    @Test
    @DisplayName(
            "E4 that hangs and comes back is used again, and meanwhile every call fails at once after the first time-out")
    void frozen() {
        Duration timeout = Duration.ofSeconds(1);
        try (RedisServer server = RedisServer.start();
                RedisStore store =
                        RedisStore.builder(server.url()).timeout(timeout).build()) {
            ClaimRequest claim = Calls.claim("key");
            server.freeze();
            assertThatThrownBy(() -> store.claim(List.of(claim))).isInstanceOf(StoreOutcomeUnknown.class);
            Calls.until(StoreUnavailable.class, "not connected", () -> store.claim(List.of(Calls.claim("other"))));
            long begun = System.nanoTime();
            for (int i = 0; i < 50; i++) {
                assertThatThrownBy(() -> store.claim(List.of(Calls.claim("more"))))
                        .isInstanceOf(StoreUnavailable.class);
            }
            assertThat(Duration.ofNanos(System.nanoTime() - begun)).isLessThan(timeout);
            server.thaw();
            assertThat(Calls.untilTaken(() -> store.claim(List.of(claim)))).containsExactly(new ClaimResult.Claimed(1));
        }
    }

    @Test
    @DisplayName(
            "E4 D11 of a cluster that has lost its replica stops its own partitions alone if replicas are waited for")
    void replicaOfOneMaster() {
        try (RedisCluster cluster = RedisCluster.start();
                RedisStore store = RedisStore.builder(cluster.url())
                        .replicas(1)
                        .timeout(Duration.ofSeconds(4))
                        .build()) {
            List<ClaimRequest> claims = IntStream.range(0, 60)
                    .mapToObj(i -> Calls.claim("key-" + i))
                    .toList();
            assertThat(Calls.untilTaken(() -> store.claim(claims))).hasOnlyElementsOfType(ClaimResult.Claimed.class);
            cluster.servers().get(3).kill();
            List<Settlement> settlements = claims.stream().map(Calls::completed).toList();
            assertThatThrownBy(() -> store.settle(settlements)).isInstanceOf(StoreOutcomeUnknown.class);
            // The engine repeats it, and then it costs the others nothing.
            List<SettleResult> results = store.settle(settlements);
            assertThat(results).hasAtLeastOneElementOfType(SettleResult.Busy.class);
            assertThat(results.stream().filter(SettleResult.Settled.class::isInstance))
                    .hasSizeGreaterThan(claims.size() / 2);
            cluster.servers().get(3).restart();
            Calls.untilTaken(() -> {
                if (store.settle(settlements).stream().anyMatch(SettleResult.Busy.class::isInstance)) {
                    throw new StoreUnavailable("not yet", null);
                }
                return true;
            });
        }
    }
}
