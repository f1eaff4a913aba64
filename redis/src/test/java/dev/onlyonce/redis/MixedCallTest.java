package dev.onlyonce.redis;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onlyonce.store.AuditRecord;
import dev.onlyonce.store.ClaimRequest;
import dev.onlyonce.store.ClaimResult;
import dev.onlyonce.store.EntryId;
import dev.onlyonce.store.SettleResult;
import dev.onlyonce.store.Settlement;
import dev.onlyonce.store.State;
import dev.onlyonce.testservers.RedisServer;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("A list for Redis with ordinary items and others")
class MixedCallTest {
    private static final Partitions PARTITIONS = new Partitions("onlyonce", Partitions.COUNT_SINGLE);
    /** Two results of this size are more than a call answers. */
    private static final int LARGE_BYTES = 3 << 20;

    private RedisServer server;
    private RedisStore store;

    @BeforeEach
    void start() {
        server = RedisServer.start();
        store = RedisStore.open(server.url());
    }

    @AfterEach
    void stop() {
        store.close();
        server.close();
    }

    private static Settlement settlement(ClaimRequest claim, State to, int resultBytes) {
        return Settlement.of(
                claim.id(),
                claim.token(),
                to,
                to == State.COMPLETED ? Optional.of(new byte[resultBytes]) : Optional.empty(),
                "done");
    }

    private ClaimRequest claimed(String key) {
        ClaimRequest claim = Calls.claim(key);
        store.claim(List.of(claim));
        return claim;
    }

    private ClaimRequest settled(String key, State to, int resultBytes) {
        ClaimRequest claim = claimed(key);
        store.settle(List.of(settlement(claim, to, resultBytes)));
        return claim;
    }

    private static ClaimRequest again(ClaimRequest claim) {
        return Calls.claim(claim.id().key());
    }

    private State state(ClaimRequest claim) {
        return store.find(List.of(claim.id())).get(0).orElseThrow().state();
    }

    private List<State> history(ClaimRequest claim) {
        return store.history(claim.id()).stream()
                .map(AuditRecord::transition)
                .map(transition -> transition.to())
                .toList();
    }

    @Test
    @DisplayName("C1 claims what is free, takes over what may be tried again, and answers with the rest")
    void claims() {
        ClaimRequest retryable = settled("retryable", State.RETRYABLE, 0);
        ClaimRequest done = settled("done", State.COMPLETED, 10);
        ClaimRequest running = claimed("running");
        List<ClaimRequest> claims = List.of(
                Calls.claim("fresh-1"),
                again(done),
                again(retryable),
                Calls.claim("fresh-2"),
                running,
                again(running),
                Calls.claim("fresh-3"));
        List<ClaimResult> results = new ArrayList<>(store.claim(claims.subList(0, 5)));
        results.addAll(store.claim(claims.subList(5, 7)));
        assertThat(results)
                .satisfiesExactly(
                        fresh -> assertThat(fresh).isEqualTo(new ClaimResult.Claimed(1)),
                        replay -> assertThat(replay).isInstanceOf(ClaimResult.Existing.class),
                        retry -> assertThat(retry).isEqualTo(new ClaimResult.Claimed(2)),
                        fresh -> assertThat(fresh).isEqualTo(new ClaimResult.Claimed(1)),
                        repeated -> assertThat(repeated).isEqualTo(new ClaimResult.Claimed(1)),
                        duplicate -> assertThat(duplicate).isInstanceOf(ClaimResult.Existing.class),
                        fresh -> assertThat(fresh).isEqualTo(new ClaimResult.Claimed(1)));
    }

    @Test
    @DisplayName("C1 claims what is free once, although the answers do not fit into one call")
    void largeAnswers() {
        List<ClaimRequest> claims = new ArrayList<>();
        for (int i = 0; i < 5; i++) {
            claims.add(Calls.claim("fresh-" + i));
            claims.add(again(settled("large-" + i, State.COMPLETED, LARGE_BYTES)));
        }
        List<ClaimResult> results = store.claim(claims);
        for (int i = 0; i < claims.size(); i++) {
            boolean isFresh = i % 2 == 0;
            assertThat(results.get(i)).isInstanceOf(isFresh ? ClaimResult.Claimed.class : ClaimResult.Existing.class);
        }
        store.settle(List.of(settlement(claims.get(0), State.COMPLETED, 1)));
        assertThat(history(claims.get(0))).containsExactly(State.PROCESSING, State.COMPLETED);
    }

    @Test
    @DisplayName(
            "C1 D11 claims nothing in a partition that cannot be written, although the answers do not fit into one call")
    void largeAnswersAndWrongType() {
        List<ClaimRequest> claims = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            claims.add(i % 4 == 0 ? again(settled("key-" + i, State.COMPLETED, LARGE_BYTES)) : Calls.claim("key-" + i));
        }
        int bad = PARTITIONS.of(claims.get(1).id());
        String leases = "onlyonce:{" + bad + "}:leases";
        server.command("DEL", leases);
        assertThat(server.command("SET", leases, "mine")).isEqualTo("+OK");
        List<ClaimResult> results = store.claim(claims);
        for (int i = 0; i < claims.size(); i++) {
            EntryId id = claims.get(i).id();
            boolean isStored = !store.find(List.of(id)).get(0).isEmpty();
            boolean isBad = PARTITIONS.of(id) == bad;
            assertThat(isStored).isEqualTo(i % 4 == 0 || !isBad);
            assertThat(results.get(i) instanceof ClaimResult.Claimed).isEqualTo(i % 4 != 0 && !isBad);
        }
    }

    @Test
    @DisplayName("C4 settles what its token owns, each as asked for, and records each once")
    void settlements() {
        ClaimRequest first = claimed("first");
        ClaimRequest second = again(settled("second", State.RETRYABLE, 0));
        store.claim(List.of(second));
        ClaimRequest repeated = settled("repeated", State.COMPLETED, 10);
        ClaimRequest failed = claimed("failed");
        ClaimRequest retryable = claimed("retryable");
        ClaimRequest stolen = claimed("stolen");
        Settlement thief =
                Settlement.of(stolen.id(), UUID.randomUUID(), State.COMPLETED, Optional.of(new byte[1]), "done");
        List<SettleResult> results = store.settle(List.of(
                settlement(first, State.COMPLETED, 10),
                settlement(second, State.COMPLETED, 10),
                settlement(repeated, State.COMPLETED, 10),
                settlement(failed, State.FAILED, 0),
                settlement(retryable, State.RETRYABLE, 0),
                thief));
        assertThat(results.get(5)).isEqualTo(new SettleResult.Lost(State.PROCESSING));
        assertThat(results.subList(0, 5)).hasOnlyElementsOfType(SettleResult.Settled.class);
        assertThat(List.of(state(first), state(second), state(failed), state(retryable), state(stolen)))
                .containsExactly(State.COMPLETED, State.COMPLETED, State.FAILED, State.RETRYABLE, State.PROCESSING);
        assertThat(history(first)).containsExactly(State.PROCESSING, State.COMPLETED);
        assertThat(history(repeated)).containsExactly(State.PROCESSING, State.COMPLETED);
        assertThat(history(failed)).containsExactly(State.PROCESSING, State.FAILED);
        assertThat(history(second))
                .containsExactly(State.PROCESSING, State.RETRYABLE, State.PROCESSING, State.COMPLETED);
    }
}
