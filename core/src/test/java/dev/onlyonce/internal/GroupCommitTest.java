package dev.onlyonce.internal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onlyonce.store.ClaimRequest;
import dev.onlyonce.store.ClaimResult;
import dev.onlyonce.store.StoreOutcomeUnknown;
import dev.onlyonce.store.StoreRejected;
import dev.onlyonce.store.StoreUnavailable;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class GroupCommitTest extends KeptBusy<Future<ClaimResult>> {
    @Override
    Future<ClaimResult> claim(GroupingStore group, String key) {
        return threads.submit(() -> group.claim(GroupedStore.claim(key)));
    }

    @Test
    @DisplayName("a lone caller goes at once and alone")
    void lone() {
        GroupedStore store = store(ids -> {});
        GroupingStore group = group(store, 10, LONG);
        assertThat(group.claim(GroupedStore.claim("a"))).isEqualTo(GroupedStore.claimed(GroupedStore.id("a")));
        assertThat(group.find(GroupedStore.id("a"))).isPresent();
        assertThat(store.calls).containsExactly(List.of(GroupedStore.id("a")), List.of(GroupedStore.id("a")));
    }

    @Test
    @DisplayName("what gathers while the lanes are busy travels in one call, each id once")
    void gathers() throws Exception {
        GroupedStore store = store(ids -> {});
        GroupingStore group = group(store, 1000, LONG);
        List<Future<ClaimResult>> leaders = fillLanes(group);
        List<Future<ClaimResult>> followers = new ArrayList<>();
        for (int i = 0; i < 50; i++) {
            followers.add(claim(group, "k" + i));
        }
        followers.add(claim(group, "k7"));
        awaitWaiting(group, 51);
        gate.countDown();
        for (Future<ClaimResult> leader : leaders) {
            get(leader);
        }
        for (int i = 0; i < 50; i++) {
            assertThat(get(followers.get(i))).isEqualTo(GroupedStore.claimed(GroupedStore.id("k" + i)));
        }
        assertThat(get(followers.get(50))).isEqualTo(GroupedStore.claimed(GroupedStore.id("k7")));
        assertThat(store.breaches).isEmpty();
        // Each lane's next leader is one of the 50; the one that comes first takes all the others along.
        assertThat(store.calls.stream().mapToInt(List::size).max().orElseThrow())
                .isGreaterThan(50 - CallQueue.LANES);
    }

    @Test
    @DisplayName("a bad row fails its own caller and nobody else, in far fewer calls than there are rows")
    void badRow() throws Exception {
        GroupedStore store = store(ids -> {
            if (ids.contains(GroupedStore.id("k13"))) {
                throw new StoreRejected("a bad row", null);
            }
        });
        GroupingStore group = group(store, 1000, LONG);
        fillLanes(group);
        List<Future<ClaimResult>> followers = new ArrayList<>();
        for (int i = 0; i < 64; i++) {
            followers.add(claim(group, "k" + i));
            awaitWaiting(group, i + 1);
        }
        gate.countDown();
        for (int i = 0; i < 64; i++) {
            if (i == 13) {
                Future<ClaimResult> bad = followers.get(i);
                assertThatThrownBy(() -> get(bad)).hasCauseInstanceOf(StoreRejected.class);
            } else {
                assertThat(get(followers.get(i))).isEqualTo(GroupedStore.claimed(GroupedStore.id("k" + i)));
            }
        }
        assertThat(store.calls).hasSizeLessThan(CallQueue.LANES + 20);
    }

    @Test
    @DisplayName("what its caller has given up is not sent again when the batch is rejected")
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
        List<Future<ClaimResult>> leaders = leadersInWaiting(group);
        Future<ClaimResult> follower = claim(group, "b");
        awaitWaiting(group, CallQueue.LANES + 1);
        gate.countDown();
        assertThatThrownBy(() -> get(follower)).hasCauseInstanceOf(StoreOutcomeUnknown.class);
        gaveUp.countDown();
        // The leader has waited for as long as the follower: nothing was done for it, and it learns so.
        assertThatThrownBy(() -> get(leaders.get(0))).hasCauseInstanceOf(StoreUnavailable.class);
        assertThat(group.claim(GroupedStore.claim("c"))).isNotNull();
        assertThat(store.calls).doesNotContain(List.of(GroupedStore.id("b")));
    }

    @Test
    @DisplayName("claims, settlements and look-ups travel in calls of their own")
    void kinds() throws Exception {
        GroupedStore store = store(ids -> {});
        GroupingStore group = group(store, 1000, LONG);
        fillLanes(group);
        List<Future<?>> followers = new ArrayList<>();
        for (int i = 0; i < 10; i++) {
            String key = String.valueOf(i);
            followers.add(threads.submit(() -> group.claim(GroupedStore.claim("claim-" + key))));
            followers.add(threads.submit(() -> group.settle(GroupedStore.settlement("settle-" + key))));
            followers.add(threads.submit(() -> group.find(GroupedStore.id("find-" + key))));
        }
        awaitWaiting(group, followers.size());
        gate.countDown();
        for (Future<?> follower : followers) {
            get(follower);
        }
        assertThat(store.calls)
                .allSatisfy(ids -> assertThat(ids.stream()
                                .map(id -> id.key().substring(0, id.key().indexOf('-')))
                                .distinct())
                        .hasSize(1));
        assertThat(store.calls.stream().mapToInt(List::size).max().orElseThrow())
                .isGreaterThan(5);
    }

    @Test
    @DisplayName("C5 a call with an unknown outcome is repeated with the same tokens, a bounded number of times")
    void repeats() {
        AtomicInteger failures = new AtomicInteger(BatchWriter.OUTCOME_TRIES - 1);
        GroupedStore store = store(ids -> {
            if (failures.getAndDecrement() > 0) {
                throw new StoreOutcomeUnknown("reset", null);
            }
        });
        GroupingStore group = group(store, 10, LONG);
        ClaimRequest request = GroupedStore.claim("a");
        assertThat(group.claim(request)).isEqualTo(GroupedStore.claimed(request.id()));
        assertThat(store.calls).hasSize(BatchWriter.OUTCOME_TRIES);

        failures.set(BatchWriter.OUTCOME_TRIES);
        assertThatThrownBy(() -> group.claim(request)).isInstanceOf(StoreOutcomeUnknown.class);
    }

    @Test
    @DisplayName("an unavailable store after an unknown outcome leaves the outcome unknown")
    void staysUnknown() {
        AtomicInteger calls = new AtomicInteger();
        GroupingStore group = group(
                store(ids -> {
                    throw calls.incrementAndGet() == 1
                            ? new StoreOutcomeUnknown("reset", null)
                            : new StoreUnavailable("refused", null);
                }),
                10,
                LONG);
        assertThatThrownBy(() -> group.claim(GroupedStore.claim("a"))).isInstanceOf(StoreOutcomeUnknown.class);
    }

    @Test
    @DisplayName("D9 a store that is unavailable is not hammered")
    void pauses() {
        GroupedStore store = store(ids -> {
            throw new StoreUnavailable("refused", null);
        });
        GroupingStore group = group(store, 10, LONG);
        for (int i = 0; i < 1000; i++) {
            assertThatThrownBy(() -> group.claim(GroupedStore.claim("a"))).isInstanceOf(StoreUnavailable.class);
        }
        assertThat(store.calls).hasSizeLessThan(100);
    }

    @Test
    @DisplayName("the queue is bounded: one caller too many is refused at once")
    void queueBound() throws Exception {
        GroupingStore group = group(store(ids -> {}), 3, LONG);
        fillLanes(group);
        List<Future<ClaimResult>> followers = List.of(claim(group, "a"), claim(group, "b"), claim(group, "c"));
        awaitWaiting(group, 3);
        assertThatThrownBy(() -> group.claim(GroupedStore.claim("d")))
                .isInstanceOf(StoreUnavailable.class)
                .hasMessageContaining("Too many");
        gate.countDown();
        for (Future<ClaimResult> follower : followers) {
            get(follower);
        }
    }

    @Test
    @DisplayName("the wait is bounded: nothing was done for those in the queue, nothing is known of those under way")
    void waitBound() throws Exception {
        GroupingStore group = group(store(ids -> {}), 10, SHORT);
        List<Future<ClaimResult>> leaders = fillLanes(group);
        Future<ClaimResult> follower = claim(group, "a");
        assertThatThrownBy(() -> get(follower)).hasCauseInstanceOf(StoreUnavailable.class);
        assertThat(group.waiting()).isZero();
        assertThatThrownBy(() -> group.claim(GroupedStore.claim("b")))
                .isInstanceOf(StoreUnavailable.class)
                .hasMessageContaining("has not answered");
        gate.countDown();
        for (Future<ClaimResult> leader : leaders) {
            get(leader);
        }
        assertThat(group.claim(GroupedStore.claim("c"))).isNotNull();
    }

    @Test
    @DisplayName("the outcome is unknown to a follower whose batch the store does not answer in time")
    void underWay() throws Exception {
        CountDownLatch second = new CountDownLatch(1);
        GroupingStore group = group(
                store(ids -> {
                    if (ids.contains(GroupedStore.id("b"))) {
                        waitFor(second);
                    }
                }),
                10,
                SHORT);
        fillLanes(group);
        List<Future<ClaimResult>> leaders = leadersInWaiting(group);
        Future<ClaimResult> follower = claim(group, "b");
        awaitWaiting(group, CallQueue.LANES + 1);
        gate.countDown();
        assertThatThrownBy(() -> get(follower))
                .isInstanceOf(ExecutionException.class)
                .hasCauseInstanceOf(StoreOutcomeUnknown.class);
        second.countDown();
        assertThat(get(leaders.get(0))).isEqualTo(GroupedStore.claimed(GroupedStore.id("next-0")));
    }

    /** One for each lane, first in the queue, so that later callers follow. */
    private List<Future<ClaimResult>> leadersInWaiting(GroupingStore group) {
        List<Future<ClaimResult>> leaders = new ArrayList<>();
        for (int lane = 0; lane < CallQueue.LANES; lane++) {
            leaders.add(claim(group, "next-" + lane));
            awaitWaiting(group, lane + 1);
        }
        return leaders;
    }

    @Test
    @DisplayName("a large call that hangs does not hold up the few who come after it")
    void passesBy() throws Exception {
        CountDownLatch second = new CountDownLatch(1);
        // Not two: both lanes get free, and the leader of the other one may take along who comes late.
        GroupedStore store = store(ids -> {
            if (ids.size() > 2) {
                atGate.release();
                waitFor(second);
            }
        });
        GroupingStore group = group(store, 100, LONG);
        fillLanes(group);
        List<Future<ClaimResult>> many = new ArrayList<>();
        for (int i = 0; i < 10; i++) {
            many.add(claim(group, "k" + i));
            awaitWaiting(group, i + 1);
        }
        gate.countDown();
        assertThat(atGate.tryAcquire(60, TimeUnit.SECONDS)).isTrue();
        assertThat(get(claim(group, "late"))).isEqualTo(GroupedStore.claimed(GroupedStore.id("late")));
        second.countDown();
        for (Future<ClaimResult> one : many) {
            get(one);
        }
    }

    @Test
    @DisplayName("an interrupted caller gets its answer and stays interrupted")
    void interrupted() throws Exception {
        GroupingStore group = group(store(ids -> {}), 10, LONG);
        fillLanes(group);
        Callable<Boolean> caller = () -> {
            Thread.currentThread().interrupt();
            group.claim(GroupedStore.claim("a"));
            return Thread.interrupted();
        };
        Future<Boolean> interrupted = threads.submit(caller);
        awaitWaiting(group, 1);
        gate.countDown();
        assertThat(get(interrupted)).isTrue();
    }

    @Test
    @DisplayName("D11 an error in the store reaches the caller that caused it, nobody else, and frees the lane")
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
        List<Future<ClaimResult>> leaders = leadersInWaiting(group);
        Future<ClaimResult> follower = claim(group, "b");
        awaitWaiting(group, CallQueue.LANES + 1);
        gate.countDown();
        assertThatThrownBy(() -> get(follower)).hasRootCauseInstanceOf(StackOverflowError.class);
        for (int lane = 0; lane < CallQueue.LANES; lane++) {
            assertThat(get(leaders.get(lane))).isEqualTo(GroupedStore.claimed(GroupedStore.id("next-" + lane)));
        }
        assertThat(group.claim(GroupedStore.claim("c"))).isNotNull();
    }
}
