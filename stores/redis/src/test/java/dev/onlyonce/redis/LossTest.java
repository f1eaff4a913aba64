package dev.onlyonce.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onlyonce.store.ClaimRequest;
import dev.onlyonce.store.ClaimResult;
import dev.onlyonce.store.EntryQuery;
import dev.onlyonce.store.Store;
import dev.onlyonce.store.StoreRefused;
import dev.onlyonce.testkit.LossContract;
import dev.onlyonce.testservers.RedisServer;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("Redis that loses its entries")
final class LossTest extends LossContract {
    private final RedisServer server = RedisServer.start();

    @AfterEach
    void stop() {
        server.close();
    }

    @Override
    protected Store open() {
        return RedisStore.open(server.url());
    }

    @Override
    protected void empty() {
        server.command("FLUSHALL");
    }

    @Override
    protected void startOver() {
        server.command("FLUSHALL");
    }

    private static List<ClaimRequest> claims(String key) {
        return IntStream.range(0, 8).mapToObj(i -> Calls.claim(key + i)).toList();
    }

    @Test
    @DisplayName(
            "E5 entries are gone, and before anybody has looked again nothing is claimed: the script that claims sees it")
    void atOnce() {
        try (RedisStore store = RedisStore.open(server.url())) {
            List<ClaimRequest> claims = claims("key");
            assertThat(store.claim(claims)).hasOnlyElementsOfType(ClaimResult.Claimed.class);
            server.command("FLUSHALL");
            assertThat(store.refusal()).isEmpty();
            assertThatThrownBy(() -> store.claim(claims)).isInstanceOf(StoreRefused.class);
            assertThatThrownBy(() -> store.claim(claims.subList(0, 1))).isInstanceOf(StoreRefused.class);
            assertThatThrownBy(() -> store.find(List.of(claims.get(0).id()))).hasMessageContaining("FORGOTTEN");
            assertThat(server.command("DBSIZE")).contains("0");
        }
    }

    @Test
    @DisplayName(
            "E5 one partition that has lost its entries closes the store, at a node that starts too, until an operator accepts it")
    void partition() {
        try (RedisStore store = RedisStore.open(server.url())) {
            store.claim(claims("key"));
            server.command("DEL", "onlyonce:{1}:store");
            assertThatThrownBy(store::recheck).isInstanceOf(StoreRefused.class).hasMessageContaining("partitions");
            try (RedisStore later = RedisStore.open(server.url())) {
                assertThat(later.refusal()).isPresent();
                assertThatThrownBy(() -> later.claim(claims("other"))).isInstanceOf(StoreRefused.class);
                later.accept("operator", "a test");
                assertThat(later.claim(claims("other"))).hasOnlyElementsOfType(ClaimResult.Claimed.class);
            }
            assertThatThrownBy(store::recheck)
                    .as("the other node had not known this one")
                    .isInstanceOf(StoreRefused.class);
            store.accept("operator", "a test");
            assertThat(store.list(EntryQuery.all(100))).hasSize(16);
        }
    }

    @Test
    @DisplayName(
            "E5 a server that begins to evict entries, or stops writing them to disk, is refused until it keeps them again")
    void settings() {
        try (RedisStore store = RedisStore.open(server.url())) {
            for (String[] setting :
                    new String[][] {{"maxmemory-policy", "allkeys-lru", "noeviction"}, {"appendonly", "no", "yes"}}) {
                server.command("CONFIG", "SET", setting[0], setting[1]);
                assertThatThrownBy(store::recheck)
                        .isInstanceOf(StoreRefused.class)
                        .hasMessageContaining(setting[0]);
                assertThatThrownBy(() -> store.claim(claims("key"))).isInstanceOf(StoreRefused.class);
                assertThatThrownBy(store::checkWritable).isInstanceOf(StoreRefused.class);
                server.command("CONFIG", "SET", setting[0], setting[2]);
                store.recheck();
                assertThat(store.claim(claims(setting[0]))).hasOnlyElementsOfType(ClaimResult.Claimed.class);
            }
        }
    }

    @Test
    @DisplayName("E5 an accepted risk that appears while it runs is shown, and nothing is refused")
    void accepted() {
        try (RedisStore store =
                RedisStore.builder(server.url()).acceptDataLoss(true).build()) {
            assertThat(store.acceptedRisks()).isEmpty();
            server.command("CONFIG", "SET", "maxmemory-policy", "allkeys-lru");
            store.recheck();
            assertThat(store.acceptedRisks()).singleElement().asString().contains("allkeys-lru");
            assertThat(store.claim(claims("key"))).hasOnlyElementsOfType(ClaimResult.Claimed.class);
        }
    }
}
