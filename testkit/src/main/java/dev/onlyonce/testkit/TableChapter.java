package dev.onlyonce.testkit;

import static dev.onlyonce.store.State.COMPLETED;
import static dev.onlyonce.store.State.FAILED;
import static dev.onlyonce.store.State.PROCESSING;
import static dev.onlyonce.testkit.Requests.LEASE;
import static dev.onlyonce.testkit.Requests.accepting;
import static dev.onlyonce.testkit.Requests.bytes;
import static dev.onlyonce.testkit.Requests.rival;
import static dev.onlyonce.testkit.Requests.withBody;
import static dev.onlyonce.testkit.Requests.withOperation;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import dev.onlyonce.store.ClaimRequest;
import dev.onlyonce.store.Entry;
import dev.onlyonce.store.SettleResult;
import dev.onlyonce.store.SettleResult.Lost;
import dev.onlyonce.store.SettleResult.Settled;
import dev.onlyonce.store.State;
import dev.onlyonce.store.Transition;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Every situation with every verb: what changes, and that nothing else does. */
interface TableChapter extends Chapter {

    @ParameterizedTest
    @EnumSource(Situation.class)
    @DisplayName("C4 reading shows where the entry stands, and changes nothing")
    default void findIn(Situation situation) {
        ClaimRequest claim = situation.arrange(bench(), "key");
        Optional<Snapshot> before = bench().snapshot(claim);
        assertThat(before.map(Snapshot::state)).isEqualTo(Optional.ofNullable(situation.shown));
        if (situation.shown != null) {
            assertThat(before.map(Snapshot::attempt)).contains(situation.attempt);
            assertThat(before.map(Snapshot::token))
                    .isEqualTo(situation.fenced() ? Optional.empty() : Optional.of(claim.token()));
            assertThat(before.map(Snapshot::expiresAt).isPresent()).isEqualTo(situation.shown.isPurgeable());
            boolean answers = situation.shown.isAnswered() && situation != Situation.FAILED_ABANDONED;
            assertThat(before.map(Snapshot::result).isPresent()).isEqualTo(answers);
        }
        assertThat(bench().snapshot(claim)).isEqualTo(before);
    }

    @ParameterizedTest
    @EnumSource(Situation.class)
    @DisplayName("C1 another caller's claim gets an absent, pending or retryable entry, and no other")
    default void claimIn(Situation situation) {
        ClaimRequest claim = situation.arrange(bench(), "key");
        Optional<Snapshot> before = bench().snapshot(claim);
        ClaimRequest rival = rival(claim);
        if (situation.claimable()) {
            int attempt = situation.shown == null ? 1 : situation.attempt + 1;
            assertThat(bench().claimed(rival)).isEqualTo(attempt);
            Entry entry = bench().entry(rival);
            assertThat(entry.state()).isEqualTo(PROCESSING);
            assertThat(entry.token()).isEqualTo(rival.token());
            assertThat(entry.owner()).isEqualTo(rival.owner());
            assertThat(entry.attempt()).isEqualTo(attempt);
            assertThat(entry.settledAt()).isNull();
            assertThat(entry.expiresAt()).isNull();
            assertThat(entry.result()).isNull();
            before.ifPresent(b -> assertThat(entry.createdAt()).isEqualTo(b.createdAt()));
        } else {
            assertThat(Snapshot.of(bench().refused(rival))).isEqualTo(before.orElseThrow());
            assertThat(bench().snapshot(claim)).isEqualTo(before);
        }
    }

    @ParameterizedTest
    @EnumSource(Situation.class)
    @DisplayName("C1 another caller's acceptance gets an absent entry, and no other")
    default void acceptIn(Situation situation) {
        ClaimRequest claim = situation.arrange(bench(), "key");
        Optional<Snapshot> before = bench().snapshot(claim);
        ClaimRequest rival = accepting(rival(claim));
        if (situation.shown == null) {
            assertThat(bench().claimed(rival)).isZero();
            assertThat(bench().entry(rival).state()).isEqualTo(State.PENDING);
        } else {
            assertThat(Snapshot.of(bench().refused(rival))).isEqualTo(before.orElseThrow());
            assertThat(bench().snapshot(claim)).isEqualTo(before);
        }
    }

    @ParameterizedTest
    @EnumSource(Situation.class)
    @DisplayName("F1 another body is refused in every state, and shown the entry; gone entries forget the body")
    default void otherBodyIn(Situation situation) {
        ClaimRequest claim = situation.arrange(bench(), "key");
        otherRequest(situation, claim, withBody("another request", rival(claim)));
    }

    @ParameterizedTest
    @EnumSource(Situation.class)
    @DisplayName("F1 K6 another operation is refused in every state, and shown the entry; gone entries forget it")
    default void otherOperationIn(Situation situation) {
        ClaimRequest claim = situation.arrange(bench(), "key");
        otherRequest(situation, claim, withOperation("POST /refunds", rival(claim)));
    }

    private void otherRequest(Situation situation, ClaimRequest claim, ClaimRequest other) {
        Optional<Snapshot> before = bench().snapshot(claim);
        if (situation.shown == null) {
            assertThat(bench().claimed(other)).isEqualTo(1);
            Entry entry = bench().entry(other);
            assertThat(entry.fingerprint()).isEqualTo(other.fingerprint());
            assertThat(entry.operation()).isEqualTo(other.operation());
        } else {
            assertThat(Snapshot.of(bench().refused(other))).isEqualTo(before.orElseThrow());
            assertThat(Snapshot.of(bench().refused(accepting(other)))).isEqualTo(before.orElseThrow());
            assertThat(bench().snapshot(claim)).isEqualTo(before);
        }
    }

    @ParameterizedTest
    @EnumSource(Situation.class)
    @DisplayName(
            "D2 D23 the first owner's settlement changes only an entry that it still holds, or that is unknown since")
    default void settleIn(Situation situation) {
        for (State to : List.of(COMPLETED, FAILED, State.RETRYABLE, State.UNKNOWN)) {
            ClaimRequest claim = situation.arrange(bench(), "key-" + to);
            Optional<Snapshot> before = bench().snapshot(claim);
            byte[] result = to.isAnswered() ? bytes("settled in the table") : null;
            SettleResult answer = bench().settle(claim, to, result);
            if (situation.settles(to)) {
                assertThat(answer).isInstanceOf(Settled.class);
                assertThat(bench().entry(claim).state()).isEqualTo(to);
                assertThat(bench().entry(claim).result()).isEqualTo(result);
                continue;
            }
            boolean repeated = situation.shown == to && !situation.fenced();
            boolean expired = situation == Situation.EXPIRED && to == COMPLETED;
            if (repeated || (expired && answer instanceof Settled)) {
                Snapshot entry = before.orElseThrow();
                assertThat(answer).isEqualTo(new Settled(requireNonNull(entry.settledAt()), entry.expiresAt()));
            } else {
                assertThat(answer).isEqualTo(new Lost(situation.shown));
            }
            assertThat(bench().snapshot(claim)).isEqualTo(before);
        }
    }

    @ParameterizedTest
    @EnumSource(Situation.class)
    @DisplayName("D2 a stranger's settlement changes nothing in any state")
    default void strangerSettlesIn(Situation situation) {
        ClaimRequest claim = situation.arrange(bench(), "key");
        Optional<Snapshot> before = bench().snapshot(claim);
        for (State to : List.of(COMPLETED, FAILED, State.RETRYABLE, State.UNKNOWN)) {
            assertThat(bench().settle(rival(claim), to, null)).isEqualTo(new Lost(situation.shown));
        }
        assertThat(bench().snapshot(claim)).isEqualTo(before);
    }

    @ParameterizedTest
    @EnumSource(Situation.class)
    @DisplayName("D3 a heartbeat renews only a claim that still holds, and changes nothing but its lease")
    default void renewIn(Situation situation) {
        ClaimRequest claim = situation.arrange(bench(), "key");
        Optional<Snapshot> before = bench().snapshot(claim);
        assertThat(bench().renew(rival(claim), LEASE)).isFalse();
        assertThat(bench().snapshot(claim)).isEqualTo(before);

        assertThat(bench().renew(claim, LEASE.multipliedBy(5))).isEqualTo(situation.held());
        if (situation.held()) {
            Entry after = bench().entry(claim);
            assertThat(Snapshot.of(after)).isEqualTo(before.orElseThrow().leasedUntil(after.leaseUntil()));
            assertThat(after.leaseUntil()).isAfter(before.orElseThrow().leaseUntil());
        } else {
            assertThat(bench().snapshot(claim)).isEqualTo(before);
        }
    }

    @ParameterizedTest
    @EnumSource(Situation.class)
    @DisplayName("D6 a resolution moves only an unknown entry, and only at the attempt it is about")
    default void resolveIn(Situation situation) {
        for (State to : List.of(COMPLETED, State.RETRYABLE)) {
            ClaimRequest claim = situation.arrange(bench(), "key-" + to);
            Optional<Snapshot> before = bench().snapshot(claim);
            byte[] result = to == COMPLETED ? bytes("resolved") : null;
            for (int wrong : new int[] {situation.attempt - 1, situation.attempt + 1}) {
                assertThat(bench().resolve(claim, wrong, to, result)).isEqualTo(new Lost(situation.shown));
                assertThat(bench().snapshot(claim)).isEqualTo(before);
            }
            SettleResult answer = bench().resolve(claim, situation.attempt, to, result);
            if (situation.shown != State.UNKNOWN) {
                assertThat(answer).isEqualTo(new Lost(situation.shown));
                assertThat(bench().snapshot(claim)).isEqualTo(before);
                continue;
            }
            Entry after = bench().entry(claim);
            assertThat(answer).isEqualTo(new Settled(requireNonNull(after.settledAt()), after.expiresAt()));
            assertThat(after.expiresAt())
                    .isEqualTo(after.settledAt().plus(claim.terms().retention()));
            assertThat(after.state()).isEqualTo(to);
            assertThat(after.result()).isEqualTo(result);
            assertThat(after.token()).isNull();
            assertThat(after.attempt()).isEqualTo(situation.attempt);
            assertThat(bench().resolve(claim, situation.attempt, to, result)).isEqualTo(new Lost(to));
        }
    }

    @ParameterizedTest
    @EnumSource(Situation.class)
    @DisplayName("R7 an eviction deletes only settled entries with a known outcome, and frees the key")
    default void evictIn(Situation situation) {
        ClaimRequest claim = situation.arrange(bench(), "key");
        Optional<Snapshot> before = bench().snapshot(claim);
        Optional<Transition> evicted = bench().node().evict(claim.id(), "operator", "the client asked");
        if (situation.shown != null && situation.shown.isPurgeable()) {
            assertThat(evicted)
                    .contains(new Transition(
                            claim.id(),
                            claim.operation(),
                            situation.shown,
                            null,
                            situation.attempt,
                            "operator",
                            "the client asked"));
            assertThat(bench().find(claim)).isEmpty();
            assertThat(bench().claimed(withBody("anew", rival(claim)))).isEqualTo(1);
        } else {
            assertThat(evicted).isEmpty();
            assertThat(bench().snapshot(claim)).isEqualTo(before);
        }
    }

    @ParameterizedTest
    @EnumSource(Situation.class)
    @DisplayName("D1 a sweep ends lapsed claims and abandoned entries, and touches nothing else")
    default void sweepIn(Situation situation) {
        ClaimRequest claim = situation.arrange(bench(), "key");
        Optional<Snapshot> before = bench().snapshot(claim);
        List<Transition> swept = bench().node().sweep(10);
        if (situation == Situation.PENDING_LAPSED || situation == Situation.PROCESSING_LAPSED) {
            State from = situation.shown;
            State to = from == PROCESSING ? State.UNKNOWN : FAILED;
            assertThat(swept).hasSize(1);
            Transition transition = swept.get(0);
            assertThat(transition.id()).isEqualTo(claim.id());
            assertThat(transition.operation()).isEqualTo(claim.operation());
            assertThat(transition.from()).isEqualTo(from);
            assertThat(transition.to()).isEqualTo(to);
            assertThat(transition.attempt()).isEqualTo(situation.attempt);
            assertThat(transition.who()).isNotBlank();
            assertThat(bench().entry(claim).state()).isEqualTo(to);
        } else {
            assertThat(swept).isEmpty();
            assertThat(bench().snapshot(claim)).isEqualTo(before);
        }
    }

    @ParameterizedTest
    @EnumSource(Situation.class)
    @DisplayName("T3 a purge removes only settled, expired entries, and nobody can tell but by the space")
    default void purgeIn(Situation situation) {
        ClaimRequest claim = situation.arrange(bench(), "key");
        Optional<Snapshot> before = bench().snapshot(claim);
        boolean left = switch (situation) {
            case EXPIRED, GONE, TOMBSTONE_GONE, TOMBSTONE_REAPED_GONE, RETRYABLE_GONE -> true;
            default -> false;
        };
        assertThat(bench().node().purge(10)).isEqualTo(left ? 1 : 0);
        assertThat(bench().snapshot(claim)).isEqualTo(before);
        assertThat(bench().node().purge(10)).isZero();
    }
}
