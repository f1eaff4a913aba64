package dev.onlyonce.testkit;

import static dev.onlyonce.store.State.COMPLETED;
import static dev.onlyonce.store.State.EXPIRED;
import static dev.onlyonce.store.State.PROCESSING;
import static dev.onlyonce.store.State.RETRYABLE;
import static dev.onlyonce.store.State.UNKNOWN;
import static dev.onlyonce.testkit.Requests.KEPT;
import static dev.onlyonce.testkit.Requests.OPERATION;
import static dev.onlyonce.testkit.Requests.RETENTION;
import static dev.onlyonce.testkit.Requests.TENANT;
import static dev.onlyonce.testkit.Requests.TOMBSTONE;
import static dev.onlyonce.testkit.Requests.bytes;
import static dev.onlyonce.testkit.Requests.fresh;
import static dev.onlyonce.testkit.Requests.on;
import static dev.onlyonce.testkit.Requests.rival;
import static dev.onlyonce.testkit.Requests.several;
import static dev.onlyonce.testkit.Requests.withOperation;
import static org.assertj.core.api.Assertions.assertThat;

import dev.onlyonce.store.AuditRecord;
import dev.onlyonce.store.ClaimRequest;
import dev.onlyonce.store.Entry;
import dev.onlyonce.store.EntryId;
import dev.onlyonce.store.EntryQuery;
import dev.onlyonce.store.Resolution;
import dev.onlyonce.store.SettleResult.Lost;
import dev.onlyonce.store.SettleResult.Settled;
import dev.onlyonce.store.State;
import dev.onlyonce.store.StateCounts;
import dev.onlyonce.store.Transition;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** What operators and the reconciler do: list, resolve, evict. */
interface OperatorChapter extends Chapter {

    @Test
    @DisplayName("K7 a listing can be restricted to tenant, operation, state and age, and to all of them at once")
    default void filters() {
        ClaimRequest old = withOperation("POST /refunds", fresh("a", "old"));
        bench().claimed(old);
        bench().settled(old, UNKNOWN, null);
        bench().advance(Duration.ofMinutes(10));
        ClaimRequest completed = fresh("a", "completed");
        bench().claimed(completed);
        bench().settled(completed, COMPLETED, bytes("done"));
        bench().claimed(fresh("a", "running"));
        ClaimRequest theirs = fresh("b", "completed");
        bench().claimed(theirs);
        bench().settled(theirs, COMPLETED, bytes("theirs"));

        Duration age = Duration.ofMinutes(5);
        assertThat(listed(null, null, null, null)).containsExactly("a completed", "a old", "a running", "b completed");
        assertThat(listed("a", null, null, null)).containsExactly("a completed", "a old", "a running");
        assertThat(listed("A", null, null, null)).isEmpty();
        assertThat(listed(null, "POST /refunds", null, null)).containsExactly("a old");
        assertThat(listed(null, null, COMPLETED, null)).containsExactly("a completed", "b completed");
        assertThat(listed(null, null, PROCESSING, null)).containsExactly("a running");
        assertThat(listed(null, null, RETRYABLE, null)).isEmpty();
        assertThat(listed(null, null, null, age)).containsExactly("a old");
        assertThat(listed("a", "POST /refunds", UNKNOWN, age)).containsExactly("a old");
        assertThat(listed("b", "POST /refunds", UNKNOWN, age)).isEmpty();
        assertThat(listed("b", OPERATION, COMPLETED, Duration.ZERO)).containsExactly("b completed");
    }

    private List<String> listed(
            @Nullable String tenant, @Nullable String operation, @Nullable State state, @Nullable Duration olderThan) {
        EntryQuery query = new EntryQuery(tenant, operation, state, olderThan, null, EntryQuery.LIMIT_MAX);
        return bench().node().list(query).stream()
                .map(entry -> entry.id().tenant() + " " + entry.id().key())
                .toList();
    }

    @Test
    @DisplayName("O1 S2 a note about an unknown entry is in its history, and changes nothing else; others take none")
    default void notes() {
        ClaimRequest doubtful = fresh("doubtful");
        bench().claimed(doubtful);
        bench().settled(doubtful, UNKNOWN, null);
        Entry before = bench().entry(doubtful);
        Resolution note = Resolution.note(doubtful.id(), 1, "ann", "asked the bank, ticket 12");
        assertThat(bench().node().resolve(List.of(note)).get(0)).isInstanceOf(Settled.class);
        assertThat(Snapshot.of(bench().entry(doubtful))).isEqualTo(Snapshot.of(before));
        assertThat(bench().node().list(EntryQuery.all(10).in(UNKNOWN))).hasSize(1);
        List<AuditRecord> history = bench().node().history(doubtful.id());
        assertThat(history.get(history.size() - 1).transition())
                .isEqualTo(new Transition(
                        doubtful.id(), doubtful.operation(), UNKNOWN, UNKNOWN, 1, "ann", "asked the bank, ticket 12"));
        Resolution older = Resolution.note(doubtful.id(), 2, "ann", "about another attempt");
        assertThat(bench().node().resolve(List.of(older)).get(0)).isInstanceOf(Lost.class);
        Resolution found = Resolution.found(doubtful.id(), 1, Optional.empty(), "ann", "the bank has it");
        assertThat(bench().node().resolve(List.of(found)).get(0)).isInstanceOf(Settled.class);
        assertThat(bench().node().resolve(List.of(note)).get(0)).isInstanceOf(Lost.class);
        assertThat(bench().node().history(doubtful.id()))
                .extracting(record -> record.transition().why())
                .contains("asked the bank, ticket 12", "the bank has it")
                .doesNotContain("about another attempt");
    }

    @Test
    @DisplayName("S3 the entries of one tenant are counted, tombstones too, up to a bound")
    default void counts() {
        ClaimRequest completed = fresh("a", "completed");
        bench().claimed(completed);
        bench().settled(completed, COMPLETED, bytes("done"));
        ClaimRequest doubtful = fresh("a", "doubtful");
        bench().claimed(doubtful);
        bench().settled(doubtful, UNKNOWN, null);
        bench().claimed(fresh("a", "running"));
        bench().claimed(fresh("b", "theirs"));
        assertThat(bench().node().countStored("a", 100)).isEqualTo(3);
        assertThat(bench().node().countStored("a", 2)).as("up to a bound").isEqualTo(2);
        assertThat(bench().node().countStored("b", 100)).isEqualTo(1);
        assertThat(bench().node().countStored("A", 100)).isZero();
    }

    @Test
    @DisplayName("O1 entries are counted by state: one by one while they are few, and the unknown ones in any case")
    default void countsStates() {
        ClaimRequest completed = fresh("a", "completed");
        bench().claimed(completed);
        bench().settled(completed, COMPLETED, bytes("done"));
        ClaimRequest doubtful = fresh("z", "doubtful");
        bench().claimed(doubtful);
        bench().settled(doubtful, UNKNOWN, null);
        bench().claimed(fresh("b", "running"));
        bench().claimed(fresh("b", "running-too"));
        StateCounts counts = bench().node().countStates(100);
        assertThat(counts.kind()).isEqualTo(StateCounts.Kind.EXACT);
        assertThat(counts.of(COMPLETED)).isEqualTo(1);
        assertThat(counts.of(UNKNOWN)).isEqualTo(1);
        assertThat(counts.of(State.PROCESSING)).isEqualTo(2);
        assertThat(counts.total()).isEqualTo(4);
        StateCounts some = bench().node().countStates(2);
        assertThat(some.kind()).isNotEqualTo(StateCounts.Kind.EXACT);
        assertThat(some.of(UNKNOWN)).as("behind the bound").isEqualTo(1);
    }

    @Test
    @DisplayName("R7 O1 a listing shows each entry as reading it does, without its result, which may be large")
    default void listsWholeEntries() {
        ClaimRequest claim = on(KEPT, fresh("key"));
        bench().claimed(claim);
        bench().settled(claim, COMPLETED, bytes("done"));
        assertThat(bench().node().list(EntryQuery.all(10)))
                .extracting(Snapshot::of)
                .containsExactly(Snapshot.of(bench().entry(claim).withoutResult()));
        bench().advance(RETENTION);
        assertThat(bench().node().list(EntryQuery.all(10).in(EXPIRED)))
                .extracting(Snapshot::of)
                .containsExactly(Snapshot.of(bench().entry(claim).withoutResult()));
        assertThat(bench().node().list(EntryQuery.all(10).in(COMPLETED))).isEmpty();
        bench().advance(TOMBSTONE);
        assertThat(bench().node().list(EntryQuery.all(10))).isEmpty();
    }

    @Test
    @DisplayName("R7 pages follow the order of ids, and together show every entry once")
    default void pages() {
        List<EntryId> ids = new ArrayList<>();
        for (String tenant : List.of("a", "a b", "ab", "B", "b", "b_")) {
            for (String space : List.of("", "POST /x", "put")) {
                for (String key : List.of("1", "10", "2", "A", "a", "~")) {
                    ids.add(new EntryId(tenant, space, key));
                }
            }
        }
        Collections.shuffle(ids, new Random(7));
        bench().node().claim(ids.stream().map(Requests::of).toList());
        Collections.sort(ids);
        assertThat(pagesOf(7)).containsExactlyElementsOf(ids);
        assertThat(pagesOf(1)).containsExactlyElementsOf(ids);
        assertThat(pagesOf(ids.size())).containsExactlyElementsOf(ids);
    }

    @Test
    @DisplayName("R7 pages follow the order of ids in whatever script their tenants are written")
    default void pagesInAnyScript() {
        List<EntryId> ids = IdentityChapter.NAMES.stream()
                .map(name -> new EntryId(name, "", "key"))
                .sorted()
                .toList();
        bench().node().claim(ids.stream().map(Requests::of).toList());
        assertThat(pagesOf(4)).containsExactlyElementsOf(ids);
    }

    private List<EntryId> pagesOf(int limit) {
        List<EntryId> seen = new ArrayList<>();
        EntryQuery query = EntryQuery.all(limit);
        List<Entry> page = bench().node().list(query);
        while (!page.isEmpty()) {
            assertThat(page).hasSizeLessThanOrEqualTo(limit);
            page.forEach(entry -> seen.add(entry.id()));
            assertThat(seen).doesNotHaveDuplicates();
            page = bench().node().list(query.after(seen.get(seen.size() - 1)));
        }
        return seen;
    }

    @Test
    @DisplayName("R7 a page of one state goes on after the last one shown")
    default void pagesOfOneState() {
        List<ClaimRequest> claims = several("key", 20);
        bench().node().claim(claims);
        for (int i = 0; i < 20; i += 2) {
            bench().settled(claims.get(i), UNKNOWN, null);
        }
        EntryQuery query = new EntryQuery(TENANT, null, UNKNOWN, null, null, 6);
        List<Entry> first = bench().node().list(query);
        List<Entry> second = bench().node().list(query.after(first.get(5).id()));
        assertThat(first).extracting(e -> e.id().key()).hasSize(6).startsWith("key-0000", "key-0002");
        assertThat(second)
                .extracting(e -> e.id().key())
                .containsExactly("key-0012", "key-0014", "key-0016", "key-0018");
    }

    @Test
    @DisplayName("D6 a finding about an older attempt changes nothing")
    default void staleFinding() {
        ClaimRequest first = fresh("key");
        bench().claimed(first);
        bench().settled(first, UNKNOWN, null);
        bench().resolve(first, 1, RETRYABLE, null);
        ClaimRequest second = rival(first);
        assertThat(bench().claimed(second)).isEqualTo(2);
        bench().settled(second, UNKNOWN, null);
        Snapshot before = Snapshot.of(bench().entry(second));

        assertThat(bench().resolve(first, 1, COMPLETED, bytes("of the first"))).isEqualTo(new Lost(UNKNOWN));
        assertThat(bench().snapshot(second)).contains(before);
        assertThat(bench().resolve(first, 2, COMPLETED, bytes("of the second"))).isInstanceOf(Settled.class);
        assertThat(bench().entry(second).result()).isEqualTo(bytes("of the second"));
    }

    @Test
    @DisplayName("D15 D6 a finding about an entry that was evicted changes nothing of the one that its key has now")
    default void findingAboutAnotherEntry() {
        ClaimRequest first = fresh("key");
        bench().claimed(first);
        bench().settled(first, UNKNOWN, null);
        Entry old = bench().entry(first);
        bench().resolve(first, 1, RETRYABLE, null);
        assertThat(bench().node().evict(first.id(), "operator", "a test")).isPresent();
        bench().advance(Duration.ofMillis(5));
        ClaimRequest second = rival(first);
        assertThat(bench().claimed(second)).isEqualTo(1);
        bench().settled(second, UNKNOWN, null);
        Entry now = bench().entry(second);

        Resolution late = Requests.resolution(old.id(), 1, RETRYABLE, null).about(old.createdAt());
        assertThat(bench().node().resolve(List.of(late))).containsExactly(new Lost(UNKNOWN));
        assertThat(bench().node().resolve(List.of(late.about(now.createdAt()))).get(0))
                .isInstanceOf(Settled.class);
    }

    @Test
    @DisplayName("D6 an unknown entry resolved as absent can be claimed, at the next attempt, by the same request only")
    default void resolvedAsAbsent() {
        ClaimRequest first = fresh("key");
        bench().claimed(first);
        bench().settled(first, UNKNOWN, null);
        bench().resolve(first, 1, RETRYABLE, null);
        assertThat(bench().refused(Requests.withBody("another", rival(first))).state())
                .isEqualTo(RETRYABLE);
        assertThat(bench().claimed(rival(first))).isEqualTo(2);
    }

    @Test
    @DisplayName("R7 no name or reason of an operator can make an eviction or a resolution fail")
    default void strangeOperators() {
        String[] texts = {"", "x".repeat(100_000), "a\0b", "half \ud83d", "\"'\\%;--", "日本 😀\r\n\t\u001b"};
        for (int i = 0; i < texts.length; i++) {
            ClaimRequest claim = fresh("key-" + i);
            bench().claimed(claim);
            bench().settled(claim, UNKNOWN, null);
            Resolution resolution = Requests.resolution(claim.id(), 1, COMPLETED, null, texts[i]);
            assertThat(bench().node().resolve(List.of(resolution)).get(0)).isInstanceOf(Settled.class);
            assertThat(bench().node().evict(claim.id(), texts[i], texts[i])).isPresent();
        }
    }

    @Test
    @DisplayName("R7 the evicted owner's late settlement finds nothing, nor does it reach the next entry of the key")
    default void evictedOwner() {
        ClaimRequest first = Requests.of(new EntryId(TENANT, "", "key"));
        bench().claimed(first);
        bench().settled(first, COMPLETED, bytes("first"));
        assertThat(bench().node().evict(first.id(), "operator", "asked")).isPresent();
        assertThat(bench().settle(first, COMPLETED, bytes("first"))).isEqualTo(new Lost(null));
        ClaimRequest second = rival(first);
        assertThat(bench().claimed(second)).isEqualTo(1);
        assertThat(bench().settle(first, COMPLETED, bytes("first"))).isEqualTo(new Lost(PROCESSING));
        assertThat(bench().node().evict(first.id(), "operator", "again")).isEmpty();
    }
}
