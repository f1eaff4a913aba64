package dev.onlyonce.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onlyonce.fingerprint.Fingerprint;
import dev.onlyonce.store.ClaimRequest;
import dev.onlyonce.store.ClaimResult;
import dev.onlyonce.store.EntryId;
import dev.onlyonce.store.State;
import dev.onlyonce.store.StoreRejected;
import dev.onlyonce.testservers.RedisServer;
import io.lettuce.core.resource.ClientResources;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("An entry in Redis")
class StoredFormatTest {
    private static final Partitions PARTITIONS = new Partitions("onlyonce", Partitions.COUNT_SINGLE);

    private final RedisServer server = RedisServer.start();
    private final ClientResources resources = ClientResources.create();
    private final RedisStore store = RedisStore.open(server.url());
    private Link link;

    @BeforeEach
    void connect() {
        link = LinkOpening.open(
                LinkOpening.Servers.trusting(RedisUrl.of(server.url()).servers(), null), resources);
    }

    @AfterEach
    void stop() {
        link.close();
        var unused = resources.shutdown();
        store.close();
        server.close();
    }

    private static byte[] key(EntryId id) {
        String member = new String(Partitions.member(id), StandardCharsets.UTF_8);
        return PARTITIONS.key(PARTITIONS.of(id), "e:" + member);
    }

    private byte[] raw(ClaimRequest claim) {
        return link.masters().get(0).sync().get(key(claim.id()));
    }

    private void write(ClaimRequest claim, byte[] raw) {
        link.masters().get(0).sync().set(key(claim.id()), raw);
    }

    private static ClaimRequest about(String target, ClaimRequest r) {
        Fingerprint print = r.fingerprint().about(target);
        return new ClaimRequest(r.id(), r.operation(), print, r.token(), r.owner(), r.terms(), r.start());
    }

    @Test
    @DisplayName("keeps the target of the first claim, or none, while it is settled and replayed")
    void target() {
        ClaimRequest without = Calls.claim("without");
        ClaimRequest with = about("POST /x", Calls.claim("with"));
        store.claim(List.of(without, with));
        store.settle(List.of(Calls.completed(without), Calls.completed(with)));
        for (ClaimRequest claim : List.of(without, with)) {
            ClaimResult retry = store.claim(
                            List.of(about("POST /other", Calls.claim(claim.id().key()))))
                    .get(0);
            assertThat(retry).isInstanceOfSatisfying(ClaimResult.Existing.class, existing -> {
                assertThat(existing.entry().state()).isEqualTo(State.COMPLETED);
                assertThat(existing.entry().result()).isEqualTo(claim.id().key().getBytes(StandardCharsets.UTF_8));
                assertThat(existing.entry().fingerprint()).isEqualTo(claim.fingerprint());
                assertThat(existing.entry().fingerprint().target())
                        .isEqualTo(claim.fingerprint().target());
            });
        }
    }

    @Test
    @DisplayName("of another release is neither read nor executed")
    void newer() {
        ClaimRequest claim = Calls.claim("key");
        store.claim(List.of(claim));
        byte[] raw = raw(claim);
        raw[0] = 4;
        write(claim, raw);
        assertThatThrownBy(() -> store.find(List.of(claim.id())))
                .isInstanceOf(StoreRejected.class)
                .hasMessageContaining("another release");
        assertThat(store.claim(List.of(Calls.claim("key")))).hasOnlyElementsOfType(ClaimResult.Unavailable.class);
        assertThat(raw(claim)).isEqualTo(raw);
    }

    @Test
    @DisplayName("of another release keeps a store from opening, which says what another prefix would cost")
    void otherRelease() {
        for (String layout : List.of("format 1, partitions 64", "mine")) {
            server.command("SET", "onlyonce:{0}:layout", '"' + layout + '"');
            assertThatThrownBy(() -> RedisStore.open(server.url()))
                    .isInstanceOf(StoreRejected.class)
                    .hasMessageContaining("another release (" + layout + ")")
                    .hasMessageContaining("run again");
        }
    }
}
