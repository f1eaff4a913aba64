package dev.onlyonce.testkit;

import static dev.onlyonce.store.State.COMPLETED;
import static dev.onlyonce.store.State.EXPIRED;
import static dev.onlyonce.store.State.PROCESSING;
import static dev.onlyonce.store.State.RETRYABLE;
import static dev.onlyonce.store.State.UNKNOWN;
import static dev.onlyonce.testkit.Requests.KEPT;
import static dev.onlyonce.testkit.Requests.LEASE;
import static dev.onlyonce.testkit.Requests.RETENTION;
import static dev.onlyonce.testkit.Requests.TOMBSTONE;
import static dev.onlyonce.testkit.Requests.accepting;
import static dev.onlyonce.testkit.Requests.bytes;
import static dev.onlyonce.testkit.Requests.fresh;
import static dev.onlyonce.testkit.Requests.on;
import static dev.onlyonce.testkit.Requests.rival;
import static dev.onlyonce.testkit.Requests.several;
import static dev.onlyonce.testkit.Requests.withTarget;
import static org.assertj.core.api.Assertions.assertThat;

import dev.onlyonce.fingerprint.Fingerprint;
import dev.onlyonce.store.ClaimRequest;
import dev.onlyonce.store.ClaimResult;
import dev.onlyonce.store.Entry;
import dev.onlyonce.store.EntryQuery;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** What an operator sees of the request that made an entry: kept with it, never compared. */
interface TargetChapter extends Chapter {
    String REFUND = "POST /v1/charges/ch_1/refund";
    String CAPTURE = "POST /v1/charges/ch_1/capture";

    private @Nullable String stored(ClaimRequest claim) {
        return bench().entry(claim).fingerprint().target();
    }

    @Test
    @DisplayName(
            "the target of the first claim is kept from the claim to the tombstone, and shown wherever the entry is")
    default void kept() {
        ClaimRequest claim = withTarget(REFUND, on(KEPT, fresh("key")));
        bench().claimed(claim);
        assertThat(stored(claim)).isEqualTo(REFUND);
        assertThat(bench().renew(claim, LEASE)).isTrue();
        bench().settled(claim, COMPLETED, bytes("done"));
        Entry settled = bench().entry(claim);
        assertThat(settled.fingerprint().target()).isEqualTo(REFUND);
        assertThat(settled.result()).isEqualTo(bytes("done"));
        assertThat(bench().refused(rival(claim)).fingerprint().target()).isEqualTo(REFUND);
        assertThat(bench().node().list(EntryQuery.all(10)))
                .extracting(e -> e.fingerprint().target())
                .containsExactly(REFUND);
        bench().advance(RETENTION);
        bench().node().purge(10);
        assertThat(bench().entry(claim).state()).isEqualTo(EXPIRED);
        assertThat(stored(claim)).isEqualTo(REFUND);
    }

    @Test
    @DisplayName("the target outlives a lost lease and an operator's decision")
    default void keptInDoubt() {
        ClaimRequest claim = withTarget(REFUND, fresh("key"));
        bench().claimed(claim);
        bench().advance(LEASE);
        assertThat(bench().node().sweep(10)).hasSize(1);
        assertThat(bench().entry(claim).state()).isEqualTo(UNKNOWN);
        assertThat(stored(claim)).isEqualTo(REFUND);
        bench().resolve(claim, 1, COMPLETED, bytes("found"));
        assertThat(bench().entry(claim).result()).isEqualTo(bytes("found"));
        assertThat(stored(claim)).isEqualTo(REFUND);
    }

    @Test
    @DisplayName("an equal digest with another target is the same request, and the first target stays")
    default void notCompared() {
        ClaimRequest claim = withTarget(REFUND, fresh("key"));
        bench().claimed(claim);
        bench().settled(claim, RETRYABLE, null);
        ClaimRequest other = withTarget(CAPTURE, rival(claim));
        assertThat(bench().claimed(other)).isEqualTo(2);
        assertThat(stored(claim)).isEqualTo(REFUND);
        assertThat(bench().claimed(withTarget(null, other))).as("its own again").isEqualTo(2);
        assertThat(stored(claim)).isEqualTo(REFUND);
        bench().settled(other, RETRYABLE, null);
        assertThat(bench().claimed(withTarget(null, rival(claim)))).isEqualTo(3);
        assertThat(stored(claim)).isEqualTo(REFUND);
    }

    @Test
    @DisplayName("an accepted entry keeps its target when a worker takes it")
    default void accepted() {
        ClaimRequest claim = accepting(withTarget(REFUND, fresh("key")));
        bench().claimed(claim);
        assertThat(stored(claim)).isEqualTo(REFUND);
        bench().claimed(withTarget(null, rival(claim)));
        assertThat(bench().entry(claim).state()).isEqualTo(PROCESSING);
        assertThat(stored(claim)).isEqualTo(REFUND);
    }

    @Test
    @DisplayName("a new entry after retention or eviction has the new request's target, or none")
    default void replaced() {
        ClaimRequest first = withTarget(REFUND, fresh("key"));
        bench().claimed(first);
        bench().settled(first, COMPLETED, bytes("done"));
        bench().advance(RETENTION.plus(TOMBSTONE));
        ClaimRequest second = withTarget(CAPTURE, rival(first));
        assertThat(bench().claimed(second)).isEqualTo(1);
        assertThat(stored(first)).isEqualTo(CAPTURE);

        bench().settled(second, COMPLETED, bytes("done"));
        bench().advance(RETENTION.plus(TOMBSTONE));
        ClaimRequest third = withTarget(null, rival(first));
        assertThat(bench().claimed(third)).isEqualTo(1);
        assertThat(stored(first)).isNull();

        bench().settled(third, COMPLETED, bytes("done"));
        assertThat(bench().node().evict(first.id(), "alice", "test")).isPresent();
        assertThat(bench().claimed(withTarget(REFUND, rival(first)))).isEqualTo(1);
        assertThat(stored(first)).isEqualTo(REFUND);
    }

    @Test
    @DisplayName("claims with and without a target share a batch, new and after retention")
    default void mixed() {
        List<ClaimRequest> claims = new ArrayList<>();
        for (ClaimRequest claim : several("key", 6)) {
            claims.add(withTarget(claims.size() % 2 == 0 ? null : "POST /" + claims.size(), claim));
        }
        for (int life = 0; life < 2; life++) {
            assertThat(bench().node().claim(claims)).containsOnly(new ClaimResult.Claimed(1));
            for (ClaimRequest claim : claims) {
                assertThat(stored(claim)).isEqualTo(claim.fingerprint().target());
                bench().settled(claim, COMPLETED, bytes("done"));
            }
            bench().advance(RETENTION);
            claims.replaceAll(c -> withTarget(c.fingerprint().target() == null ? REFUND : null, rival(c)));
        }
    }

    @Test
    @DisplayName("targets come back as they were, whatever is in them and however long they are")
    default void comeBack() {
        List<String> targets = new ArrayList<>(IdentityChapter.NAMES);
        targets.add("x".repeat(10_000));
        targets.add("x" + "😀".repeat(10_000));
        targets.add("x".repeat(Fingerprint.TARGET_BYTES_MAX));
        targets.add("a\0b\nc\u001b[31m\u202e\ud83d");
        for (int i = 0; i < targets.size(); i++) {
            ClaimRequest claim = withTarget(targets.get(i), fresh("key-" + i));
            bench().claimed(claim);
            bench().settled(claim, COMPLETED, bytes("done"));
            assertThat(stored(claim)).isEqualTo(claim.fingerprint().target());
            assertThat(bench().entry(claim).result()).isEqualTo(bytes("done"));
        }
    }
}
