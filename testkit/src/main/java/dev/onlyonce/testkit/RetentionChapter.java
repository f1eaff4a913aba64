package dev.onlyonce.testkit;

import static dev.onlyonce.store.State.COMPLETED;
import static dev.onlyonce.store.State.EXPIRED;
import static dev.onlyonce.store.State.FAILED;
import static dev.onlyonce.store.State.RETRYABLE;
import static dev.onlyonce.store.State.UNKNOWN;
import static dev.onlyonce.testkit.Requests.KEPT;
import static dev.onlyonce.testkit.Requests.LEASE;
import static dev.onlyonce.testkit.Requests.MICRO;
import static dev.onlyonce.testkit.Requests.RETENTION;
import static dev.onlyonce.testkit.Requests.TOMBSTONE;
import static dev.onlyonce.testkit.Requests.accepting;
import static dev.onlyonce.testkit.Requests.bytes;
import static dev.onlyonce.testkit.Requests.fresh;
import static dev.onlyonce.testkit.Requests.on;
import static dev.onlyonce.testkit.Requests.rival;
import static dev.onlyonce.testkit.Requests.several;
import static dev.onlyonce.testkit.Requests.withBody;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import dev.onlyonce.store.ClaimRequest;
import dev.onlyonce.store.ClaimResult;
import dev.onlyonce.store.Entry;
import dev.onlyonce.store.OnLeaseLost;
import dev.onlyonce.store.SettleResult.Settled;
import dev.onlyonce.store.State;
import dev.onlyonce.store.Terms;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Retention, tombstones and purging. */
interface RetentionChapter extends Chapter {

    @Test
    @DisplayName("T2 the clock that a store shows is the one that its entries follow")
    default void clock() {
        ClaimRequest request = fresh("key");
        bench().claimed(request);
        for (int i = 0; i < 2; i++) {
            Instant read = bench().entry(request).readAt();
            bench().node().now().ifPresent(now -> assertThat(now).isBetween(read, read.plusSeconds(10)));
            bench().advance(Duration.ofDays(1));
        }
    }

    @Test
    @DisplayName("T1 retention counts from settling, not from the claim")
    default void countsFromSettling() {
        ClaimRequest request = fresh("key");
        bench().claimed(request);
        bench().advance(RETENTION.minus(Duration.ofSeconds(1)));
        assertThat(bench().renew(request, LEASE)).isTrue();
        Settled settled = bench().settled(request, COMPLETED, bytes("done"));
        assertThat(settled.retention()).isEqualTo(RETENTION);
        bench().advance(RETENTION.minus(Duration.ofSeconds(1)));
        assertThat(bench().entry(request).result()).isEqualTo(bytes("done"));
        assertThat(bench().refused(rival(request)).state()).isEqualTo(COMPLETED);
    }

    @Test
    @DisplayName("T1 an entry answers until the last microsecond of its retention, and not at its end")
    default void expiryEdges() {
        ClaimRequest request = on(KEPT, fresh("key"));
        bench().claimed(request);
        Instant end = requireNonNull(
                bench().settled(request, COMPLETED, bytes("done")).expiresAt());
        bench().advanceTo(end, MICRO.negated());
        shownByTheClock(bench().entry(request), end);
        shownByTheClock(bench().refused(rival(request)), end);
        bench().advanceTo(end, Duration.ZERO);
        Entry after = bench().refused(rival(request));
        assertThat(after.readAt()).isAfterOrEqualTo(end);
        assertThat(after.state()).isEqualTo(EXPIRED);
        assertThat(after.result()).isNull();
        assertThat(bench().entry(request).state()).isEqualTo(EXPIRED);
    }

    private static void shownByTheClock(Entry entry, Instant end) {
        boolean over = !entry.readAt().isBefore(end);
        assertThat(entry.state()).isEqualTo(over ? EXPIRED : COMPLETED);
        assertThat(entry.result()).isEqualTo(over ? null : bytes("done"));
    }

    @Test
    @DisplayName("T2 without a tombstone the key is free at the end of its retention, not a microsecond before")
    default void startsAnew() {
        ClaimRequest request = fresh("key");
        bench().claimed(request);
        Instant end = requireNonNull(
                bench().settled(request, COMPLETED, bytes("done")).expiresAt());
        bench().advanceTo(end, MICRO.negated());
        Optional<Entry> before = bench().find(request);
        assertThat(before.isPresent() || !bench().now().isBefore(end)).isTrue();

        bench().advanceTo(end, Duration.ZERO);
        assertThat(bench().find(request)).isEmpty();
        ClaimRequest next = withBody("another body", rival(request));
        assertThat(bench().claimed(next)).isEqualTo(1);
        Entry entry = bench().entry(next);
        assertThat(entry.fingerprint()).isEqualTo(next.fingerprint());
        assertThat(entry.createdAt()).isAfterOrEqualTo(end);
        assertThat(entry.leaseUntil()).isEqualTo(entry.createdAt().plus(LEASE));
        assertThat(entry.settledAt()).isNull();
        assertThat(entry.expiresAt()).isNull();
        assertThat(entry.result()).isNull();
    }

    @Test
    @DisplayName("T2 a claim a microsecond before the end of retention is refused")
    default void notBeforeTheEnd() {
        ClaimRequest request = fresh("key");
        bench().claimed(request);
        Instant end = requireNonNull(
                bench().settled(request, COMPLETED, bytes("done")).expiresAt());
        bench().advanceTo(end, MICRO.negated());
        ClaimResult result = bench().claim(rival(request));
        if (bench().now().isBefore(end)) { // always, unless the clock runs by itself
            assertThat(result).isInstanceOf(ClaimResult.Existing.class);
        }
    }

    @ParameterizedTest
    @EnumSource(
            value = State.class,
            names = {"COMPLETED", "FAILED"})
    @DisplayName("T2 a tombstone remembers key, fingerprint and times without the result, until it too is over")
    default void tombstone(State answered) {
        ClaimRequest request = on(KEPT, fresh("key"));
        bench().claimed(request);
        Settled settled = bench().settled(request, answered, bytes("done"));
        bench().advance(RETENTION);
        Snapshot before = Snapshot.of(bench().entry(request));
        assertThat(before.state()).isEqualTo(EXPIRED);
        assertThat(before.fingerprint()).isEqualTo(request.fingerprint());
        assertThat(before.operation()).isEqualTo(request.operation());
        assertThat(before.settledAt()).isEqualTo(settled.settledAt());
        assertThat(before.expiresAt()).isEqualTo(settled.expiresAt());
        assertThat(before.result()).isNull();
        assertThat(bench().node().purge(10)).isEqualTo(1);
        assertThat(bench().snapshot(request)).contains(before);

        Instant end = requireNonNull(settled.expiresAt()).plus(TOMBSTONE);
        bench().advanceTo(end, MICRO.negated());
        Optional<Snapshot> last = bench().snapshot(request);
        assertThat(last.isPresent() || !bench().now().isBefore(end)).isTrue();
        last.ifPresent(entry -> assertThat(entry).isEqualTo(before));
        bench().advanceTo(end, Duration.ZERO);
        assertThat(bench().find(request)).isEmpty();
        assertThat(bench().node().purge(10)).isEqualTo(1);
        assertThat(bench().node().purge(10)).isZero();
    }

    @Test
    @DisplayName("T2 retention of zero: settled is expired at once")
    default void zeroRetention() {
        ClaimRequest gone = on(new Terms(LEASE, OnLeaseLost.UNKNOWN, Duration.ZERO, Duration.ZERO), fresh("gone"));
        bench().claimed(gone);
        assertThat(bench().settled(gone, COMPLETED, bytes("done")).retention()).isZero();
        assertThat(bench().find(gone)).isEmpty();

        ClaimRequest kept = on(new Terms(LEASE, OnLeaseLost.UNKNOWN, Duration.ZERO, TOMBSTONE), fresh("kept"));
        bench().claimed(kept);
        bench().settled(kept, COMPLETED, bytes("done"));
        assertThat(bench().entry(kept).state()).isEqualTo(EXPIRED);
        assertThat(bench().entry(kept).result()).isNull();
    }

    @Test
    @DisplayName("T3 purging deletes only settled, expired entries, whatever else is as old")
    default void purgesOnlySettled() {
        ClaimRequest processing = fresh("processing");
        ClaimRequest pending = accepting(fresh("pending"));
        ClaimRequest unknown = fresh("unknown");
        List<State> ended = List.of(COMPLETED, FAILED, RETRYABLE);
        List<ClaimRequest> all = List.of(fresh("completed"), fresh("failed"), fresh("retryable"));
        bench().node().claim(all);
        for (int i = 0; i < ended.size(); i++) {
            bench().settled(all.get(i), ended.get(i), null);
        }
        bench().node().claim(List.of(processing, pending, unknown));
        bench().settled(unknown, UNKNOWN, null);
        bench().advance(RETENTION.plus(TOMBSTONE).multipliedBy(20));
        ClaimRequest recent = fresh("recent");
        bench().claimed(recent);
        bench().settled(recent, COMPLETED, bytes("recent"));

        List<Optional<Snapshot>> before = snapshots(processing, pending, unknown, recent);
        assertThat(before).allMatch(Optional::isPresent);
        assertThat(bench().node().purge(100)).isEqualTo(3);
        assertThat(snapshots(processing, pending, unknown, recent)).isEqualTo(before);
        all.forEach(claim -> assertThat(bench().find(claim)).isEmpty());
    }

    private List<Optional<Snapshot>> snapshots(ClaimRequest... claims) {
        return List.of(claims).stream().map(claim -> bench().snapshot(claim)).toList();
    }

    @Test
    @DisplayName("T3 a purge removes an entry at the end of its retention, not a microsecond before")
    default void purgeEdges() {
        ClaimRequest request = fresh("key");
        bench().claimed(request);
        Instant end = requireNonNull(
                bench().settled(request, COMPLETED, bytes("done")).expiresAt());
        bench().advanceTo(end, MICRO.negated());
        int early = bench().node().purge(10);
        if (bench().now().isBefore(end)) { // always, unless the clock runs by itself
            assertThat(early).isZero();
            assertThat(bench().entry(request).result()).isEqualTo(bytes("done"));
        }
        bench().advanceTo(end, Duration.ZERO);
        assertThat(early + bench().node().purge(10)).isEqualTo(1);
    }

    @Test
    @DisplayName("T3 a purge removes no more than its limit, and the next one goes on")
    default void purgeLimit() {
        List<ClaimRequest> requests = several("old", 25);
        bench().node().claim(requests);
        bench().node()
                .settle(requests.stream()
                        .map(r -> Requests.settlement(r, COMPLETED, bytes("x")))
                        .toList());
        bench().advance(RETENTION);
        for (int expected : new int[] {10, 10, 5, 0}) {
            assertThat(bench().node().purge(10)).isEqualTo(expected);
        }
    }

    @Test
    @DisplayName("T3 tombstones that are not over do not keep the purge from the entries behind them")
    default void purgesPastTombstones() {
        List<ClaimRequest> kept =
                several("a-kept", 20).stream().map(r -> on(KEPT, r)).toList();
        List<ClaimRequest> gone = several("b-gone", 5);
        for (List<ClaimRequest> requests : List.of(kept, gone)) {
            bench().node().claim(requests);
            requests.forEach(r -> bench().settled(r, COMPLETED, null));
        }
        bench().advance(RETENTION);
        int purged = 0;
        for (int round = 0; round < 5; round++) {
            purged += bench().node().purge(5);
        }
        assertThat(purged).isEqualTo(25);
        assertThat(bench().node().purge(5)).isZero();
        assertThat(bench().entry(kept.get(0)).state()).isEqualTo(EXPIRED);
    }

    @Test
    @DisplayName(
            "D6 an unknown entry never expires: it waits for its resolution, and answers for its retention after it")
    default void unknownWaits() {
        ClaimRequest request = fresh("key");
        bench().claimed(request);
        assertThat(bench().settled(request, UNKNOWN, null).expiresAt()).isNull();
        bench().advance(RETENTION.multipliedBy(400));
        assertThat(bench().node().purge(10)).isZero();
        assertThat(bench().refused(rival(request)).state()).isEqualTo(UNKNOWN);
        assertThat(bench().resolve(request, 1, COMPLETED, bytes("found"))).isInstanceOf(Settled.class);
        bench().advance(RETENTION.minus(Duration.ofSeconds(1)));
        assertThat(bench().refused(rival(request)).result()).isEqualTo(bytes("found"));
        bench().advance(Duration.ofSeconds(1));
        assertThat(bench().find(request)).isEmpty();
    }

    @Test
    @DisplayName("T1 the newest claim's terms decide how long the entry answers")
    default void newestRetention() {
        ClaimRequest first = fresh("key");
        bench().claimed(first);
        bench().settled(first, RETRYABLE, null);
        Terms shorter = new Terms(LEASE, OnLeaseLost.UNKNOWN, Duration.ofMinutes(1), Duration.ZERO);
        ClaimRequest second = on(shorter, rival(first));
        bench().claimed(second);
        assertThat(bench().settled(second, COMPLETED, null).retention()).isEqualTo(Duration.ofMinutes(1));
    }
}
