package dev.onlyonce.testkit;

import static dev.onlyonce.store.State.COMPLETED;
import static dev.onlyonce.store.State.PROCESSING;
import static dev.onlyonce.store.State.RETRYABLE;
import static dev.onlyonce.store.State.UNKNOWN;
import static dev.onlyonce.testkit.Requests.LEASE;
import static dev.onlyonce.testkit.Requests.accepting;
import static dev.onlyonce.testkit.Requests.bytes;
import static dev.onlyonce.testkit.Requests.resolution;
import static dev.onlyonce.testkit.Requests.rival;
import static dev.onlyonce.testkit.Requests.settlement;
import static dev.onlyonce.testkit.Requests.several;
import static org.assertj.core.api.Assertions.assertThat;

import dev.onlyonce.store.ClaimRequest;
import dev.onlyonce.store.ClaimResult;
import dev.onlyonce.store.ClaimResult.Claimed;
import dev.onlyonce.store.ClaimResult.Existing;
import dev.onlyonce.store.Entry;
import dev.onlyonce.store.EntryId;
import dev.onlyonce.store.RenewResult;
import dev.onlyonce.store.Renewal;
import dev.onlyonce.store.SettleResult;
import dev.onlyonce.store.SettleResult.Lost;
import dev.onlyonce.store.SettleResult.Settled;
import dev.onlyonce.store.Settlement;
import dev.onlyonce.store.Store;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** Lists: as long as they may be, in any order, with every kind of answer side by side. */
interface BatchChapter extends Chapter {

    @Test
    @DisplayName("C1 a full batch answers each claim in its place, whatever the order and the mixture")
    default void mixedClaims() {
        List<ClaimRequest> requests = shuffled(several("key", Store.BATCH_MAX));
        List<ClaimResult> expected = new ArrayList<>();
        List<ClaimRequest> batch = new ArrayList<>();
        for (int i = 0; i < requests.size(); i++) {
            ClaimRequest request = requests.get(i);
            int kind = i % 5;
            if (kind == 1) {
                bench().claimed(rival(request)); // another's
            } else if (kind == 2) {
                bench().claimed(request); // one's own, acknowledgement lost
            } else if (kind == 3) {
                ClaimRequest earlier = rival(request);
                bench().claimed(earlier);
                bench().settled(earlier, RETRYABLE, null);
            } else if (kind == 4) {
                bench().claimed(accepting(rival(request)));
            }
            batch.add(request);
            expected.add(kind == 1 ? new Existing(bench().entry(request)) : new Claimed(kind == 3 ? 2 : 1));
        }
        List<ClaimResult> answers = bench().node().claim(batch);
        assertThat(answers).hasSameSizeAs(expected);
        for (int i = 0; i < expected.size(); i++) {
            if (expected.get(i) instanceof Existing existing) {
                assertThat(answers.get(i)).isInstanceOf(Existing.class);
                assertThat(Snapshot.of(((Existing) answers.get(i)).entry())).isEqualTo(Snapshot.of(existing.entry()));
            } else {
                assertThat(answers.get(i)).isEqualTo(expected.get(i));
                assertThat(bench().entry(batch.get(i)).token())
                        .isEqualTo(batch.get(i).token());
            }
        }
    }

    @Test
    @DisplayName("R1 a full batch of settlements records each result in its place and refuses strangers")
    default void mixedSettlements() {
        List<ClaimRequest> claims = shuffled(several("key", Store.BATCH_MAX));
        bench().node().claim(claims);
        List<Settlement> batch = new ArrayList<>();
        for (int i = 0; i < claims.size(); i++) {
            ClaimRequest claim = i % 3 == 0 ? rival(claims.get(i)) : claims.get(i);
            boolean done = i % 3 == 1;
            batch.add(settlement(claim, done ? COMPLETED : UNKNOWN, done ? bytes("result " + i) : null));
        }
        List<SettleResult> answers = bench().node().settle(batch);
        assertThat(answers).hasSize(batch.size());
        List<Optional<Entry>> entries =
                bench().node().find(batch.stream().map(Settlement::id).toList());
        for (int i = 0; i < batch.size(); i++) {
            Entry entry = entries.get(i).orElseThrow();
            if (i % 3 == 0) {
                assertThat(answers.get(i)).isEqualTo(new Lost(PROCESSING));
                assertThat(entry.state()).isEqualTo(PROCESSING);
            } else {
                assertThat(answers.get(i)).isInstanceOf(Settled.class);
                assertThat(((Settled) answers.get(i)).settledAt()).isEqualTo(entry.settledAt());
                assertThat(entry.state()).isEqualTo(batch.get(i).to());
                assertThat(entry.result()).isEqualTo(batch.get(i).result());
            }
        }
    }

    @Test
    @DisplayName("C1 reading, renewing and resolving answer in the order asked, with absent ones between")
    default void orderOfAnswers() {
        List<ClaimRequest> claims = shuffled(several("key", 100));
        List<ClaimRequest> even =
                claims.stream().filter(c -> claims.indexOf(c) % 2 == 0).toList();
        bench().node().claim(even);

        List<EntryId> ids = claims.stream().map(ClaimRequest::id).toList();
        List<Optional<Entry>> found = bench().node().find(ids);
        List<RenewResult> renewed = bench().node()
                .renew(claims.stream()
                        .map(c -> new Renewal(c.id(), c.token(), LEASE))
                        .toList());
        even.forEach(c -> bench().settled(c, UNKNOWN, null));
        List<SettleResult> resolved = bench().node()
                .resolve(ids.stream()
                        .map(id -> resolution(id, 1, COMPLETED, bytes(id.key())))
                        .toList());
        assertThat(found).hasSize(100);
        assertThat(renewed).hasSize(100);
        assertThat(resolved).hasSize(100);
        for (int i = 0; i < ids.size(); i++) {
            assertThat(found.get(i).map(Entry::id)).isEqualTo(i % 2 == 0 ? Optional.of(ids.get(i)) : Optional.empty());
            assertThat(renewed.get(i)).isEqualTo(i % 2 == 0 ? RenewResult.RENEWED : RenewResult.LOST);
            if (i % 2 == 0) {
                assertThat(resolved.get(i)).isInstanceOf(Settled.class);
                assertThat(bench().entry(claims.get(i)).result())
                        .isEqualTo(bytes(ids.get(i).key()));
            } else {
                assertThat(resolved.get(i)).isEqualTo(new Lost(null));
            }
        }
    }

    @Test
    @DisplayName("C1 nothing asked, nothing answered")
    default void emptyLists() {
        Store node = bench().node();
        assertThat(node.claim(List.of())).isEmpty();
        assertThat(node.settle(List.of())).isEmpty();
        assertThat(node.renew(List.of())).isEmpty();
        assertThat(node.find(List.of())).isEmpty();
        assertThat(node.resolve(List.of())).isEmpty();
        assertThat(node.sweep(10)).isEmpty();
        assertThat(node.purge(10)).isZero();
    }

    @Test
    @DisplayName(
            "C1 half a batch of claims and half a batch of settlements are each answered in their place, repeated too")
    default void claimsAndSettlements() {
        List<ClaimRequest> all = shuffled(several("key", Store.BATCH_MAX));
        List<ClaimRequest> running = all.subList(0, 128);
        List<ClaimRequest> next = new ArrayList<>(all.subList(128, 256));
        bench().node().claim(running);
        bench().node().claim(next.subList(0, 10).stream().map(Requests::rival).toList());
        List<Settlement> settlements = new ArrayList<>();
        for (int i = 0; i < running.size(); i++) {
            ClaimRequest claim = i < 10 ? rival(running.get(i)) : running.get(i);
            settlements.add(settlement(claim, COMPLETED, bytes("r" + i)));
        }
        List<SettleResult> settled = bench().node().settle(settlements);
        List<ClaimResult> claimed = bench().node().claim(next);
        assertThat(claimed).hasSize(128);
        assertThat(settled).hasSize(128);
        for (int i = 0; i < 128; i++) {
            assertThat(claimed.get(i)).isInstanceOf(i < 10 ? Existing.class : Claimed.class);
            assertThat(settled.get(i)).isInstanceOf(i < 10 ? Lost.class : Settled.class);
            assertThat(bench().entry(running.get(i)).result()).isEqualTo(i < 10 ? null : bytes("r" + i));
        }
        assertThat(bench().node().claim(next).stream().filter(Claimed.class::isInstance))
                .hasSize(118);
        assertThat(bench().node().settle(settlements)).isEqualTo(settled);
    }

    @Test
    @DisplayName(
            "C5 a batch of which a part was done is repeated with the same tokens: the rest is done, nothing twice")
    default void halfDoneBatches() {
        List<ClaimRequest> claims = shuffled(several("key", 40));
        bench().node().claim(claims.subList(0, 20));
        assertThat(bench().node(1).claim(claims)).hasSize(40).containsOnly(new Claimed(1));
        List<Settlement> ends = claims.stream()
                .map(c -> settlement(c, COMPLETED, bytes(c.id().key())))
                .toList();
        List<SettleResult> half = bench().node().settle(ends.subList(10, 30));
        List<SettleResult> all = bench().node(1).settle(ends);
        assertThat(all.subList(10, 30)).isEqualTo(half);
        assertThat(all).allMatch(Settled.class::isInstance);
        for (ClaimRequest claim : claims) {
            assertThat(bench().entry(claim).result()).isEqualTo(bytes(claim.id().key()));
            assertThat(bench().node().history(claim.id())).hasSize(2);
        }
    }

    @Test
    @DisplayName("R1 a batch of large results keeps each in its place")
    default void largeResults() {
        List<ClaimRequest> claims = shuffled(several("key", 16));
        bench().node().claim(claims);
        List<Settlement> settlements = new ArrayList<>();
        for (int i = 0; i < claims.size(); i++) {
            byte[] result = new byte[100_000 + i];
            new Random(i).nextBytes(result);
            settlements.add(settlement(claims.get(i), COMPLETED, result));
        }
        bench().node().settle(settlements);
        for (int i = 0; i < claims.size(); i++) {
            assertThat(bench().entry(claims.get(i)).result())
                    .isEqualTo(settlements.get(i).result());
        }
    }

    private static <T> List<T> shuffled(List<T> list) {
        List<T> copy = new ArrayList<>(list);
        Collections.shuffle(copy, new Random(42));
        return copy;
    }
}
