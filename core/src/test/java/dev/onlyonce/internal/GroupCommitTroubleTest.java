package dev.onlyonce.internal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assumptions.assumeThat;

import dev.onlyonce.store.ClaimResult;
import dev.onlyonce.store.EntryId;
import dev.onlyonce.store.StoreBusy;
import dev.onlyonce.store.StoreException;
import dev.onlyonce.store.StoreOutcomeUnknown;
import dev.onlyonce.store.StoreUnavailable;
import dev.onlyonce.store.Time;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** One caller's trouble in {@link GroupingStore}: it must stay its own. */
class GroupCommitTroubleTest extends KeptBusy<Future<ClaimResult>> {
    @Override
    Future<ClaimResult> claim(GroupingStore group, String key) {
        return threads.submit(() -> group.claim(GroupedStore.claim(key)));
    }

    @Test
    @DisplayName("D11 D16 a locked row is waited for twice at most, and fails alone")
    void lockedRow() throws Exception {
        EntryId locked = GroupedStore.id("k13");
        AtomicInteger waits = new AtomicInteger();
        GroupingStore group = group(
                store(ids -> {
                    if (ids.contains(locked)) {
                        waits.incrementAndGet();
                        throw new StoreBusy("a lock time-out", null);
                    }
                }),
                1000,
                LONG);
        fillLanes(group);
        List<Future<ClaimResult>> followers = new ArrayList<>();
        for (int i = 0; i < 64; i++) {
            followers.add(claim(group, "k" + i));
            awaitWaiting(group, i + 1);
        }
        gate.countDown();
        for (int i = 0; i < 64; i++) {
            Future<ClaimResult> follower = followers.get(i);
            if (i == 13) {
                assertThatThrownBy(() -> get(follower)).hasCauseInstanceOf(StoreBusy.class);
            } else {
                assertThat(get(follower)).isEqualTo(GroupedStore.claimed(GroupedStore.id("k" + i)));
            }
        }
        // Once with the batch, once alone.
        assertThat(waits).hasValue(2);
    }

    /** Fails as drivers and pools do when their thread is interrupted. */
    private static void failIfInterrupted() {
        if (Thread.currentThread().isInterrupted()) {
            throw new StoreUnavailable("interrupted while waiting for a connection", null);
        }
    }

    @Test
    @DisplayName("D11 a caller that was interrupted before it leads fails nobody, and stays interrupted")
    void interruptedLeader() throws Exception {
        GroupingStore group = group(store(ids -> failIfInterrupted()), 1000, LONG);
        fillLanes(group);
        List<Future<Boolean>> leaders = new ArrayList<>();
        for (int lane = 0; lane < CallQueue.LANES; lane++) {
            String key = "leader-" + lane;
            leaders.add(threads.submit(() -> {
                Thread.currentThread().interrupt();
                group.claim(GroupedStore.claim(key));
                return Thread.interrupted();
            }));
            awaitWaiting(group, lane + 1);
        }
        List<Future<ClaimResult>> followers = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            followers.add(claim(group, "k" + i));
            awaitWaiting(group, CallQueue.LANES + i + 1);
        }
        gate.countDown();
        for (Future<Boolean> leader : leaders) {
            assertThat(get(leader)).as("still interrupted").isTrue();
        }
        for (int i = 0; i < 20; i++) {
            assertThat(get(followers.get(i))).isEqualTo(GroupedStore.claimed(GroupedStore.id("k" + i)));
        }
    }

    @Test
    @DisplayName(
            "D11 an interrupt during the store's call fails nobody: the call is repeated, and the caller stays interrupted")
    void interruptedDuringTheCall() throws Exception {
        AtomicBoolean first = new AtomicBoolean(true);
        GroupingStore group = group(
                store(ids -> {
                    if (first.getAndSet(false)) {
                        Thread.currentThread().interrupt();
                    }
                    failIfInterrupted();
                }),
                10,
                LONG);
        Future<Boolean> caller = threads.submit(() -> {
            group.claim(GroupedStore.claim("a"));
            return Thread.interrupted();
        });
        assertThat(get(caller)).isTrue();
        // The store was not at fault: nobody is kept off it.
        assertThat(group.claim(GroupedStore.claim("b"))).isNotNull();
    }

    @Test
    @DisplayName("D21 a caller that is interrupted whenever it leads fails nobody, and nobody is kept off the store")
    void interruptedEachTime() throws Exception {
        List<StoreException> failures = new CopyOnWriteArrayList<>();
        GroupedStore store = store(ids -> {
            if (Thread.currentThread().getName().startsWith("bad")) {
                Thread.currentThread().interrupt();
            }
            failIfInterrupted();
        });
        GroupingStore group = new GroupingStore(store, time, new GroupingStore.Limits(1000, LONG), failures::add);
        fillLanes(group);
        List<Future<Boolean>> leaders = new ArrayList<>();
        for (int lane = 0; lane < CallQueue.LANES; lane++) {
            String key = "leader-" + lane;
            leaders.add(threads.submit(() -> {
                String name = Thread.currentThread().getName();
                Thread.currentThread().setName("bad-" + key);
                try {
                    assertThat(group.claim(GroupedStore.claim(key)))
                            .isEqualTo(GroupedStore.claimed(GroupedStore.id(key)));
                    return Thread.interrupted();
                } finally {
                    Thread.currentThread().setName(name);
                }
            }));
            awaitWaiting(group, lane + 1);
        }
        List<Future<ClaimResult>> followers = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            followers.add(claim(group, "k" + i));
            awaitWaiting(group, CallQueue.LANES + i + 1);
        }
        gate.countDown();
        for (int i = 0; i < 20; i++) {
            assertThat(get(followers.get(i))).isEqualTo(GroupedStore.claimed(GroupedStore.id("k" + i)));
        }
        for (Future<Boolean> leader : leaders) {
            get(leader);
        }
        assertThat(failures).isEmpty();
        assertThat(group.claim(GroupedStore.claim("b"))).isNotNull();
        group.close();
    }

    @Test
    @DisplayName("D21 a virtual thread never leads to the store, where an interrupt would close its socket")
    void virtualThreads() throws Exception {
        assumeThat(Runtime.version().feature()).as("Java with virtual threads").isGreaterThanOrEqualTo(21);
        Queue<String> leaders = new ConcurrentLinkedQueue<>();
        GroupingStore group =
                group(store(ids -> leaders.add(Thread.currentThread().getName())), 1000, LONG);
        BlockingQueue<Object> answers = new LinkedBlockingQueue<>();
        for (int i = 0; i < 100; i++) {
            String key = "k" + i;
            Runnable caller = () -> {
                Thread.currentThread().interrupt();
                answers.add(group.claim(GroupedStore.claim(key)));
                assertThat(Thread.interrupted()).isTrue();
            };
            Thread.class.getMethod("startVirtualThread", Runnable.class).invoke(null, caller);
        }
        for (int i = 0; i < 100; i++) {
            assertThat(answers.poll(60, TimeUnit.SECONDS)).isInstanceOf(ClaimResult.Claimed.class);
        }
        assertThat(leaders).isNotEmpty().containsOnly("onlyonce-store");
        group.close();
    }

    @Test
    @DisplayName("D11 a leader with no stack left fails nobody but itself")
    void leaderWithoutStack() throws Exception {
        GroupingStore group = group(
                store(ids -> {
                    if (Thread.currentThread().getName().startsWith("deep")) {
                        throw new StackOverflowError("planted");
                    }
                }),
                1000,
                LONG);
        fillLanes(group);
        List<Future<ClaimResult>> leaders = new ArrayList<>();
        for (int lane = 0; lane < CallQueue.LANES; lane++) {
            String key = "leader-" + lane;
            leaders.add(threads.submit(() -> {
                String name = Thread.currentThread().getName();
                Thread.currentThread().setName("deep-" + key);
                try {
                    return group.claim(GroupedStore.claim(key));
                } finally {
                    Thread.currentThread().setName(name);
                }
            }));
            awaitWaiting(group, lane + 1);
        }
        List<Future<ClaimResult>> followers = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            followers.add(claim(group, "k" + i));
            awaitWaiting(group, CallQueue.LANES + i + 1);
        }
        gate.countDown();
        for (int i = 0; i < 20; i++) {
            assertThat(get(followers.get(i))).isEqualTo(GroupedStore.claimed(GroupedStore.id("k" + i)));
        }
        for (Future<ClaimResult> leader : leaders) {
            try {
                get(leader);
            } catch (ExecutionException e) {
                assertThat(e).hasCauseInstanceOf(StoreOutcomeUnknown.class);
            }
        }
    }

    @Test
    @DisplayName("D9 a caller that leads keeps its own time limit: it starts no further call after it")
    void leaderIsBound() {
        AtomicLong passed = new AtomicLong();
        AtomicInteger calls = new AtomicInteger();
        GroupedStore slow = new GroupedStore(ids -> {
            calls.incrementAndGet();
            passed.addAndGet(LONG.toNanos());
            throw new StoreOutcomeUnknown("no answer", null);
        });
        GroupingStore group =
                new GroupingStore(slow, new Ahead(time, passed), new GroupingStore.Limits(10, LONG), failure -> {});
        assertThatThrownBy(() -> group.claim(GroupedStore.claim("a"))).isInstanceOf(StoreOutcomeUnknown.class);
        assertThat(calls).hasValue(1);
        group.close();
    }

    @Test
    @DisplayName("D11 what a leader has no time for goes with the next one")
    void goesWithTheNext() throws Exception {
        AtomicLong passed = new AtomicLong();
        GroupedStore store = store(ids -> {
            if (ids.size() > 1) {
                // The others came later than the leader: their time is not over.
                passed.addAndGet(LONG.toNanos() / 2);
                throw new StoreBusy("a lock time-out", null);
            }
        });
        GroupingStore group =
                new GroupingStore(store, new Ahead(time, passed), new GroupingStore.Limits(100, LONG), failure -> {});
        fillLanes(group);
        List<Future<ClaimResult>> early = new ArrayList<>();
        for (int lane = 0; lane < CallQueue.LANES; lane++) {
            early.add(claim(group, "early-" + lane));
            awaitWaiting(group, lane + 1);
        }
        passed.addAndGet(LONG.toNanos() / 2 + 1);
        Future<ClaimResult> late = claim(group, "late");
        awaitWaiting(group, CallQueue.LANES + 1);
        gate.countDown();
        assertThat(get(late)).isEqualTo(GroupedStore.claimed(GroupedStore.id("late")));
        for (Future<ClaimResult> one : early) {
            try {
                get(one);
            } catch (ExecutionException e) {
                assertThat(e).hasCauseInstanceOf(StoreUnavailable.class);
            }
        }
        group.close();
    }

    @Test
    @DisplayName("C5 a claim that its caller gave up is not sent again when the outcome of the batch is unknown")
    void givenUpIsNotRepeated() throws Exception {
        CountDownLatch gaveUp = new CountDownLatch(1);
        AtomicInteger batches = new AtomicInteger();
        GroupedStore store = store(ids -> {
            if (ids.contains(GroupedStore.id("given-up")) && batches.getAndIncrement() == 0) {
                waitFor(gaveUp);
                throw new StoreOutcomeUnknown("the answer was lost", null);
            }
        });
        GroupingStore group = group(store, 1000, SHORT);
        CompletableFuture<ClaimResult> later = group.claimAsync(GroupedStore.claim("given-up"));
        assertThatThrownBy(() -> get(later)).hasCauseInstanceOf(StoreOutcomeUnknown.class);
        gaveUp.countDown();
        // Both lanes, so that the one that carried it has come back.
        for (int i = 0; i < 10; i++) {
            assertThat(group.claim(GroupedStore.claim("next-" + i))).isNotNull();
        }
        assertThat(batches).hasValue(1);
    }

    /** The system's time, some way ahead. */
    private record Ahead(Time time, AtomicLong nanosAhead) implements Time {
        @Override
        public Instant now() {
            return time.now().plusNanos(nanosAhead.get());
        }

        @Override
        public long nanos() {
            return time.nanos() + nanosAhead.get();
        }

        @Override
        public Scheduled schedule(Duration delay, Runnable task) {
            return time.schedule(delay, task);
        }

        @Override
        public boolean await(CompletableFuture<?> signal, Duration max) throws InterruptedException {
            return time.await(signal, max);
        }

        @Override
        public void close() {}
    }
}
