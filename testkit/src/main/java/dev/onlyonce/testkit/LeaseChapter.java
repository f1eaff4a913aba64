package dev.onlyonce.testkit;

import static dev.onlyonce.store.State.COMPLETED;
import static dev.onlyonce.store.State.FAILED;
import static dev.onlyonce.store.State.PROCESSING;
import static dev.onlyonce.store.State.UNKNOWN;
import static dev.onlyonce.testkit.Requests.LEASE;
import static dev.onlyonce.testkit.Requests.MICRO;
import static dev.onlyonce.testkit.Requests.RETENTION;
import static dev.onlyonce.testkit.Requests.accepting;
import static dev.onlyonce.testkit.Requests.fresh;
import static dev.onlyonce.testkit.Requests.on;
import static dev.onlyonce.testkit.Requests.rival;
import static dev.onlyonce.testkit.Requests.several;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import dev.onlyonce.store.ClaimRequest;
import dev.onlyonce.store.Entry;
import dev.onlyonce.store.EntryId;
import dev.onlyonce.store.OnLeaseLost;
import dev.onlyonce.store.Terms;
import dev.onlyonce.store.Transition;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.ResourceLock;
import org.junit.jupiter.api.parallel.Resources;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Leases: how long they hold, and what becomes of what was left behind. */
interface LeaseChapter extends Chapter {

    @Test
    @DisplayName("T5 a lease holds until the last microsecond before its end by the store's clock")
    default void holdsToTheEnd() {
        ClaimRequest request = fresh("key");
        bench().claimed(request);
        Entry before = bench().entry(request);
        bench().advanceTo(before.leaseUntil(), MICRO.negated());
        List<Transition> swept = bench().node().sweep(10);
        if (bench().now().isBefore(before.leaseUntil())) { // always, unless the clock runs by itself
            assertThat(swept).isEmpty();
            assertThat(bench().entry(request).state()).isEqualTo(PROCESSING);
        }
    }

    @Test
    @DisplayName("T5 a lease has lapsed at the very instant at which it ends")
    default void lapsesAtTheEnd() {
        ClaimRequest request = fresh("key");
        bench().claimed(request);
        bench().advanceTo(bench().entry(request).leaseUntil(), Duration.ZERO);
        assertThat(bench().entry(request).leaseLeft()).isZero();
        assertThat(bench().node().sweep(10)).hasSize(1);
    }

    @Test
    @ResourceLock(Resources.TIME_ZONE)
    @DisplayName("T5 the store's clock decides, whatever the time zone of the process")
    default void timeZones() {
        java.util.TimeZone usual = java.util.TimeZone.getDefault();
        try {
            ClaimRequest claimed = fresh("claimed");
            ClaimRequest settled = fresh("settled");
            bench().claimed(claimed);
            bench().claimed(settled);
            bench().settled(settled, COMPLETED, null);
            Snapshot first = Snapshot.of(bench().entry(claimed));
            Snapshot second = Snapshot.of(bench().entry(settled));
            for (String zone : List.of("Pacific/Kiritimati", "America/St_Johns", "UTC")) {
                java.util.TimeZone.setDefault(java.util.TimeZone.getTimeZone(zone));
                var node = bench().another();
                List<Snapshot> seen = node.find(List.of(claimed.id(), settled.id())).stream()
                        .map(found -> Snapshot.of(found.orElseThrow()))
                        .toList();
                assertThat(seen).as(zone).containsExactly(first, second);
                assertThat(node.sweep(10)).as(zone).isEmpty();
                assertThat(node.purge(10)).as(zone).isZero();
            }
        } finally {
            java.util.TimeZone.setDefault(usual);
        }
    }

    @Test
    @DisplayName("D3 heartbeats keep a claim alive for as long as they come")
    default void heartbeats() {
        ClaimRequest request = fresh("key");
        bench().claimed(request);
        for (int beat = 0; beat < 20; beat++) {
            bench().advance(LEASE.dividedBy(2));
            assertThat(bench().renew(request, LEASE)).isTrue();
            assertThat(bench().node().sweep(10)).isEmpty();
        }
        Entry entry = bench().entry(request);
        assertThat(entry.leaseUntil()).isAfterOrEqualTo(entry.createdAt().plus(LEASE.multipliedBy(11)));
        assertThat(entry.leaseUntil()).isBeforeOrEqualTo(entry.readAt().plus(LEASE));
    }

    @Test
    @DisplayName("D3 a heartbeat after the lapse renews, if nobody swept in between")
    default void lateHeartbeat() {
        ClaimRequest request = fresh("key");
        bench().claimed(request);
        bench().advance(LEASE.plus(LEASE));
        assertThat(bench().renew(request, LEASE)).isTrue();
        assertThat(bench().node().sweep(10)).isEmpty();
        assertThat(bench().entry(request).leaseLeft()).isPositive();
    }

    @Test
    @DisplayName("D3 a heartbeat never shortens a lease, not even one that arrives late")
    default void shorterHeartbeat() {
        ClaimRequest request = fresh("key");
        bench().claimed(request);
        assertThat(bench().renew(request, Duration.ofSeconds(1))).isTrue();
        bench().advance(Duration.ofSeconds(2));
        assertThat(bench().node().sweep(10)).isEmpty();
        assertThat(bench().renew(request, LEASE)).isTrue();
        assertThat(bench().entry(request).leaseUntil())
                .isEqualTo(bench().entry(request).readAt().plus(LEASE));
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    @DisplayName("D12 T5 a claim made while the clock was ahead is stuck for its lease and a sweep, not for the jump")
    default void clockAhead(boolean sweptMeanwhile) {
        Duration jump = Duration.ofHours(25);
        ClaimRequest before = fresh("before");
        bench().claimed(before);
        bench().advance(jump);
        ClaimRequest dead = fresh("dead");
        ClaimRequest living = fresh("living");
        ClaimRequest pending = accepting(fresh("pending"));
        bench().claimed(dead);
        bench().claimed(living);
        bench().claimed(pending);
        if (sweptMeanwhile) {
            assertThat(bench().node().sweep(10)).extracting(Transition::id).containsExactly(before.id());
        }
        bench().advance(jump.negated());
        assertThat(bench().node().sweep(10)).isEmpty();
        bench().advance(LEASE.dividedBy(2));
        assertThat(bench().node().sweep(10)).as("they have a lease from then").isEmpty();
        assertThat(bench().renew(living, LEASE)).isTrue();
        bench().advance(LEASE.dividedBy(2));
        assertThat(bench().node().sweep(10))
                .extracting(Transition::id)
                .contains(dead.id(), pending.id())
                .doesNotContain(living.id());
        assertThat(bench().entry(living).state()).isEqualTo(PROCESSING);
        assertThat(bench().entry(dead).state()).isEqualTo(UNKNOWN);
    }

    @Test
    @DisplayName("D12 T5 a clock that goes ahead and comes back between two sweeps keeps no claim for its jump")
    default void clockAheadBetweenSweeps() {
        Duration jump = Duration.ofHours(25);
        assertThat(bench().node().sweep(10)).isEmpty();
        ClaimRequest living = fresh("living");
        bench().advance(jump);
        ClaimRequest dead = fresh("dead");
        bench().claimed(dead);
        bench().advance(LEASE.dividedBy(2).minus(jump));
        bench().claimed(living);
        assertThat(bench().node().sweep(10)).isEmpty();
        bench().advance(LEASE.dividedBy(2));
        assertThat(bench().renew(living, LEASE)).isTrue();
        bench().advance(LEASE.dividedBy(2));
        assertThat(bench().node().sweep(10)).extracting(Transition::id).containsExactly(dead.id());
        assertThat(bench().entry(living).state()).isEqualTo(PROCESSING);
    }

    @ParameterizedTest
    @EnumSource(OnLeaseLost.class)
    @DisplayName(
            "D1 D23 a lapsed claim becomes what its terms say, without a result; only if that is unknown, it keeps its token")
    default void lapsedBecomes(OnLeaseLost policy) {
        ClaimRequest request = on(new Terms(LEASE, policy, RETENTION, Duration.ZERO), fresh("key"));
        bench().claimed(request);
        bench().advance(LEASE);
        List<Transition> swept = bench().node().sweep(10);
        assertThat(swept).extracting(Transition::to).containsExactly(policy.next());

        Entry entry = bench().entry(request);
        assertThat(entry.state()).isEqualTo(policy.next());
        assertThat(entry.token()).isEqualTo(policy == OnLeaseLost.UNKNOWN ? request.token() : null);
        assertThat(entry.result()).isNull();
        assertThat(entry.attempt()).isEqualTo(1);
        assertThat(entry.terms()).isEqualTo(request.terms());
        assertThat(requireNonNull(entry.settledAt())).isBetween(entry.leaseUntil(), entry.readAt());
        assertThat(entry.expiresAt())
                .isEqualTo(
                        policy == OnLeaseLost.UNKNOWN ? null : entry.settledAt().plus(RETENTION));
        assertThat(bench().renew(request, LEASE)).isFalse();
        if (policy == OnLeaseLost.UNKNOWN) {
            assertThat(bench().refused(rival(request)).state()).isEqualTo(UNKNOWN);
        } else {
            assertThat(bench().claimed(rival(request))).isEqualTo(2);
        }
    }

    @Test
    @DisplayName("D1 the newest claim's terms decide what its lapse means")
    default void newestTerms() {
        ClaimRequest first = on(Requests.RETRIED, fresh("key"));
        bench().claimed(first);
        bench().advance(LEASE);
        bench().node().sweep(10);
        ClaimRequest second = on(Requests.TERMS, rival(first));
        assertThat(bench().claimed(second)).isEqualTo(2);
        bench().advance(LEASE);
        assertThat(bench().node().sweep(10)).extracting(Transition::to).containsExactly(UNKNOWN);
    }

    @Test
    @DisplayName("T4 a pending entry that nobody took becomes failed, without a result, and stays so for its retention")
    default void abandoned() {
        ClaimRequest request = accepting(fresh("key"));
        bench().claimed(request);
        bench().advance(LEASE.minus(Duration.ofSeconds(1)));
        assertThat(bench().node().sweep(10)).isEmpty();
        bench().advance(Duration.ofSeconds(1));
        List<Transition> swept = bench().node().sweep(10);
        assertThat(swept).extracting(Transition::from).containsExactly(dev.onlyonce.store.State.PENDING);
        assertThat(swept).extracting(Transition::to).containsExactly(FAILED);

        Entry entry = bench().entry(request);
        assertThat(entry.state()).isEqualTo(FAILED);
        assertThat(entry.result()).isNull();
        assertThat(entry.token()).isNull();
        assertThat(entry.expiresAt())
                .isEqualTo(requireNonNull(entry.settledAt()).plus(RETENTION));
        assertThat(bench().refused(rival(request)).state()).isEqualTo(FAILED);
    }

    @Test
    @DisplayName("D1 a sweep ends no more than its limit, and the next one goes on")
    default void sweepLimit() {
        bench().node().claim(several("lapsed", 25));
        bench().advance(LEASE);
        bench().node().claim(several("alive", 25));
        Set<EntryId> seen = new HashSet<>();
        for (int expected : new int[] {10, 10, 5, 0}) {
            List<Transition> swept = bench().node().sweep(10);
            assertThat(swept).hasSize(expected);
            swept.forEach(t -> assertThat(seen.add(t.id())).as("swept once").isTrue());
        }
        assertThat(seen).allMatch(id -> id.key().startsWith("lapsed"));
    }

    @Test
    @DisplayName("D1 one sweep handles every policy and pending entries side by side")
    default void mixedSweep() {
        ClaimRequest unknown = fresh("unknown");
        ClaimRequest retry = on(Requests.RETRIED, fresh("retry"));
        ClaimRequest resume = on(new Terms(LEASE, OnLeaseLost.RESUME, RETENTION, RETENTION), fresh("resume"));
        ClaimRequest pending = accepting(fresh("pending"));
        ClaimRequest longer =
                on(new Terms(LEASE.plusMillis(1), OnLeaseLost.RETRY, RETENTION, RETENTION), fresh("longer"));
        List<ClaimRequest> all = List.of(unknown, retry, resume, pending, longer);
        bench().node().claim(all);
        bench().advanceTo(bench().entry(unknown).leaseUntil(), Duration.ZERO);
        List<Transition> swept = bench().node().sweep(100);
        if (swept.size() == 4) { // five where the clock runs by itself
            assertThat(bench().entry(longer).state()).isEqualTo(PROCESSING);
        }
        assertThat(swept).extracting(Transition::id).contains(unknown.id(), retry.id(), resume.id(), pending.id());
        assertThat(bench().entry(unknown).state()).isEqualTo(UNKNOWN);
        assertThat(bench().entry(retry).state()).isEqualTo(dev.onlyonce.store.State.RETRYABLE);
        assertThat(bench().entry(resume).state()).isEqualTo(dev.onlyonce.store.State.RETRYABLE);
        assertThat(bench().entry(pending).state()).isEqualTo(FAILED);
    }

    @Test
    @DisplayName("T5 the shortest and the longest terms are held exactly")
    default void extremeTerms() {
        Terms shortest = new Terms(Terms.LEASE_MIN, OnLeaseLost.RETRY, Duration.ZERO, Duration.ZERO);
        Terms longest = new Terms(Terms.LEASE_MAX, OnLeaseLost.RESUME, Terms.RETENTION_MAX, Terms.RETENTION_MAX);
        Terms odd = new Terms(
                Duration.ofMillis(12_345), OnLeaseLost.UNKNOWN, Duration.ofMillis(86_399_999), Duration.ofMillis(1));
        for (Terms terms : List.of(shortest, longest, odd)) {
            ClaimRequest request = on(terms, fresh("key-" + terms.lease()));
            bench().claimed(request);
            Entry entry = bench().entry(request);
            assertThat(entry.terms()).isEqualTo(terms);
            assertThat(entry.leaseUntil()).isEqualTo(entry.createdAt().plus(terms.lease()));
            var settled = bench().settled(request, COMPLETED, null);
            assertThat(settled.retention()).isEqualTo(terms.retention());
        }
    }
}
