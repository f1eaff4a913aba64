package dev.onlyonce.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onlyonce.Onlyonce;
import dev.onlyonce.store.ClaimRequest;
import dev.onlyonce.store.ClaimResult;
import dev.onlyonce.store.SettleResult;
import dev.onlyonce.store.StoreRefused;
import dev.onlyonce.store.StoreUnavailable;
import dev.onlyonce.testservers.RedisSentinels;
import dev.onlyonce.testservers.RedisServer;
import io.lettuce.core.KillArgs;
import io.lettuce.core.RedisClient;
import io.lettuce.core.api.sync.RedisCommands;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A master that Sentinel replaces. */
@Order(1)
@DisplayName("Redis with Sentinel")
class SentinelFailureTest {

    @Test
    @DisplayName(
            "E4 goes on with the replica of a killed master: what replicas had acknowledged is there, and runs once")
    void masterKilled() {
        try (RedisSentinels sentinels = RedisSentinels.start();
                RedisStore store =
                        RedisStore.builder(sentinels.url()).replicas(1).build()) {
            List<ClaimRequest> claims = new ArrayList<>();
            for (int i = 0; i < 30; i++) {
                ClaimRequest claim = Calls.claim("key-" + i);
                assertThat(Calls.untilTaken(() -> store.claim(List.of(claim))))
                        .containsExactly(new ClaimResult.Claimed(1));
                claims.add(claim);
            }
            RedisServer killed = sentinels.servers().get(0);
            RedisServer promoted = sentinels.servers().get(1);
            killed.kill();
            promoted.await("role:master", "INFO", "replication");
            // The new master needs a replica before it acknowledges anything.
            killed.restart();
            for (ClaimRequest claim : claims) {
                assertThat(Calls.untilTaken(() -> store.settle(List.of(Calls.completed(claim)))))
                        .hasOnlyElementsOfType(SettleResult.Settled.class);
                assertThat(Calls.untilTaken(() -> store.claim(
                                        List.of(Calls.claim(claim.id().key()))))
                                .get(0))
                        .isInstanceOf(ClaimResult.Existing.class);
            }
        }
    }

    @Test
    @DisplayName("E4 goes on with the replica of a master that hangs, and stays with it when the old one comes back")
    void masterHangs() {
        try (RedisSentinels sentinels = RedisSentinels.start();
                RedisStore store = RedisStore.builder(sentinels.url())
                        .timeout(Duration.ofMillis(500))
                        .build()) {
            ClaimRequest before = Calls.claim("before");
            store.claim(List.of(before));
            store.settle(List.of(Calls.completed(before)));
            RedisServer old = sentinels.servers().get(0);
            RedisServer promoted = sentinels.servers().get(1);
            promoted.await("slave_repl_offset:" + offset(old), "INFO", "replication");
            old.freeze();
            ClaimRequest during = Calls.claim("during");
            assertThat(Calls.untilTaken(() -> store.claim(List.of(during))))
                    .containsExactly(new ClaimResult.Claimed(1));
            promoted.await("role:master", "INFO", "replication");
            assertThat(store.claim(List.of(Calls.claim("before"))).get(0)).isInstanceOf(ClaimResult.Existing.class);
            old.thaw();
            old.await("role:slave", "INFO", "replication");
            assertThat(store.settle(List.of(Calls.completed(during))))
                    .hasOnlyElementsOfType(SettleResult.Settled.class);
        }
    }

    private static String offset(RedisServer server) {
        return server.command("INFO", "replication")
                .lines()
                .filter(line -> line.startsWith("master_repl_offset:"))
                .map(line -> line.substring("master_repl_offset:".length()))
                .findFirst()
                .orElseThrow();
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1})
    @DisplayName("E4 C1 R3 whose master hands over on command under load runs nothing twice, and keeps every answer")
    void failoverCommand(int replicas) throws Exception {
        int keys = 1000;
        // Without replicas to wait for, the old master refuses what comes after its replica has left.
        String[] settings = replicas == 0 ? new String[] {"min-replicas-to-write 1"} : new String[0];
        try (RedisSentinels sentinels = RedisSentinels.start(1, settings);
                RedisStore store = RedisStore.builder(sentinels.url())
                        .replicas(replicas)
                        .timeout(Duration.ofSeconds(1))
                        .build();
                Onlyonce once = Onlyonce.builder(store)
                        .cacheBytesMax(0)
                        .lease(Duration.ofSeconds(5))
                        .build();
                Customers customers = new Customers(once, 4, keys)) {
            customers.awaitAsked(keys / 5);
            RedisServer old = sentinels.servers().get(0);
            sentinels.failover();
            old.await("role:slave", "INFO", "replication");
            customers.awaitDone();
            customers.check(keys * 9 / 10);
        }
    }

    @Test
    @DisplayName(
            "C1 E4 follows a master that hands over on command, long before the old one learns that it is replaced")
    void plannedFailover() {
        try (RedisSentinels sentinels = RedisSentinels.start();
                RedisStore store = RedisStore.open(sentinels.url())) {
            RedisServer promoted = sentinels.servers().get(1);
            ClaimRequest before = Calls.claim("before");
            store.claim(List.of(before));
            sentinels.failover();
            promoted.await("role:master", "INFO", "replication");
            sentinels
                    .sentinels()
                    .forEach(each -> each.await("address=127.0.0.1:" + promoted.port(), "INFO", "sentinel"));
            ClaimRequest after = Calls.claim("after");
            assertThat(Calls.untilTaken(() -> store.claim(List.of(after)))).containsExactly(new ClaimResult.Claimed(1));
            try (RedisStore direct = RedisStore.open(promoted.url())) {
                assertThat(direct.find(List.of(after.id())).get(0)).isPresent();
            }
        }
    }

    @Test
    @DisplayName("C1 E4 leaves a master that is cut off from its replicas and from Sentinel, but not from the nodes")
    void masterCutOff() {
        try (RedisSentinels sentinels = RedisSentinels.start(2, "min-replicas-to-write 1")) {
            sentinels
                    .servers()
                    .forEach(server -> server.command("ACL", "SETUSER", "node", "on", ">secret", "~*", "&*", "+@all"));
            try (RedisStore store = RedisStore.builder(sentinels.url())
                    .credentials("node", "secret")
                    .build()) {
                ClaimRequest before = Calls.claim("before");
                Calls.untilTaken(() -> store.claim(List.of(before)));
                RedisServer old = sentinels.servers().get(0);
                // Replicas and Sentinels are the default user, who may not log in any more.
                RedisClient client = RedisClient.create(old.url());
                RedisCommands<String, String> operator = client.connect().sync();
                operator.configSet("requirepass", "cut-off");
                operator.clientKill(KillArgs.Builder.user("default").skipme());
                client.shutdown();
                assertThat(Calls.untilTaken(() -> store.settle(List.of(Calls.completed(before)))))
                        .hasOnlyElementsOfType(SettleResult.Settled.class);
            }
        }
    }

    @Test
    @DisplayName("D9 E4 follows Sentinels that were set up anew, although one is gone that had named the last failover")
    void sentinelsSetUpAnew() {
        try (RedisSentinels sentinels = RedisSentinels.start();
                RedisStore store = RedisStore.open(sentinels.url())) {
            RedisServer first = sentinels.servers().get(0);
            RedisServer second = sentinels.servers().get(1);
            sentinels.failover();
            sentinels.sentinels().forEach(each -> each.await("address=127.0.0.1:" + second.port(), "INFO", "sentinel"));
            first.await("role:slave", "INFO", "replication");
            Calls.untilTaken(() -> store.claim(List.of(Calls.claim("before"))));

            sentinels.sentinels().get(0).kill();
            List<RedisServer> others = sentinels.sentinels().subList(1, 3);
            others.forEach(each -> each.command("SENTINEL", "REMOVE", RedisSentinels.NAME));
            first.command("REPLICAOF", "NO", "ONE");
            second.command("REPLICAOF", "127.0.0.1", String.valueOf(first.port()));
            others.forEach(each -> each.command(
                    "SENTINEL", "MONITOR", RedisSentinels.NAME, "127.0.0.1", String.valueOf(first.port()), "2"));
            assertThat(Calls.untilTaken(() -> store.claim(List.of(Calls.claim("after")))))
                    .containsExactly(new ClaimResult.Claimed(1));
        }
    }

    @Test
    @DisplayName("C1 E4 sends a master nothing from the moment on that Sentinel chooses a replica for its place")
    void handover() {
        try (RedisSentinels sentinels = RedisSentinels.start();
                RedisStore store = RedisStore.open(sentinels.url())) {
            RedisServer replica = sentinels.servers().get(1);
            // It is chosen, and does not hear of it.
            replica.freeze();
            sentinels.failover();
            Calls.until(
                    StoreUnavailable.class,
                    "Sentinel is replacing the master",
                    () -> store.claim(List.of(Calls.claim("during"))));
            replica.thaw();
            assertThat(Calls.untilTaken(() -> store.claim(List.of(Calls.claim("after")))))
                    .containsExactly(new ClaimResult.Claimed(1));
        }
    }

    @Test
    @DisplayName(
            "E2 E4 with more replicas that may be promoted than it waits for is refused, unless the risk is accepted")
    void tooFewReplicas() {
        try (RedisSentinels sentinels = RedisSentinels.start(2)) {
            assertThatThrownBy(() ->
                            RedisStore.builder(sentinels.url()).replicas(1).build())
                    .isInstanceOf(StoreUnavailable.class)
                    .hasMessageContaining("any of 2 replicas may be promoted, and only 1 of them")
                    .hasMessageContaining("replica-priority to 0")
                    .hasMessageContaining("acceptDataLoss");
            assertThat(risks(RedisStore.builder(sentinels.url()).replicas(1).acceptDataLoss(true)))
                    .singleElement()
                    .asString()
                    .contains("any of 2 replicas");
            assertThat(risks(RedisStore.builder(sentinels.url()).replicas(2))).isEmpty();
            assertThat(risks(RedisStore.builder(sentinels.url())))
                    .singleElement()
                    .asString()
                    .contains("min-replicas-to-write");
        }
    }

    @Test
    @DisplayName("E2 E4 counts a replica that is gone, because it may come back, until Sentinel is told to forget it")
    void goneReplica() {
        try (RedisSentinels sentinels = RedisSentinels.start(2)) {
            sentinels.servers().get(2).kill();
            sentinels.servers().get(0).await("connected_slaves:1", "INFO", "replication");
            assertThatThrownBy(() ->
                            RedisStore.builder(sentinels.url()).replicas(1).build())
                    .isInstanceOf(StoreUnavailable.class)
                    .hasMessageContaining("any of 2 replicas")
                    .hasMessageContaining("until SENTINEL RESET");
            sentinels.sentinels().forEach(each -> each.command("SENTINEL", "RESET", RedisSentinels.NAME));
            sentinels.sentinels().forEach(each -> each.await("slaves=1", "INFO", "sentinel"));
            assertThat(risks(RedisStore.builder(sentinels.url()).replicas(1))).isEmpty();
        }
    }

    @Test
    @DisplayName("E2 E4 with replicas of which none may be promoted, or a master that stops without them, is no risk")
    void noRisk() {
        try (RedisSentinels sentinels = RedisSentinels.start(2, "replica-priority 0")) {
            assertThat(risks(RedisStore.builder(sentinels.url()).replicas(1))).isEmpty();
        }
        try (RedisSentinels sentinels = RedisSentinels.start(1, "min-replicas-to-write 1")) {
            assertThat(risks(RedisStore.builder(sentinels.url()))).isEmpty();
        }
    }

    @Test
    @DisplayName(
            "E5 E4 is refused from the moment on that one more replica may be promoted than it waits for, and not longer")
    void replicaJoins() {
        try (RedisSentinels sentinels = RedisSentinels.start();
                RedisStore store =
                        RedisStore.builder(sentinels.url()).replicas(1).build()) {
            RedisServer master = sentinels.servers().get(0);
            store.recheck();
            store.claim(List.of(Calls.claim("before")));
            try (RedisServer joined = RedisServer.start("replicaof 127.0.0.1 " + master.port())) {
                sentinels.sentinels().forEach(each -> each.await("slaves=2", "INFO", "sentinel"));
                assertThatThrownBy(store::recheck)
                        .isInstanceOf(StoreRefused.class)
                        .hasMessageContaining("any of 2 replicas may be promoted, and only 1 of them");
                assertThatThrownBy(() -> store.claim(List.of(Calls.claim("during"))))
                        .isInstanceOf(StoreRefused.class);
                joined.command("CONFIG", "SET", "replica-priority", "0");
                Calls.untilTaken(() -> {
                    store.recheck();
                    return store.claim(List.of(Calls.claim("after")));
                });
            }
        }
    }

    private static List<String> risks(RedisStore.Builder builder) {
        try (RedisStore store = builder.build()) {
            return store.acceptedRisks();
        }
    }
}
