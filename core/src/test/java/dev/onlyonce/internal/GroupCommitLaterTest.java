package dev.onlyonce.internal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onlyonce.store.ClaimResult;
import dev.onlyonce.store.SettleResult;
import dev.onlyonce.store.StoreOutcomeUnknown;
import dev.onlyonce.store.StoreRejected;
import dev.onlyonce.store.StoreUnavailable;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** {@link GroupingStore} for callers that do not block. */
class GroupCommitLaterTest extends KeptBusy<CompletableFuture<ClaimResult>> {
    @Override
    CompletableFuture<ClaimResult> claim(GroupingStore group, String key) {
        return group.claimAsync(GroupedStore.claim(key));
    }

    private static ClaimResult claimed(String key) {
        return GroupedStore.claimed(GroupedStore.id(key));
    }

    @Test
    @DisplayName("a lone one goes at once, and the caller goes on while the store works")
    void lone() throws Exception {
        GroupingStore group = group(store(ids -> {}), 10, LONG);
        CompletableFuture<ClaimResult> claim = claim(group, "gate-a");
        assertThat(atGate.tryAcquire(60, TimeUnit.SECONDS)).isTrue();
        assertThat(claim).isNotDone();
        gate.countDown();
        assertThat(get(claim)).isEqualTo(claimed("gate-a"));
        SettleResult settled = get(group.settleAsync(GroupedStore.settlement("b")));
        assertThat(settled).isEqualTo(GroupedStore.settled(GroupedStore.id("b")));
    }

    @Test
    @DisplayName(
            "callers that block and callers that do not travel in one call, each id once, each with its own answer")
    void mixed() throws Exception {
        GroupedStore store = store(ids -> {});
        GroupingStore group = group(store, 1000, LONG);
        fillLanes(group);
        List<Future<ClaimResult>> claims = new ArrayList<>();
        for (int i = 0; i < 60; i++) {
            String key = "k" + i;
            claims.add(i % 3 == 0 ? threads.submit(() -> group.claim(GroupedStore.claim(key))) : claim(group, key));
            awaitWaiting(group, i + 1);
        }
        Future<ClaimResult> again = claim(group, "k7");
        gate.countDown();
        for (int i = 0; i < 60; i++) {
            assertThat(get(claims.get(i))).isEqualTo(claimed("k" + i));
        }
        assertThat(get(again)).isEqualTo(claimed("k7"));
        assertThat(store.breaches).isEmpty();
        assertThat(store.calls.stream().mapToInt(List::size).max().orElseThrow())
                .isGreaterThan(60 - 2 * CallQueue.LANES);
    }

    @Test
    @DisplayName("a caller that blocks leads for those that do not, and the other way round")
    void leadsForOthers() throws Exception {
        GroupedStore store = store(ids -> {});
        GroupingStore group = group(store, 1000, LONG);
        List<Future<ClaimResult>> blocking = new ArrayList<>();
        for (int lane = 0; lane < CallQueue.LANES; lane++) {
            String key = "gate-" + lane;
            blocking.add(threads.submit(() -> group.claim(GroupedStore.claim(key))));
            assertThat(atGate.tryAcquire(60, TimeUnit.SECONDS)).isTrue();
        }
        CompletableFuture<ClaimResult> later = claim(group, "later");
        blocking.add(threads.submit(() -> group.claim(GroupedStore.claim("blocking"))));
        awaitWaiting(group, 2);
        gate.countDown();
        assertThat(get(later)).isEqualTo(claimed("later"));
        for (Future<ClaimResult> caller : blocking) {
            assertThat(get(caller)).isNotNull();
        }
    }

    @Test
    @DisplayName("claims and settlements travel in calls of their own")
    void kinds() throws Exception {
        GroupedStore store = store(ids -> {});
        GroupingStore group = group(store, 1000, LONG);
        fillLanes(group);
        List<Future<?>> all = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            all.add(claim(group, "claim-" + i));
            all.add(group.settleAsync(GroupedStore.settlement("settle-" + i)));
        }
        gate.countDown();
        for (Future<?> one : all) {
            get(one);
        }
        assertThat(store.calls)
                .allSatisfy(ids -> assertThat(ids.stream()
                                .map(id -> id.key().substring(0, id.key().indexOf('-')))
                                .distinct())
                        .hasSize(1));
    }

    @Test
    @DisplayName("a bad row fails itself and nobody else")
    void badRow() throws Exception {
        GroupedStore store = store(ids -> {
            if (ids.contains(GroupedStore.id("k13"))) {
                throw new StoreRejected("a bad row", null);
            }
        });
        GroupingStore group = group(store, 1000, LONG);
        fillLanes(group);
        List<CompletableFuture<ClaimResult>> claims = new ArrayList<>();
        for (int i = 0; i < 64; i++) {
            claims.add(claim(group, "k" + i));
        }
        gate.countDown();
        for (int i = 0; i < 64; i++) {
            CompletableFuture<ClaimResult> claim = claims.get(i);
            if (i == 13) {
                assertThatThrownBy(() -> get(claim)).hasCauseInstanceOf(StoreRejected.class);
            } else {
                assertThat(get(claim)).isEqualTo(claimed("k" + i));
            }
        }
    }

    @Test
    @DisplayName("D9 a store that is unavailable fails them, and is not hammered")
    void unavailable() {
        GroupedStore store = store(ids -> {
            throw new StoreUnavailable("refused", null);
        });
        GroupingStore group = group(store, 10, LONG);
        for (int i = 0; i < 1000; i++) {
            assertThatThrownBy(() -> get(claim(group, "a"))).hasCauseInstanceOf(StoreUnavailable.class);
        }
        assertThat(store.calls).hasSizeLessThan(100);
    }

    @Test
    @DisplayName("C5 a call with an unknown outcome is repeated; if it stays unknown its callers learn so")
    void outcomeUnknown() {
        GroupedStore store = store(ids -> {
            throw new StoreOutcomeUnknown("reset", null);
        });
        GroupingStore group = group(store, 10, LONG);
        assertThatThrownBy(() -> get(claim(group, "a"))).hasCauseInstanceOf(StoreOutcomeUnknown.class);
        assertThat(store.calls).hasSize(BatchWriter.OUTCOME_TRIES);
    }

    @Test
    @DisplayName("the queue is bounded: one too many is refused at once")
    void queueBound() throws Exception {
        GroupingStore group = group(store(ids -> {}), 3, LONG);
        fillLanes(group);
        List<CompletableFuture<ClaimResult>> waiting = List.of(claim(group, "a"), claim(group, "b"), claim(group, "c"));
        CompletableFuture<ClaimResult> tooMany = claim(group, "d");
        assertThat(tooMany).isCompletedExceptionally();
        assertThatThrownBy(() -> get(tooMany))
                .hasCauseInstanceOf(StoreUnavailable.class)
                .hasMessageContaining("Too many");
        gate.countDown();
        for (CompletableFuture<ClaimResult> one : waiting) {
            get(one);
        }
    }

    @Test
    @DisplayName(
            "a store that hangs: nothing was done for those in the queue, nothing is known of those under way; then all goes on")
    void waitBound() throws Exception {
        GroupingStore group = group(store(ids -> {}), 10, SHORT);
        List<CompletableFuture<ClaimResult>> underWay = fillLanes(group);
        CompletableFuture<ClaimResult> waiting = claim(group, "a");
        assertThatThrownBy(() -> get(waiting)).hasCauseInstanceOf(StoreUnavailable.class);
        for (CompletableFuture<ClaimResult> one : underWay) {
            assertThatThrownBy(() -> get(one)).hasCauseInstanceOf(StoreOutcomeUnknown.class);
        }
        assertThat(group.waiting()).isZero();
        assertThatThrownBy(() -> get(claim(group, "b")))
                .hasCauseInstanceOf(StoreUnavailable.class)
                .hasMessageContaining("has not answered");
        gate.countDown();
        awaitAnswered(group, "c");
    }

    /** The lanes come free a moment after the store goes on. */
    private void awaitAnswered(GroupingStore group, String key) throws Exception {
        while (true) {
            CompletableFuture<ClaimResult> claim = claim(group, key);
            try {
                assertThat(claim.get(60, TimeUnit.SECONDS)).isEqualTo(claimed(key));
                return;
            } catch (ExecutionException e) {
                assertThat(e).hasCauseInstanceOf(StoreUnavailable.class);
            }
        }
    }

    @Test
    @DisplayName("what was given up is not sent again when the batch is rejected")
    void givenUp() throws Exception {
        CountDownLatch gaveUp = new CountDownLatch(1);
        GroupedStore store = store(ids -> {
            if (ids.size() > 1) {
                waitFor(gaveUp);
                throw new StoreRejected("a bad row", null);
            }
        });
        GroupingStore group = group(store, 1000, SHORT);
        fillLanes(group);
        CompletableFuture<ClaimResult> one = claim(group, "a");
        CompletableFuture<ClaimResult> other = claim(group, "b");
        gate.countDown();
        assertThatThrownBy(() -> get(one)).hasCauseInstanceOf(StoreOutcomeUnknown.class);
        assertThatThrownBy(() -> get(other)).hasCauseInstanceOf(StoreOutcomeUnknown.class);
        gaveUp.countDown();
        awaitAnswered(group, "c");
        assertThat(store.calls)
                .contains(List.of(GroupedStore.id("a"), GroupedStore.id("b")))
                .doesNotContain(List.of(GroupedStore.id("a")), List.of(GroupedStore.id("b")));
    }

    @Test
    @DisplayName("who has an answer gets it within the bound, though the rest of its batch hangs")
    void halfHangs() throws Exception {
        CountDownLatch second = new CountDownLatch(1);
        GroupedStore store = store(ids -> {
            if (ids.size() > 1) {
                throw new StoreRejected("a bad row", null);
            }
            if (ids.contains(GroupedStore.id("b"))) {
                waitFor(second);
            }
        });
        GroupingStore group = group(store, 1000, SHORT);
        fillLanes(group);
        CompletableFuture<ClaimResult> one = claim(group, "a");
        CompletableFuture<ClaimResult> other = claim(group, "b");
        gate.countDown();
        assertThat(get(one)).isEqualTo(claimed("a"));
        assertThatThrownBy(() -> get(other)).hasCauseInstanceOf(StoreOutcomeUnknown.class);
        second.countDown();
    }

    @Test
    @DisplayName("a large call that hangs does not hold up the few who come after it")
    void passesBy() throws Exception {
        CountDownLatch second = new CountDownLatch(1);
        Semaphore hanging = new Semaphore(0);
        // Not two: both lanes get free, and the leader of the other one may take along who comes late.
        GroupedStore store = store(ids -> {
            if (ids.size() > 2) {
                hanging.release();
                waitFor(second);
            }
        });
        GroupingStore group = group(store, 100, LONG);
        fillLanes(group);
        List<CompletableFuture<ClaimResult>> many = new ArrayList<>();
        for (int i = 0; i < 10; i++) {
            many.add(claim(group, "k" + i));
        }
        gate.countDown();
        assertThat(hanging.tryAcquire(60, TimeUnit.SECONDS)).isTrue();
        assertThat(get(claim(group, "late"))).isEqualTo(claimed("late"));
        second.countDown();
        for (CompletableFuture<ClaimResult> one : many) {
            get(one);
        }
    }

    @Test
    @DisplayName("what follows may throw: neither the batch nor the lane suffers")
    void throwsAfter() throws Exception {
        GroupedStore store = store(ids -> {});
        GroupingStore group = group(store, 1000, LONG);
        fillLanes(group);
        List<CompletableFuture<ClaimResult>> claims = new ArrayList<>();
        for (int i = 0; i < 10; i++) {
            CompletableFuture<ClaimResult> claim = claim(group, "k" + i);
            var unused = claim.thenAccept(result -> {
                throw new StackOverflowError("in what follows");
            });
            claims.add(claim);
        }
        gate.countDown();
        for (int i = 0; i < 10; i++) {
            assertThat(get(claims.get(i))).isEqualTo(claimed("k" + i));
        }
        assertThat(get(claim(group, "next"))).isEqualTo(claimed("next"));
        assertThat(store.calls.stream().flatMap(List::stream)).doesNotHaveDuplicates();
    }

    @Test
    @DisplayName("what follows may ask for the next thing")
    void chains() throws Exception {
        GroupingStore group = group(store(ids -> {}), 1000, LONG);
        List<CompletableFuture<SettleResult>> settled = new ArrayList<>();
        for (int i = 0; i < 200; i++) {
            String key = "k" + i;
            settled.add(claim(group, key).thenCompose(result -> group.settleAsync(GroupedStore.settlement(key))));
        }
        for (int i = 0; i < 200; i++) {
            assertThat(get(settled.get(i))).isEqualTo(GroupedStore.settled(GroupedStore.id("k" + i)));
        }
    }

    @Test
    @DisplayName("D11 an error in the store reaches the one that caused it, nobody else, and frees the lane")
    void error() throws Exception {
        GroupingStore group = group(
                store(ids -> {
                    if (ids.contains(GroupedStore.id("b"))) {
                        throw new StackOverflowError();
                    }
                }),
                10,
                LONG);
        fillLanes(group);
        CompletableFuture<ClaimResult> one = claim(group, "a");
        CompletableFuture<ClaimResult> other = claim(group, "b");
        gate.countDown();
        assertThat(get(one)).isEqualTo(claimed("a"));
        assertThatThrownBy(() -> get(other)).hasRootCauseInstanceOf(StackOverflowError.class);
        for (int lane = 0; lane < CallQueue.LANES; lane++) {
            assertThat(get(claim(group, "c" + lane))).isEqualTo(claimed("c" + lane));
        }
    }

    @Test
    @DisplayName("closing ends the threads; what comes after it is still carried")
    void closed() throws Exception {
        AtomicReference<Thread> leader = new AtomicReference<>();
        GroupingStore group = group(store(ids -> leader.set(Thread.currentThread())), 10, LONG);
        get(claim(group, "a"));
        Thread first = leader.get();
        assertThat(first).isNotEqualTo(Thread.currentThread());
        assertThat(first.isDaemon()).isTrue();
        group.close();
        first.join(Duration.ofSeconds(60).toMillis());
        assertThat(first.isAlive()).isFalse();
        assertThat(get(claim(group, "b"))).isEqualTo(claimed("b"));
    }
}
