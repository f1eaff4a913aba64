package dev.onlyonce.testkit;

import static dev.onlyonce.store.State.COMPLETED;
import static dev.onlyonce.store.State.RETRYABLE;
import static dev.onlyonce.store.State.UNKNOWN;
import static dev.onlyonce.testkit.Racers.race;
import static dev.onlyonce.testkit.Requests.LEASE;
import static dev.onlyonce.testkit.Requests.RETENTION;
import static dev.onlyonce.testkit.Requests.accepting;
import static dev.onlyonce.testkit.Requests.bytes;
import static dev.onlyonce.testkit.Requests.fresh;
import static dev.onlyonce.testkit.Requests.on;
import static dev.onlyonce.testkit.Requests.resolution;
import static dev.onlyonce.testkit.Requests.rival;
import static dev.onlyonce.testkit.Requests.several;
import static dev.onlyonce.testkit.Requests.withBody;
import static org.assertj.core.api.Assertions.assertThat;

import dev.onlyonce.store.ClaimRequest;
import dev.onlyonce.store.ClaimResult;
import dev.onlyonce.store.ClaimResult.Claimed;
import dev.onlyonce.store.ClaimResult.Existing;
import dev.onlyonce.store.Entry;
import dev.onlyonce.store.EntryId;
import dev.onlyonce.store.Resolution;
import dev.onlyonce.store.SettleResult;
import dev.onlyonce.store.SettleResult.Settled;
import dev.onlyonce.store.Settlement;
import dev.onlyonce.store.Store;
import dev.onlyonce.store.Transition;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.UUID;
import java.util.stream.IntStream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** Many threads on two nodes at once. Every call must succeed: contention is no reason to be unavailable. */
interface RaceChapter extends Chapter {
    int RACERS = 64;

    @Test
    @DisplayName("C1 of 64 simultaneous first claims on two nodes exactly one wins, and the others see it")
    default void firstClaims() {
        for (int round = 0; round < 5; round++) {
            ClaimRequest request = fresh("key-" + round);
            oneWinner(request, 1);
        }
    }

    @Test
    @DisplayName("C1 of 64 simultaneous claims of a retryable entry exactly one wins, at attempt 2")
    default void claimsOfRetryable() {
        ClaimRequest request = fresh("key");
        bench().claimed(request);
        bench().settled(request, RETRYABLE, null);
        oneWinner(request, 2);
    }

    @Test
    @DisplayName("C1 of 64 simultaneous claims of a pending entry exactly one wins, at attempt 1")
    default void claimsOfPending() {
        ClaimRequest request = fresh("key");
        bench().claimed(accepting(request));
        oneWinner(request, 1);
    }

    @Test
    @DisplayName("C1 T2 of 64 simultaneous claims of a key past its retention exactly one wins")
    default void claimsOfExpired() {
        ClaimRequest request = fresh("key");
        bench().claimed(request);
        bench().settled(request, COMPLETED, bytes("old"));
        bench().advance(RETENTION);
        oneWinner(request, 1);
    }

    @Test
    @DisplayName("C1 T3 claims that race with purges of the same expired keys win one entry each, which stays")
    default void claimsAgainstPurge() {
        List<ClaimRequest> old = several("key", 50);
        bench().node().claim(old);
        bench().node().settle(old.stream().map(RaceChapter::done).toList());
        bench().advance(RETENTION);
        List<ClaimRequest> next = old.stream().map(Requests::rival).toList();
        race(8, racer -> {
            if (racer % 2 == 0) {
                return bench().node(racer / 2).purge(10);
            }
            for (ClaimRequest request : shuffled(next, racer)) {
                assertThat(notBusy(bench().node(racer / 2), request)).isEqualTo(new Claimed(1));
            }
            return 0;
        });
        next.forEach(request -> assertThat(bench().entry(request).token()).isEqualTo(request.token()));
    }

    /** A purge may hold the row for a moment. */
    private static ClaimResult notBusy(Store node, ClaimRequest request) {
        ClaimResult result = node.claim(List.of(request)).get(0);
        while (result instanceof ClaimResult.Busy) {
            result = node.claim(List.of(request)).get(0);
        }
        return result;
    }

    private void oneWinner(ClaimRequest request, int attempt) {
        List<ClaimRequest> rivals =
                IntStream.range(0, RACERS).mapToObj(i -> rival(request)).toList();
        List<ClaimResult> answers = claims(rivals);
        List<Integer> winners = IntStream.range(0, RACERS)
                .filter(i -> answers.get(i) instanceof Claimed)
                .boxed()
                .toList();
        assertThat(winners).as("winners among %s", answers).hasSize(1);
        assertThat(answers.get(winners.get(0))).isEqualTo(new Claimed(attempt));
        UUID winner = rivals.get(winners.get(0)).token();
        Entry entry = bench().entry(request);
        assertThat(entry.token()).isEqualTo(winner);
        assertThat(entry.attempt()).isEqualTo(attempt);
        for (ClaimResult answer : answers) {
            if (answer instanceof Existing existing) {
                assertThat(Snapshot.of(existing.entry())).isEqualTo(Snapshot.of(entry));
            }
        }
    }

    /** One claim each, at once. Where all met a lock, which may happen on a busy machine, they try again. */
    private List<ClaimResult> claims(List<ClaimRequest> rivals) {
        List<ClaimResult> answers = List.of(new ClaimResult.Busy());
        for (int round = 0; round < 10 && answers.stream().allMatch(ClaimResult.Busy.class::isInstance); round++) {
            answers = race(
                    rivals.size(),
                    i -> bench().node(i).claim(List.of(rivals.get(i))).get(0));
        }
        return answers;
    }

    @Test
    @DisplayName("C5 64 simultaneous tries of one and the same claim all get it, at attempt 1")
    default void oneClaimManyTimes() {
        ClaimRequest request = fresh("key");
        List<ClaimResult> answers =
                race(RACERS, i -> bench().node(i).claim(List.of(request)).get(0));
        assertThat(answers).containsOnly(new Claimed(1));
        assertThat(bench().entry(request).attempt()).isEqualTo(1);
    }

    @Test
    @DisplayName("F1 of 64 simultaneous claims with different bodies one wins, and its body stands")
    default void differentBodies() {
        ClaimRequest request = fresh("key");
        List<ClaimRequest> rivals = IntStream.range(0, RACERS)
                .mapToObj(i -> withBody("body " + i, rival(request)))
                .toList();
        List<ClaimResult> answers =
                race(RACERS, i -> bench().node(i).claim(List.of(rivals.get(i))).get(0));
        assertThat(answers).filteredOn(Claimed.class::isInstance).hasSize(1);
        for (int i = 0; i < RACERS; i++) {
            if (answers.get(i) instanceof Claimed) {
                assertThat(bench().entry(request).fingerprint())
                        .isEqualTo(rivals.get(i).fingerprint());
            }
        }
    }

    @Test
    @DisplayName("D2 of two simultaneous ends of one claim, settlement and sweep, exactly one happens")
    default void settlementAgainstSweep() {
        List<ClaimRequest> claims = several("key", 40).stream()
                .map(claim -> on(Requests.RETRIED, claim))
                .toList();
        bench().node().claim(claims);
        bench().advance(LEASE);
        List<Object> answers = race(2, racer -> {
            if (racer == 0) {
                List<Transition> swept = new ArrayList<>();
                for (int i = 0; i < 40; i++) {
                    swept.addAll(bench().node(0).sweep(1));
                }
                return swept;
            }
            List<SettleResult> settled = new ArrayList<>();
            for (int i = claims.size() - 1; i >= 0; i--) {
                settled.addAll(0, bench().node(1).settle(List.of(done(claims.get(i)))));
            }
            return settled;
        });
        List<?> swept = ((List<?>) answers.get(0))
                .stream().map(transition -> ((Transition) transition).id()).toList();
        List<?> settled = (List<?>) answers.get(1);
        for (int i = 0; i < claims.size(); i++) {
            boolean wasSettled = settled.get(i) instanceof Settled;
            EntryId id = claims.get(i).id();
            assertThat(swept.contains(id)).as("%s", id).isEqualTo(!wasSettled);
            assertThat(bench().entry(claims.get(i)).state()).isEqualTo(wasSettled ? COMPLETED : RETRYABLE);
        }
    }

    @Test
    @DisplayName("D1 sweeps on several nodes at once make each transition exactly once and leave nothing behind")
    default void sweeps() {
        List<ClaimRequest> claims = several("key", 200);
        bench().node().claim(claims);
        bench().advance(LEASE);
        List<EntryId> swept = race(8, racer -> {
                    List<EntryId> mine = new ArrayList<>();
                    for (int i = 0; i < 20; i++) {
                        bench().node(racer).sweep(20).forEach(transition -> mine.add(transition.id()));
                    }
                    return mine;
                })
                .stream()
                .flatMap(List::stream)
                .toList();
        // A sweep may pass over what another one is working on, so a last one looks alone.
        List<EntryId> all = new ArrayList<>(swept);
        bench().node().sweep(256).forEach(transition -> all.add(transition.id()));
        assertThat(all)
                .containsExactlyInAnyOrderElementsOf(
                        claims.stream().map(ClaimRequest::id).toList());
    }

    @Test
    @DisplayName("T3 purges on several nodes at once count each entry exactly once")
    default void purges() {
        List<ClaimRequest> claims = several("key", 200);
        bench().node().claim(claims);
        bench().node().settle(claims.stream().map(RaceChapter::done).toList());
        bench().advance(RETENTION);
        int purged = race(8, racer -> {
                    int mine = 0;
                    for (int i = 0; i < 10; i++) {
                        mine += bench().node(racer).purge(20);
                    }
                    return mine;
                })
                .stream()
                .mapToInt(Integer::intValue)
                .sum();
        assertThat(purged + bench().node().purge(256)).isEqualTo(200);
    }

    @Test
    @DisplayName("D6 of many simultaneous resolutions exactly one is recorded")
    default void resolutions() {
        ClaimRequest claim = fresh("key");
        bench().claimed(claim);
        bench().settled(claim, UNKNOWN, null);
        List<SettleResult> answers = race(16, racer -> {
            boolean found = racer % 2 == 0;
            byte[] result = bytes("found by " + racer);
            Resolution resolution =
                    found ? resolution(claim.id(), 1, COMPLETED, result) : resolution(claim.id(), 1, RETRYABLE, null);
            return bench().node(racer / 2).resolve(List.of(resolution)).get(0);
        });
        assertThat(answers).filteredOn(Settled.class::isInstance).hasSize(1);
        int winner = answers.indexOf(
                answers.stream().filter(Settled.class::isInstance).findFirst().orElseThrow());
        Entry entry = bench().entry(claim);
        assertThat(entry.state()).isEqualTo(winner % 2 == 0 ? COMPLETED : RETRYABLE);
        assertThat(entry.result()).isEqualTo(winner % 2 == 0 ? bytes("found by " + winner) : null);
    }

    @Test
    @DisplayName("C1 overlapping batches on two nodes, in opposite orders, neither deadlock nor give a key twice")
    default void overlappingBatches() {
        for (int round = 0; round < 10; round++) {
            List<ClaimRequest> keys = several("round-" + round, 100);
            List<List<ClaimRequest>> batches = new ArrayList<>();
            for (int racer = 0; racer < 8; racer++) {
                batches.add(shuffled(keys.stream().map(Requests::rival).toList(), racer));
            }
            List<List<ClaimResult>> answers =
                    race(8, racer -> bench().node(racer).claim(batches.get(racer)));
            List<EntryId> won = new ArrayList<>();
            for (int racer = 0; racer < 8; racer++) {
                for (int i = 0; i < 100; i++) {
                    if (answers.get(racer).get(i) instanceof Claimed) {
                        won.add(batches.get(racer).get(i).id());
                    }
                }
            }
            assertThat(won)
                    .containsExactlyInAnyOrderElementsOf(
                            keys.stream().map(ClaimRequest::id).toList());
        }
    }

    @Test
    @DisplayName(
            "C1 D1 claims, settlements, sweeps and purges on two nodes at once all succeed, and every result is its own")
    default void everythingAtOnce() {
        race(8, racer -> {
            if (racer >= 6) {
                for (int i = 0; i < 20; i++) {
                    bench().node(racer).sweep(50);
                    bench().node(racer).purge(50);
                }
                return 0;
            }
            List<Settlement> ends = List.of();
            for (int round = 0; round < 10; round++) {
                List<ClaimRequest> claims = shuffled(several("racer-" + racer + "-round-" + round, 20), round);
                assertThat(bench().node(racer).settle(ends))
                        .hasSize(ends.size())
                        .allMatch(Settled.class::isInstance);
                assertThat(bench().node(racer).claim(claims)).containsOnly(new Claimed(1));
                ends = claims.stream().map(RaceChapter::done).toList();
            }
            return 0;
        });
        for (int racer = 0; racer < 6; racer++) {
            for (ClaimRequest claim : several("racer-" + racer + "-round-0", 20)) {
                assertThat(bench().entry(claim).result())
                        .isEqualTo(bytes(claim.id().key()));
            }
        }
    }

    @Test
    @DisplayName(
            "C1 two nodes that settle their own and claim each other's entries, crosswise, neither deadlock nor fail")
    default void crosswise() {
        for (int round = 0; round < 20; round++) {
            List<ClaimRequest> first = several("round-" + round + "-a", 10);
            List<ClaimRequest> second = several("round-" + round + "-b", 10);
            bench().node(0).claim(first);
            bench().node(1).claim(second);
            List<List<ClaimRequest>> own = List.of(first, second);
            race(2, racer -> {
                List<Settlement> ends =
                        own.get(racer).stream().map(RaceChapter::done).toList();
                assertThat(bench().node(racer).settle(ends)).hasSize(10).allMatch(Settled.class::isInstance);
                assertThat(bench().node(racer).claim(rivals(own.get(1 - racer))))
                        .hasSize(10)
                        .allMatch(Existing.class::isInstance);
                return racer;
            });
        }
    }

    private static List<ClaimRequest> rivals(List<ClaimRequest> claims) {
        return claims.stream().map(Requests::rival).toList();
    }

    private static Settlement done(ClaimRequest claim) {
        return new Settlement(
                claim.id(), claim.token(), COMPLETED, bytes(claim.id().key()), "done");
    }

    private static <T> List<T> shuffled(List<T> list, int seed) {
        List<T> copy = new ArrayList<>(list);
        Collections.shuffle(copy, new Random(seed));
        return copy;
    }
}
