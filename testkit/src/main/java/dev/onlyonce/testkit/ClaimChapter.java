package dev.onlyonce.testkit;

import static dev.onlyonce.store.State.COMPLETED;
import static dev.onlyonce.store.State.PENDING;
import static dev.onlyonce.store.State.PROCESSING;
import static dev.onlyonce.store.State.RETRYABLE;
import static dev.onlyonce.testkit.Requests.LEASE;
import static dev.onlyonce.testkit.Requests.accepting;
import static dev.onlyonce.testkit.Requests.bytes;
import static dev.onlyonce.testkit.Requests.fresh;
import static dev.onlyonce.testkit.Requests.on;
import static dev.onlyonce.testkit.Requests.rival;
import static org.assertj.core.api.Assertions.assertThat;

import dev.onlyonce.store.ClaimRequest;
import dev.onlyonce.store.Entry;
import dev.onlyonce.store.OnLeaseLost;
import dev.onlyonce.store.Terms;
import java.time.Duration;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** Claiming and accepting. */
interface ClaimChapter extends Chapter {

    @Test
    @DisplayName("C1 a first claim makes an entry that holds all of the request, at attempt 1")
    default void firstClaim() {
        ClaimRequest request = fresh("key");
        assertThat(bench().claimed(request)).isEqualTo(1);

        Entry entry = bench().entry(request);
        assertThat(entry.id()).isEqualTo(request.id());
        assertThat(entry.operation()).isEqualTo(request.operation());
        assertThat(entry.fingerprint()).isEqualTo(request.fingerprint());
        assertThat(entry.fingerprint().version())
                .isEqualTo(request.fingerprint().version());
        assertThat(entry.state()).isEqualTo(PROCESSING);
        assertThat(entry.token()).isEqualTo(request.token());
        assertThat(entry.owner()).isEqualTo(request.owner());
        assertThat(entry.attempt()).isEqualTo(1);
        assertThat(entry.terms()).isEqualTo(request.terms());
        assertThat(entry.leaseUntil()).isEqualTo(entry.createdAt().plus(LEASE));
        assertThat(entry.settledAt()).isNull();
        assertThat(entry.expiresAt()).isNull();
        assertThat(entry.result()).isNull();
        assertThat(entry.readAt()).isAfterOrEqualTo(entry.createdAt());
    }

    @Test
    @DisplayName("C1 what one node has claimed, another node sees")
    default void otherNodeSees() {
        ClaimRequest request = fresh("key");
        bench().claimed(request);
        var seen = bench().another().find(java.util.List.of(request.id())).get(0);
        assertThat(seen.map(Snapshot::of)).isEqualTo(bench().snapshot(request)).isPresent();
    }

    @Test
    @DisplayName("C1 an accepted entry is pending at attempt 0 until its lease runs out")
    default void accepts() {
        ClaimRequest request = accepting(fresh("key"));
        assertThat(bench().claimed(request)).isZero();

        Entry entry = bench().entry(request);
        assertThat(entry.state()).isEqualTo(PENDING);
        assertThat(entry.attempt()).isZero();
        assertThat(entry.token()).isEqualTo(request.token());
        assertThat(entry.leaseUntil()).isEqualTo(entry.createdAt().plus(LEASE));
        assertThat(entry.settledAt()).isNull();
        assertThat(entry.expiresAt()).isNull();
    }

    @Test
    @DisplayName("C1 a worker's claim takes a pending entry: attempt 1, the worker's token, lease and terms")
    default void takesPending() {
        ClaimRequest accepted = accepting(fresh("key"));
        bench().claimed(accepted);
        Entry before = bench().entry(accepted);
        bench().advance(Duration.ofSeconds(10));
        Terms terms =
                new Terms(Duration.ofSeconds(7), OnLeaseLost.RESUME, Duration.ofMinutes(5), Duration.ofMinutes(6));
        ClaimRequest worker = on(terms, rival(accepted));
        assertThat(bench().claimed(worker)).isEqualTo(1);

        Entry entry = bench().entry(worker);
        assertThat(entry.state()).isEqualTo(PROCESSING);
        assertThat(entry.token()).isEqualTo(worker.token());
        assertThat(entry.owner()).isEqualTo(worker.owner());
        assertThat(entry.attempt()).isEqualTo(1);
        assertThat(entry.terms()).isEqualTo(terms);
        assertThat(entry.createdAt()).isEqualTo(before.createdAt());
        assertThat(entry.leaseUntil())
                .isBetween(before.readAt().plusSeconds(17), entry.readAt().plusSeconds(7));
    }

    @Test
    @DisplayName("D5 a claim takes a retryable entry: attempt + 1, the new token, lease, owner and terms")
    default void takesRetryable() {
        ClaimRequest first = fresh("key");
        bench().claimed(first);
        bench().settled(first, RETRYABLE, null);
        Entry before = bench().entry(first);
        bench().advance(Duration.ofSeconds(10));
        Terms terms = new Terms(Duration.ofSeconds(7), OnLeaseLost.RETRY, Duration.ofMinutes(5), Duration.ofMinutes(6));
        ClaimRequest second = on(terms, rival(first));
        assertThat(bench().claimed(second)).isEqualTo(2);

        Entry entry = bench().entry(second);
        assertThat(entry.state()).isEqualTo(PROCESSING);
        assertThat(entry.token()).isEqualTo(second.token());
        assertThat(entry.owner()).isEqualTo(second.owner());
        assertThat(entry.attempt()).isEqualTo(2);
        assertThat(entry.terms()).isEqualTo(terms);
        assertThat(entry.createdAt()).isEqualTo(before.createdAt());
        assertThat(entry.fingerprint()).isEqualTo(first.fingerprint());
        assertThat(entry.settledAt()).isNull();
        assertThat(entry.expiresAt()).isNull();
        assertThat(entry.leaseUntil())
                .isBetween(before.readAt().plusSeconds(17), entry.readAt().plusSeconds(7));
    }

    @Test
    @DisplayName("D5 every attempt counts: claimed and proven absent five times, the sixth claim is attempt 6")
    default void countsAttempts() {
        ClaimRequest request = fresh("key");
        for (int attempt = 1; attempt <= 5; attempt++) {
            assertThat(bench().claimed(request)).isEqualTo(attempt);
            bench().settled(request, RETRYABLE, null);
            request = rival(request);
        }
        assertThat(bench().claimed(request)).isEqualTo(6);
    }

    @Test
    @DisplayName("C5 a claim whose acknowledgement was lost reads back as one's own, unchanged but for its lease")
    default void lostAcknowledgement() {
        ClaimRequest request = fresh("key");
        bench().claimed(request);
        Snapshot before = Snapshot.of(bench().entry(request));
        bench().advance(Duration.ofSeconds(10));
        assertThat(bench().claimed(request)).isEqualTo(1);

        Entry after = bench().entry(request);
        assertThat(Snapshot.of(after)).isEqualTo(before.leasedUntil(after.leaseUntil()));
        assertThat(after.leaseUntil())
                .isBetween(before.leaseUntil().plusSeconds(10), after.readAt().plus(LEASE));
    }

    @Test
    @DisplayName("C5 a lost acknowledgement of the claim of a retryable entry reads back as the same attempt")
    default void lostAcknowledgementOfRetry() {
        ClaimRequest first = fresh("key");
        bench().claimed(first);
        bench().settled(first, RETRYABLE, null);
        ClaimRequest second = rival(first);
        assertThat(bench().claimed(second)).isEqualTo(2);
        assertThat(bench().claimed(second)).isEqualTo(2);
        assertThat(bench().entry(second).attempt()).isEqualTo(2);
    }

    @Test
    @DisplayName("C5 a lost acknowledgement of an acceptance reads back as one's own, still at attempt 0")
    default void lostAcknowledgementOfAcceptance() {
        ClaimRequest request = accepting(fresh("key"));
        bench().claimed(request);
        Snapshot before = Snapshot.of(bench().entry(request));
        assertThat(bench().claimed(request)).isZero();
        Entry after = bench().entry(request);
        assertThat(Snapshot.of(after)).isEqualTo(before.leasedUntil(after.leaseUntil()));
    }

    @Test
    @DisplayName("C5 a lost acknowledgement is one's own even after the lease lapsed, as long as nobody swept it")
    default void lostAcknowledgementAfterLapse() {
        ClaimRequest request = fresh("key");
        bench().claimed(request);
        bench().advance(LEASE.multipliedBy(2));
        assertThat(bench().claimed(request)).isEqualTo(1);
        assertThat(bench().entry(request).leaseLeft()).isPositive();
        assertThat(bench().node().sweep(10)).isEmpty();
    }

    @Test
    @DisplayName("C5 a repeated claim of an entry that its token has settled meanwhile is refused")
    default void claimAfterOwnSettlement() {
        ClaimRequest request = fresh("key");
        bench().claimed(request);
        bench().settled(request, COMPLETED, bytes("done"));
        Snapshot before = Snapshot.of(bench().entry(request));
        assertThat(Snapshot.of(bench().refused(request))).isEqualTo(before);
        assertThat(bench().snapshot(request)).contains(before);
    }

    @Test
    @DisplayName("C4 a hundred refused claims change nothing, and each is shown the entry")
    default void losersChangeNothing() {
        ClaimRequest request = fresh("key");
        bench().claimed(request);
        Snapshot before = Snapshot.of(bench().entry(request));
        for (int i = 0; i < 100; i++) {
            assertThat(Snapshot.of(bench().refused(rival(request)))).isEqualTo(before);
        }
        assertThat(bench().snapshot(request)).contains(before);
    }

    @Test
    @DisplayName("C4 a lapsed lease alone gives nobody else the entry: only a sweep does")
    default void lapsedIsNotFree() {
        ClaimRequest request = on(Requests.RETRIED, fresh("key"));
        bench().claimed(request);
        Snapshot before = Snapshot.of(bench().entry(request));
        bench().advance(LEASE.multipliedBy(10));
        assertThat(Snapshot.of(bench().refused(rival(request)))).isEqualTo(before);
    }
}
