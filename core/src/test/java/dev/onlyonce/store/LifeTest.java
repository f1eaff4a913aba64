package dev.onlyonce.store;

import static dev.onlyonce.store.State.COMPLETED;
import static dev.onlyonce.store.State.EXPIRED;
import static dev.onlyonce.store.State.FAILED;
import static dev.onlyonce.store.State.PENDING;
import static dev.onlyonce.store.State.PROCESSING;
import static dev.onlyonce.store.State.RETRYABLE;
import static dev.onlyonce.store.State.UNKNOWN;
import static org.assertj.core.api.Assertions.assertThat;

import dev.onlyonce.fingerprint.Fingerprint;
import dev.onlyonce.store.ClaimResult.Claimed;
import dev.onlyonce.store.ClaimResult.Existing;
import dev.onlyonce.store.Decision.Change;
import dev.onlyonce.store.Decision.Unchanged;
import dev.onlyonce.store.SettleResult.Lost;
import dev.onlyonce.store.SettleResult.Settled;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

final class LifeTest {
    private static final Duration SECOND = Duration.ofSeconds(1);
    private static final Duration LEASE = Duration.ofSeconds(30);
    private static final Duration RETENTION = Duration.ofHours(24);
    private static final Duration TOMBSTONE = Duration.ofDays(7);
    private static final Terms TERMS = new Terms(LEASE, OnLeaseLost.UNKNOWN, RETENTION, TOMBSTONE);
    private static final Instant BEGUN = Instant.parse("2026-01-01T00:00:00Z");
    private static final EntryId ID = new EntryId("acme", "", "key");
    private static final UUID MINE = UUID.randomUUID();
    private static final Fingerprint BODY = Fingerprint.of(new byte[] {1});
    private static final byte[] RESULT = {42};

    private static ClaimRequest request(UUID token, State start) {
        return new ClaimRequest(ID, "pay", BODY, token, "node-2", TERMS, start);
    }

    private static StoreTime after(Duration span) {
        return StoreTime.at(BEGUN.plus(span));
    }

    /** An entry of MINE as it is stored; what is settled was settled a second after it began. */
    private static Entry stored(State state) {
        boolean open = state == PENDING || state == PROCESSING;
        Instant settled = open ? null : BEGUN.plus(SECOND);
        return new Entry(
                ID,
                "pay",
                BODY,
                state,
                MINE,
                "node-1",
                state == PENDING ? 0 : 1,
                TERMS,
                BEGUN,
                BEGUN.plus(LEASE),
                settled,
                state.isPurgeable() && settled != null ? settled.plus(RETENTION) : null,
                state.isAnswered() ? RESULT : null,
                BEGUN);
    }

    private static <R> Change<R> change(Decision<R> decision) {
        assertThat(decision).isInstanceOf(Change.class);
        return (Change<R>) decision;
    }

    private static Entry next(Decision<?> decision) {
        return java.util.Objects.requireNonNull(change(decision).next());
    }

    private static List<String> audit(Decision<?> decision) {
        return change(decision).audit().stream()
                .map(t -> t.attempt() + " " + t.from() + ">" + t.to() + " " + t.who() + ": " + t.why())
                .toList();
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("E6 D6 a claim takes what is free, keeps what is its own, and changes nothing else, in every state")
    void claims(State state) {
        Entry stored = stored(state);
        StoreTime now = after(Duration.ofSeconds(2));
        Decision<ClaimResult> rival = Life.claim(stored, request(UUID.randomUUID(), PROCESSING), now);
        if (state == PENDING || state == RETRYABLE) {
            int attempt = stored.attempt() + 1;
            assertThat(rival.answer()).isEqualTo(new Claimed(attempt));
            assertThat(next(rival).createdAt()).isEqualTo(BEGUN);
            assertThat(next(rival).leaseUntil()).isEqualTo(now.latest().plus(LEASE));
            assertThat(next(rival).expiresAt()).isNull();
            assertThat(audit(rival)).containsExactly(attempt + " " + state + ">PROCESSING node-2: claimed");
        } else {
            assertThat(rival).isInstanceOf(Unchanged.class);
            assertThat(((Existing) rival.answer()).entry().state()).isEqualTo(state);
        }
        assertThat(Life.claim(stored, request(UUID.randomUUID(), PENDING), now)).isInstanceOf(Unchanged.class);

        for (State start : List.of(PENDING, PROCESSING)) {
            Decision<ClaimResult> own = Life.claim(stored, request(MINE, start), now);
            if (state == start) {
                assertThat(next(own).leaseUntil()).isEqualTo(now.latest().plus(LEASE));
                assertThat(own.answer()).isEqualTo(new Claimed(stored.attempt()));
                assertThat(audit(own)).isEmpty();
            }
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"PENDING", "RETRYABLE"})
    @DisplayName("E6 F1 what is free is taken by the same operation and fingerprint only")
    void same(State free) {
        StoreTime now = after(Duration.ofSeconds(2));
        ClaimRequest other = new ClaimRequest(ID, "refund", BODY, MINE, "node-2", TERMS, PROCESSING);
        assertThat(Life.claim(stored(free), other, now)).isInstanceOf(Unchanged.class);
        Fingerprint body = Fingerprint.of(new byte[] {2});
        other = new ClaimRequest(ID, "pay", body, MINE, "node-2", TERMS, PROCESSING);
        assertThat(Life.claim(stored(free), other, now)).isInstanceOf(Unchanged.class);
    }

    @Test
    @DisplayName("E6 T2 a key without an entry, or with one past everything, gets a new one")
    void creates() {
        StoreTime late = after(SECOND.plus(RETENTION).plus(TOMBSTONE));
        ClaimRequest accepted = request(UUID.randomUUID(), PENDING);
        assertThat(audit(Life.claim(null, accepted, late))).containsExactly("0 null>PENDING node-2: accepted");
        Decision<ClaimResult> replaced = Life.claim(stored(COMPLETED), request(UUID.randomUUID(), PROCESSING), late);
        assertThat(next(replaced).createdAt()).isEqualTo(late.latest());
        assertThat(next(replaced).result()).isNull();
        assertThat(audit(replaced))
                .containsExactly("1 COMPLETED>null node-2: its retention is over", "1 null>PROCESSING node-2: claimed");
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName(
            "E6 D2 D23 a token settles its processing entry, and its unknown one if it knows more; a repeat is answered as recorded")
    void settles(State state) {
        for (State to : List.of(COMPLETED, FAILED, RETRYABLE, UNKNOWN)) {
            Settlement mine = new Settlement(ID, MINE, to, to.isAnswered() ? RESULT : null, "ended");
            StoreTime now = after(Duration.ofSeconds(2));
            Decision<SettleResult> decision = Life.settle(stored(state), mine, now);
            boolean testimony = state == UNKNOWN && (to == COMPLETED || to == RETRYABLE);
            if (state == PROCESSING || testimony) {
                assertThat(next(decision).state()).isEqualTo(to);
                assertThat(next(decision).token()).isEqualTo(MINE);
                assertThat(next(decision).result()).isEqualTo(mine.result());
                assertThat(audit(decision))
                        .containsExactly("1 " + state + ">" + to + " node-1: "
                                + (testimony ? "its owner came back: ended" : "ended"));
                assertThat(decision.answer())
                        .isEqualTo(new Settled(
                                now.latest(),
                                to == UNKNOWN ? null : now.latest().plus(RETENTION)));
            } else {
                Entry old = stored(state);
                assertThat(decision)
                        .isEqualTo(new Unchanged<>(
                                state == to && old.settledAt() != null
                                        ? new Settled(old.settledAt(), old.expiresAt())
                                        : new Lost(state)));
            }
            Settlement theirs = new Settlement(ID, UUID.randomUUID(), to, null, "forged");
            assertThat(Life.settle(stored(state), theirs, now)).isEqualTo(new Unchanged<>(new Lost(state)));
            assertThat(Life.settle(null, mine, now)).isEqualTo(new Unchanged<>(new Lost(null)));
        }
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("E6 D6 only an unknown entry is resolved, at its attempt and creation, and loses its token")
    void resolves(State state) {
        StoreTime now = after(Duration.ofSeconds(2));
        Resolution found = new Resolution(ID, 1, COMPLETED, RESULT, "alice", "ch_1");
        Decision<SettleResult> decision = Life.resolve(stored(state), found, false, now);
        if (state != UNKNOWN) {
            assertThat(decision).isEqualTo(new Unchanged<>(new Lost(state)));
            return;
        }
        assertThat(next(decision).token()).isNull();
        assertThat(next(decision).result()).isEqualTo(RESULT);
        assertThat(audit(decision)).containsExactly("1 UNKNOWN>COMPLETED alice: ch_1");
        Entry unknown = stored(UNKNOWN);
        assertThat(Life.resolve(unknown, found.about(BEGUN), false, now)).isInstanceOf(Change.class);
        assertThat(Life.resolve(unknown, found.about(BEGUN.plusNanos(1000)), false, now))
                .isInstanceOf(Unchanged.class);
        Resolution older = new Resolution(ID, 0, COMPLETED, RESULT, "alice", "ch_1");
        assertThat(Life.resolve(unknown, older, false, now)).isInstanceOf(Unchanged.class);
    }

    @Test
    @DisplayName("E6 D8 what is half done is kept while it is retryable; nothing else is")
    void keepsWhatIsHalfDone() {
        StoreTime now = after(LEASE);
        Resolution absent = new Resolution(ID, 1, RETRYABLE, null, "alice", "absent");
        Resolution found = new Resolution(ID, 1, COMPLETED, null, "alice", "found");
        Instant long_ = now.latest().plus(Duration.ofDays(3650));
        Instant usual = now.latest().plus(RETENTION);
        assertThat(next(Life.resolve(stored(UNKNOWN), absent, true, now)).expiresAt())
                .isEqualTo(long_);
        assertThat(next(Life.resolve(stored(UNKNOWN), absent, false, now)).expiresAt())
                .isEqualTo(usual);
        assertThat(next(Life.resolve(stored(UNKNOWN), found, true, now)).expiresAt())
                .isEqualTo(usual);
        Settlement testimony = new Settlement(ID, MINE, RETRYABLE, null, "refused");
        assertThat(next(Life.settle(stored(UNKNOWN), testimony, true, now)).expiresAt())
                .isEqualTo(long_);
        assertThat(next(Life.settle(stored(UNKNOWN), testimony, now)).expiresAt())
                .isEqualTo(usual);
        assertThat(next(Life.sweep(on(OnLeaseLost.RESUME), true, now)).expiresAt())
                .isEqualTo(long_);
        assertThat(next(Life.sweep(on(OnLeaseLost.RESUME), false, now)).expiresAt())
                .isEqualTo(usual);
        assertThat(next(Life.sweep(on(OnLeaseLost.UNKNOWN), true, now)).expiresAt())
                .isNull();
    }

    private static Entry on(OnLeaseLost policy) {
        Terms terms = new Terms(LEASE, policy, RETENTION, TOMBSTONE);
        return next(Life.claim(null, new ClaimRequest(ID, "pay", BODY, MINE, "node-1", terms, PROCESSING), at(BEGUN)));
    }

    private static StoreTime at(Instant now) {
        return StoreTime.at(now);
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("E6 D3 only a processing entry is renewed, by its token, and never to an earlier end")
    void renews(State state) {
        StoreTime now = after(Duration.ofSeconds(40));
        Decision<RenewResult> mine = Life.renew(stored(state), new Renewal(ID, MINE, LEASE), now);
        if (state == PROCESSING) {
            assertThat(next(mine).leaseUntil()).isEqualTo(now.latest().plus(LEASE));
            Renewal shorter = new Renewal(ID, MINE, SECOND);
            assertThat(Life.renew(stored(state), shorter, at(BEGUN))).isEqualTo(new Unchanged<>(RenewResult.RENEWED));
        } else {
            assertThat(mine).isEqualTo(new Unchanged<>(RenewResult.LOST));
        }
        Renewal theirs = new Renewal(ID, UUID.randomUUID(), LEASE);
        assertThat(Life.renew(stored(state), theirs, now)).isEqualTo(new Unchanged<>(RenewResult.LOST));
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName(
            "E6 D1 D23 a sweep ends open entries at the end of their lease; an unknown one keeps its owner's token")
    void sweeps(State state) {
        Instant end = BEGUN.plus(LEASE);
        assertThat(Life.sweep(stored(state), false, at(end.minusNanos(1000)))).isInstanceOf(Unchanged.class);
        Decision<Optional<Transition>> swept = Life.sweep(stored(state), false, at(end));
        switch (state) {
            case PENDING ->
                assertThat(audit(swept)).containsExactly("0 PENDING>FAILED sweeper: nobody took it in time");
            case PROCESSING ->
                assertThat(audit(swept)).containsExactly("1 PROCESSING>UNKNOWN sweeper: the lease ran out");
            default -> assertThat(swept).isEqualTo(new Unchanged<>(Optional.empty()));
        }
        if (swept instanceof Change<Optional<Transition>> change) {
            assertThat(next(swept).token()).isEqualTo(state == PROCESSING ? MINE : null);
            assertThat(next(Life.sweep(on(OnLeaseLost.RETRY), false, at(end))).token())
                    .isNull();
            assertThat(change.answer()).contains(change.audit().get(0));
            Instant before = BEGUN.minusSeconds(3600);
            Decision<Optional<Transition>> shortened = Life.sweep(stored(state), false, at(before));
            assertThat(next(shortened).leaseUntil()).isEqualTo(before.plus(LEASE));
            assertThat(shortened.answer()).isEmpty();
        }
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("E6 T3 a purge makes tombstones of answers past retention and deletes what is past everything")
    void purges(State state) {
        Instant end = BEGUN.plus(SECOND).plus(RETENTION);
        assertThat(Life.purge(stored(state), at(end.minusNanos(1000))).answer()).isFalse();
        Decision<Boolean> atEnd = Life.purge(stored(state), at(end));
        if (state.isAnswered()) {
            assertThat(next(atEnd).state()).isEqualTo(EXPIRED);
            assertThat(next(atEnd).result()).isNull();
        } else if (state == RETRYABLE) {
            assertThat(change(atEnd).next()).isNull();
        } else {
            assertThat(atEnd.answer()).isFalse();
        }
        Decision<Boolean> last = Life.purge(stored(state), at(end.plus(TOMBSTONE)));
        assertThat(last.answer()).isEqualTo(state.isPurgeable());
        if (state.isPurgeable()) {
            assertThat(change(last).next()).isNull();
            assertThat(audit(last)).isEmpty();
        }
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("E6 R7 an operator evicts what is purgeable, and is told what readers saw")
    void evicts(State state) {
        StoreTime now = after(SECOND.plus(RETENTION).plus(SECOND));
        Decision<Optional<Transition>> evicted = Life.evict(stored(state), "alice", "ticket 42", now);
        if (state.isPurgeable() && state != RETRYABLE) {
            assertThat(evicted.answer())
                    .hasValueSatisfying(t -> assertThat(t.from()).isEqualTo(EXPIRED));
            assertThat(audit(evicted)).containsExactly("1 " + state + ">null alice: ticket 42");
        } else {
            assertThat(evicted).isEqualTo(new Unchanged<>(Optional.empty()));
        }
    }

    @Test
    @DisplayName("E6 T5 what is over is judged by the earliest time, what is written says the latest")
    void uncertainTime() {
        Instant end = BEGUN.plus(LEASE);
        StoreTime unsure = new StoreTime(end.minusNanos(1000), end.plusSeconds(5));
        assertThat(Life.sweep(stored(PROCESSING), false, unsure)).isInstanceOf(Unchanged.class);
        assertThat(next(Life.claim(null, request(MINE, PROCESSING), unsure)).createdAt())
                .isEqualTo(unsure.latest());
        assertThat(Life.visible(stored(COMPLETED), unsure).orElseThrow().readAt())
                .isEqualTo(unsure.earliest());
    }

    @Test
    @DisplayName(
            "E6 S2 every change follows the table of states, and its records lead from the old state to the new one")
    void followsTheTable() {
        Map<State, List<State>> seen = new EnumMap<>(State.class);
        for (State from : State.values()) {
            for (Change<?> change : changesOf(stored(from))) {
                @Nullable State last = from;
                for (Transition step : change.audit()) {
                    assertThat(step.from()).isEqualTo(last);
                    last = step.to();
                }
                Entry next = change.next();
                boolean audited = !change.audit().isEmpty();
                assertThat(last).isEqualTo(audited ? (next == null ? null : next.state()) : from);
                if (next != null && next.state() != from && next.createdAt().equals(BEGUN)) {
                    assertThat(from.canBecome(next.state()))
                            .as("%s to %s", from, next)
                            .isTrue();
                    seen.computeIfAbsent(from, f -> new ArrayList<>()).add(next.state());
                }
            }
        }
        for (State from : State.values()) {
            for (State to : State.values()) {
                assertThat(seen.getOrDefault(from, List.of()).contains(to))
                        .as("%s to %s", from, to)
                        .isEqualTo(from.canBecome(to));
            }
        }
    }

    private static List<Change<?>> changesOf(Entry stored) {
        List<Decision<?>> all = new ArrayList<>();
        for (Duration span : List.of(
                SECOND, LEASE, RETENTION.plus(SECOND), RETENTION.plus(TOMBSTONE).plus(SECOND))) {
            StoreTime now = after(span);
            for (State to : List.of(COMPLETED, FAILED, RETRYABLE, UNKNOWN)) {
                all.add(Life.settle(stored, new Settlement(ID, MINE, to, null, "?"), now));
            }
            for (State to : List.of(COMPLETED, RETRYABLE)) {
                all.add(Life.resolve(stored, new Resolution(ID, 1, to, null, "?", "?"), false, now));
            }
            all.add(Life.claim(stored, request(UUID.randomUUID(), PROCESSING), now));
            all.add(Life.claim(stored, request(MINE, PENDING), now));
            all.add(Life.renew(stored, new Renewal(ID, MINE, LEASE), now));
            all.add(Life.sweep(stored, false, now));
            all.add(Life.purge(stored, now));
            all.add(Life.evict(stored, "?", "?", now));
        }
        List<Change<?>> changes = new ArrayList<>();
        for (Decision<?> decision : all) {
            if (decision instanceof Change<?> change) {
                changes.add(change);
            }
        }
        return changes;
    }
}
