package dev.onlyonce.redis;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onlyonce.store.ClaimRequest;
import dev.onlyonce.store.ClaimResult;
import dev.onlyonce.store.SettleResult;
import dev.onlyonce.testservers.RedisSentinels;
import dev.onlyonce.testservers.RedisServer;
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
}
