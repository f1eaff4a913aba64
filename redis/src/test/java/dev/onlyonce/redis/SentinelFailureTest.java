package dev.onlyonce.redis;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onlyonce.Onlyonce;
import dev.onlyonce.store.ClaimRequest;
import dev.onlyonce.store.ClaimResult;
import dev.onlyonce.store.SettleResult;
import dev.onlyonce.testservers.RedisSentinels;
import dev.onlyonce.testservers.RedisServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** A master that Sentinel replaces. */
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

    @Test
    @DisplayName("E4 C1 R3 whose master hands over on command under load runs nothing twice, and keeps every answer")
    void failoverCommand() throws Exception {
        int keys = 1000;
        try (RedisSentinels sentinels = RedisSentinels.start();
                RedisStore store = RedisStore.builder(sentinels.url())
                        .replicas(1)
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
}
