package dev.onlyonce.testkit;

import static dev.onlyonce.store.State.COMPLETED;
import static dev.onlyonce.store.State.EXPIRED;
import static dev.onlyonce.store.State.FAILED;
import static dev.onlyonce.store.State.PENDING;
import static dev.onlyonce.store.State.PROCESSING;
import static dev.onlyonce.store.State.RETRYABLE;
import static dev.onlyonce.store.State.UNKNOWN;
import static dev.onlyonce.testkit.Requests.KEPT;
import static dev.onlyonce.testkit.Requests.LEASE;
import static dev.onlyonce.testkit.Requests.MICRO;
import static dev.onlyonce.testkit.Requests.RETENTION;
import static dev.onlyonce.testkit.Requests.TENANT;
import static dev.onlyonce.testkit.Requests.TOMBSTONE;
import static dev.onlyonce.testkit.Requests.accepting;
import static dev.onlyonce.testkit.Requests.bytes;
import static dev.onlyonce.testkit.Requests.fresh;
import static dev.onlyonce.testkit.Requests.on;
import static dev.onlyonce.testkit.Requests.rival;
import static dev.onlyonce.testkit.Requests.several;
import static dev.onlyonce.testkit.Requests.withBody;
import static org.assertj.core.api.Assertions.assertThat;

import dev.onlyonce.store.AuditQuery;
import dev.onlyonce.store.AuditRecord;
import dev.onlyonce.store.ClaimRequest;
import dev.onlyonce.store.ClaimResult;
import dev.onlyonce.store.EntryId;
import dev.onlyonce.store.Settlement;
import dev.onlyonce.store.State;
import dev.onlyonce.store.Transition;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The audit: every change of state but the end of retention leaves one record, and nothing else does. */
interface AuditChapter extends Chapter {

    @Test
    @DisplayName("S2 a claim and its settlement are audited with who, when, from, to and why")
    default void auditClaimAndSettlement() {
        ClaimRequest claim = fresh("key");
        Instant begun = bench().now();
        bench().claimed(claim);
        assertThat(history(claim)).containsExactly("1 null>PROCESSING node-1");
        bench().advance(Duration.ofSeconds(2));
        Settlement settlement = Requests.settlement(claim, FAILED, bytes("declined"), "card_declined");
        bench().settle(settlement);

        assertThat(history(claim)).containsExactly("1 null>PROCESSING node-1", "1 PROCESSING>FAILED node-1");
        List<AuditRecord> records = bench().node(1).history(claim.id());
        assertThat(records.get(0).at()).isBetween(begun, begun.plusSeconds(2));
        assertThat(records.get(0).at()).isEqualTo(bench().entry(claim).createdAt());
        assertThat(records.get(1).at()).isEqualTo(bench().entry(claim).settledAt());
        assertThat(records.get(1).transition())
                .isEqualTo(new Transition(
                        claim.id(), claim.operation(), PROCESSING, FAILED, 1, "node-1", "card_declined"));
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("S2 the records of an entry lead to its state step by step, whichever way it took")
    default void auditLeadsThere(Situation situation) {
        ClaimRequest claim = situation.arrange(bench(), "key");
        // The end of retention leaves no record, whether the entry has been purged or not.
        State expected = switch (situation) {
            case EXPIRED, GONE, DELETED, TOMBSTONE_GONE, TOMBSTONE_REAPED_GONE -> COMPLETED;
            case EXPIRED_REAPED -> FAILED;
            case RETRYABLE_GONE -> RETRYABLE;
            default -> situation.shown;
        };
        assertThat(follow(claim)).isEqualTo(expected);
    }

    /** Goes from record to record; returns where the last one leads. */
    private @Nullable State follow(ClaimRequest claim) {
        State last = null;
        Instant before = Instant.MIN;
        for (AuditRecord record : bench().node().history(claim.id())) {
            Transition step = record.transition();
            assertThat(step.from()).as("%s", step).isEqualTo(last);
            assertThat(isLegal(step.from(), step.to())).as("%s", step).isTrue();
            assertThat(record.at()).as("%s", step).isAfterOrEqualTo(before);
            assertThat(step.who()).isNotEmpty();
            assertThat(step.why()).isNotEmpty();
            assertThat(step.operation()).isEqualTo(claim.operation());
            assertThat(step.id()).isEqualTo(claim.id());
            last = step.to();
            before = record.at();
        }
        return last;
    }

    private static boolean isLegal(@Nullable State from, @Nullable State to) {
        if (from == null) {
            return to == PENDING || to == PROCESSING;
        }
        return to == null ? from.isPurgeable() : from.canBecome(to);
    }

    @Test
    @DisplayName("S2 accepting, a worker's claim, doubt, proof and the next attempt are audited one by one")
    default void auditLongLife() {
        ClaimRequest first = fresh("key");
        bench().claimed(accepting(first));
        assertThat(history(first)).containsExactly("0 null>PENDING node-1");
        ClaimRequest second = rival(first);
        bench().claimed(second);
        assertThat(history(first)).containsExactly("0 null>PENDING node-1", "1 PENDING>PROCESSING node-2");
        bench().settled(second, UNKNOWN, null);
        bench().resolve(second, 1, RETRYABLE, null);
        bench().claimed(first);
        bench().settled(first, COMPLETED, bytes("done"));
        assertThat(history(first))
                .containsExactly(
                        "0 null>PENDING node-1",
                        "1 PENDING>PROCESSING node-2",
                        "1 PROCESSING>UNKNOWN node-2",
                        "1 UNKNOWN>RETRYABLE as the test says",
                        "2 RETRYABLE>PROCESSING node-1",
                        "2 PROCESSING>COMPLETED node-1");
    }

    @Test
    @DisplayName("S2 a sweep is audited as it is reported, with the dead owner's claim before it")
    default void auditSweeps() {
        ClaimRequest dead = fresh("dead");
        ClaimRequest abandoned = accepting(fresh("abandoned"));
        bench().claimed(dead);
        bench().claimed(abandoned);
        bench().advance(LEASE);
        List<Transition> swept = bench().node().sweep(10);
        assertThat(history(dead)).containsExactly("1 null>PROCESSING node-1", "1 PROCESSING>UNKNOWN sweeper");
        assertThat(history(abandoned)).containsExactly("0 null>PENDING node-1", "0 PENDING>FAILED sweeper");
        assertThat(swept)
                .containsExactlyInAnyOrder(
                        last(dead).transition(), last(abandoned).transition());
        assertThat(bench().node(1).sweep(10)).isEmpty();
        assertThat(history(dead)).hasSize(2);
    }

    @Test
    @DisplayName("R7 S2 an eviction is audited with the operator's name and reason, and outlives the entry")
    default void auditEviction() {
        ClaimRequest claim = fresh("key");
        bench().claimed(claim);
        assertThat(bench().node().evict(claim.id(), "alice", "too early")).isEmpty();
        bench().settled(claim, COMPLETED, bytes("wrong"));
        bench().node().evict(claim.id(), "alice", "ticket 42");
        bench().node().evict(claim.id(), "bob", "there is nothing any more");

        assertThat(history(claim))
                .containsExactly("1 null>PROCESSING node-1", "1 PROCESSING>COMPLETED node-1", "1 COMPLETED>null alice");
        assertThat(last(claim).transition().why()).isEqualTo("ticket 42");
        bench().claimed(rival(claim));
        assertThat(history(claim)).hasSize(4).endsWith("1 null>PROCESSING node-2");
    }

    @Test
    @DisplayName("D6 S2 a resolution is audited with who found out and how")
    default void auditResolution() {
        ClaimRequest claim = fresh("key");
        bench().claimed(claim);
        bench().settled(claim, UNKNOWN, null);
        bench().node().resolve(List.of(Requests.resolution(claim.id(), 1, COMPLETED, bytes("found"), "ch_17")));
        assertThat(last(claim).transition())
                .isEqualTo(new Transition(claim.id(), claim.operation(), UNKNOWN, COMPLETED, 1, "ch_17", "ch_17"));
        assertThat(last(claim).at()).isEqualTo(bench().entry(claim).settledAt());
    }

    @Test
    @DisplayName("T3 S2 a purge leaves no records: its tombstones and deletions follow from the settlement")
    default void auditReaper() {
        ClaimRequest kept = on(KEPT, fresh("kept"));
        bench().claimed(kept);
        bench().settled(kept, COMPLETED, bytes("done"));
        List<String> settled = history(kept);
        assertThat(settled).containsExactly("1 null>PROCESSING node-1", "1 PROCESSING>COMPLETED node-1");
        bench().advance(RETENTION);
        assertThat(bench().node().purge(10)).isEqualTo(1);
        assertThat(bench().entry(kept).state()).isEqualTo(EXPIRED);
        assertThat(history(kept)).isEqualTo(settled);
        bench().advance(TOMBSTONE);
        assertThat(bench().node(1).purge(10)).isEqualTo(1);
        assertThat(history(kept)).isEqualTo(settled);
        assertThat(bench().node().audit(new AuditQuery(TENANT, null, null, 10))).hasSize(2);

        bench().claimed(rival(kept));
        assertThat(history(kept)).hasSize(3).endsWith("1 null>PROCESSING node-2");
    }

    @Test
    @DisplayName("T3 S2 a tombstone's eviction and the claim that replaces one are audited, from expired")
    default void auditTombstonesEnd() {
        ClaimRequest evicted = on(KEPT, fresh("evicted"));
        ClaimRequest replaced = on(KEPT, fresh("replaced"));
        for (ClaimRequest claim : List.of(evicted, replaced)) {
            bench().claimed(claim);
            bench().settled(claim, COMPLETED, bytes("done"));
        }
        bench().advance(RETENTION);
        assertThat(bench().node().purge(10)).isEqualTo(2);
        bench().node().evict(evicted.id(), "alice", "ticket 42");
        assertThat(history(evicted)).hasSize(3).endsWith("1 EXPIRED>null alice");
        bench().advance(TOMBSTONE);
        bench().claimed(rival(replaced));
        assertThat(history(replaced)).hasSize(4).endsWith("1 EXPIRED>null node-2", "1 null>PROCESSING node-2");
    }

    @Test
    @DisplayName("T2 S2 a key that is used again keeps the records of its earlier life, and that life's end")
    default void auditAnew() {
        ClaimRequest first = fresh("key");
        bench().claimed(first);
        bench().settled(first, COMPLETED, bytes("done"));
        bench().advance(RETENTION);
        bench().claimed(accepting(rival(first)));
        assertThat(history(first))
                .containsExactly(
                        "1 null>PROCESSING node-1",
                        "1 PROCESSING>COMPLETED node-1",
                        "1 COMPLETED>null node-2",
                        "0 null>PENDING node-2");
    }

    @Test
    @DisplayName(
            "S2 what changes nothing leaves no record: duplicates, mismatches, heartbeats, lost and repeated settlements")
    default void auditNothingChanged() {
        ClaimRequest claim = fresh("key");
        bench().claimed(claim);
        bench().claimed(claim);
        bench().refused(rival(claim));
        bench().renew(claim, LEASE);
        bench().settle(rival(claim), COMPLETED, bytes("theirs"));
        bench().settled(claim, RETRYABLE, null);
        bench().settled(claim, RETRYABLE, null);
        bench().settle(claim, COMPLETED, bytes("changed its mind"));
        bench().refused(withBody("another", rival(claim)));
        bench().resolve(claim, 1, COMPLETED, bytes("not unknown"));
        bench().node().sweep(10);
        bench().node().purge(10);
        assertThat(history(claim)).containsExactly("1 null>PROCESSING node-1", "1 PROCESSING>RETRYABLE node-1");

        ClaimRequest next = rival(claim);
        bench().claimed(next);
        bench().claimed(next);
        bench().settle(claim, COMPLETED, bytes("fenced out"));
        bench().settled(next, COMPLETED, bytes("done"));
        bench().settled(next, COMPLETED, bytes("done"));
        bench().refused(rival(claim));
        assertThat(history(claim)).hasSize(4).endsWith("2 PROCESSING>COMPLETED node-2");
    }

    @Test
    @DisplayName("S2 each row of a batch is audited by itself: the lost and the repeated ones are not")
    default void auditBatches() {
        List<ClaimRequest> claims = several("key", 60);
        bench().node().claim(claims);
        bench().settled(claims.get(7), COMPLETED, bytes("7"));
        List<Settlement> settlements = new ArrayList<>();
        for (int i = 0; i < claims.size(); i++) {
            ClaimRequest claim = i % 10 == 3 ? rival(claims.get(i)) : claims.get(i);
            State to = i == 7
                    ? COMPLETED
                    : List.of(COMPLETED, FAILED, RETRYABLE, UNKNOWN).get(i % 4);
            byte[] result = to.isAnswered() ? bytes(String.valueOf(i)) : null;
            settlements.add(Requests.settlement(claim, to, result, "because of " + i));
        }
        bench().node().settle(settlements);
        bench().node().claim(several("other", 20));
        bench().node().settle(settlements);
        for (int i = 0; i < claims.size(); i++) {
            List<AuditRecord> records = bench().node().history(claims.get(i).id());
            assertThat(records).as("%s", i).hasSize(i % 10 == 3 ? 1 : 2);
            if (i % 10 != 3 && i != 7) {
                Transition step = records.get(1).transition();
                assertThat(step.to()).isEqualTo(settlements.get(i).to());
                assertThat(step.why()).isEqualTo("because of " + i);
            }
        }
        assertThat(history(fresh("other-0011"))).hasSize(1);
    }

    @Test
    @DisplayName(
            "S2 in a race each claim that won and each settlement that counted has one record, and they follow one another")
    default void auditRace() {
        ClaimRequest claim = fresh("key");
        int won = Racers.race(16, racer -> {
                    int wins = 0;
                    for (int i = 0; i < 10; i++) {
                        ClaimRequest mine = rival(claim);
                        if (bench().node(racer).claim(List.of(mine)).get(0) instanceof ClaimResult.Claimed) {
                            wins++;
                            List<Settlement> release = List.of(Requests.settlement(mine, RETRYABLE, null));
                            bench().node(racer).settle(release);
                            bench().node(racer + 1).settle(release);
                        }
                    }
                    return wins;
                })
                .stream()
                .mapToInt(Integer::intValue)
                .sum();
        assertThat(follow(claim)).isEqualTo(RETRYABLE);
        assertThat(history(claim)).hasSize(2 * won);
    }

    @Test
    @DisplayName("K7 S2 the audit keeps tenants, spaces and keys apart")
    default void auditApart() {
        List<EntryId> ids = List.of(
                new EntryId("a", "", "key"),
                new EntryId("b", "", "key"),
                new EntryId("a", "POST /x", "key"),
                new EntryId("A", "", "key"),
                new EntryId("a", "", "KEY"),
                new EntryId("a ", "", "key"));
        for (EntryId id : ids) {
            ClaimRequest claim = Requests.of(id);
            bench().claimed(claim);
            bench().settled(claim, COMPLETED, bytes("done"));
        }
        for (EntryId id : ids) {
            assertThat(bench().node().history(id))
                    .hasSize(2)
                    .allMatch(r -> r.transition().id().equals(id));
        }
        assertThat(bench().node().history(new EntryId("c", "", "key"))).isEmpty();
        assertThat(bench().node().audit(new AuditQuery("a", null, null, 100)))
                .hasSize(6)
                .allMatch(r -> r.transition().id().tenant().equals("a"));
    }

    @Test
    @DisplayName(
            "S2 pages of the audit show every change once, from an instant on and in the order of each key's changes")
    default void auditPages() {
        ClaimRequest old = fresh("old");
        bench().claimed(old);
        bench().settled(old, COMPLETED, bytes("done"));
        bench().advance(Duration.ofSeconds(1));
        List<ClaimRequest> claims = several("key", 30);
        bench().node().claim(claims);
        bench().node()
                .settle(claims.stream()
                        .map(c -> Requests.settlement(c, RETRYABLE, null))
                        .toList());
        bench().advance(Duration.ofSeconds(1));
        ClaimRequest again = rival(claims.get(3));
        bench().claimed(again);
        bench().settled(again, UNKNOWN, null);

        Instant from = bench().node().history(claims.get(0).id()).get(1).at();
        List<AuditRecord> all = pagesFrom(null, 7);
        assertThat(all).hasSize(2 + 60 + 2).doesNotHaveDuplicates();
        assertThat(pagesFrom(null, 1)).containsExactlyElementsOf(all);
        assertThat(pagesFrom(from, 100))
                .hasSize(62)
                .noneMatch(r -> r.transition().id().equals(old.id()));
        assertThat(pagesFrom(from.plus(MICRO), 2)).hasSize(2);
        for (ClaimRequest claim : claims) {
            assertThat(all.stream().filter(r -> r.transition().id().equals(claim.id())))
                    .containsExactlyElementsOf(bench().node().history(claim.id()));
        }
    }

    private List<AuditRecord> pagesFrom(@Nullable Instant from, int limit) {
        List<AuditRecord> seen = new ArrayList<>();
        AuditQuery query = new AuditQuery(TENANT, from, null, limit);
        List<AuditRecord> page = bench().node().audit(query);
        while (!page.isEmpty()) {
            assertThat(page).hasSizeLessThanOrEqualTo(2 * limit);
            seen.addAll(page);
            page = bench().node().audit(query.after(page.get(page.size() - 1)));
        }
        return seen;
    }

    @Test
    @DisplayName(
            "S2 the audit has a retention of its own: to the microsecond, in small batches, and whatever the entry does")
    default void auditRetention() {
        Duration kept = Duration.ofDays(400);
        List<ClaimRequest> old = several("old", 5);
        bench().node().claim(old);
        old.forEach(claim -> bench().settled(claim, UNKNOWN, null));
        bench().advance(Duration.ofDays(1));
        ClaimRequest young = fresh("young");
        bench().claimed(young);
        bench().settled(young, COMPLETED, bytes("done"));

        bench().advance(kept.minusDays(1).minus(MICRO));
        bench().node().purge(10);
        Instant edge = bench().node().history(old.get(4).id()).get(1).at().plus(kept);
        assertThat(bench().node().purgeAudit(kept.plusSeconds(60), 100)).isZero();
        bench().advanceTo(edge, Duration.ZERO);
        int purged = 0;
        for (int last = 1; last > 0; purged += last) {
            last = bench().node(purged).purgeAudit(kept, 3);
            assertThat(last).isLessThanOrEqualTo(3);
        }
        assertThat(purged).isPositive();
        for (ClaimRequest claim : old) {
            assertThat(history(claim)).isEmpty();
            assertThat(bench().entry(claim).state()).isEqualTo(UNKNOWN);
        }
        assertThat(history(young)).hasSize(2).endsWith("1 PROCESSING>COMPLETED node-1");
        bench().resolve(old.get(0), 1, COMPLETED, bytes("found"));
        assertThat(history(old.get(0))).containsExactly("1 UNKNOWN>COMPLETED as the test says");
    }

    @Test
    @DisplayName("S2 no reason can keep a settlement from being recorded; long ones are shortened")
    default void auditStrangeReasons() {
        String[] texts = {"", "x".repeat(100_000), "a\0b", "half \ud83d", "\"'\\%;--", "日本 😀\r\n\t\u001b"};
        for (int i = 0; i < texts.length; i++) {
            ClaimRequest claim = fresh("key-" + i);
            bench().claimed(claim);
            bench().settle(Requests.settlement(claim, UNKNOWN, null, texts[i]));
            assertThat(last(claim).transition().to()).isEqualTo(UNKNOWN);
            assertThat(last(claim).transition().why()).hasSizeLessThanOrEqualTo(500);
        }
        assertThat(last(fresh("key-5")).transition().why()).startsWith("日本 😀");
    }

    @Test
    @DisplayName("S2 the audit says why an entry began, was taken, was abandoned, and made room")
    default void auditReasons() {
        ClaimRequest accepted = on(Requests.RETRIED, accepting(fresh("key")));
        bench().claimed(accepted);
        ClaimRequest worker = rival(accepted);
        bench().claimed(worker);
        bench().advance(LEASE);
        bench().node().sweep(10);
        bench().advance(RETENTION);
        bench().claimed(rival(worker));
        assertThat(bench().node().history(accepted.id()))
                .extracting(record -> record.transition().why())
                .containsExactly("accepted", "claimed", "the lease ran out", "its retention is over", "claimed");

        ClaimRequest abandoned = accepting(fresh("abandoned"));
        bench().claimed(abandoned);
        bench().advance(LEASE);
        bench().node().sweep(10);
        assertThat(last(abandoned).transition().why()).isEqualTo("nobody took it in time");
    }

    private AuditRecord last(ClaimRequest claim) {
        List<AuditRecord> records = bench().node().history(claim.id());
        return records.get(records.size() - 1);
    }

    /** Attempt, from, to and who of each record; both nodes see the same. */
    private List<String> history(ClaimRequest claim) {
        List<AuditRecord> records = bench().node().history(claim.id());
        assertThat(bench().node(1).history(claim.id())).isEqualTo(records);
        return records.stream()
                .map(AuditRecord::transition)
                .map(t -> t.attempt() + " " + t.from() + ">" + t.to() + " " + t.who())
                .toList();
    }
}
