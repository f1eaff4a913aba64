package dev.onlyonce.sql.internal.entries;

import static dev.onlyonce.store.State.COMPLETED;
import static dev.onlyonce.store.State.FAILED;
import static dev.onlyonce.store.State.RETRYABLE;
import static dev.onlyonce.store.State.UNKNOWN;
import static org.assertj.core.api.Assertions.assertThat;

import dev.onlyonce.sql.Claims;
import dev.onlyonce.sql.SqlClock;
import dev.onlyonce.sql.TestDatabase;
import dev.onlyonce.store.AuditQuery;
import dev.onlyonce.store.AuditRecord;
import dev.onlyonce.store.ClaimRequest;
import dev.onlyonce.store.EntryId;
import dev.onlyonce.store.OnLeaseLost;
import dev.onlyonce.store.Renewal;
import dev.onlyonce.store.Settlement;
import dev.onlyonce.store.State;
import dev.onlyonce.store.Terms;
import dev.onlyonce.store.Transition;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.function.IntConsumer;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The listing by time, of rows and of settlements that have none. */
abstract class OrdinaryLivesListing extends OrdinaryLivesContract {
    private final TestDatabase database;

    OrdinaryLivesListing(TestDatabase database) {
        super(database);
        this.database = database;
    }

    /** All pages, as a store lists them that looks at {@code leases} leases first. */
    private List<AuditRecord> pages(int leases, AuditQuery query, IntConsumer between) throws SQLException {
        AuditTable table = new AuditTable(SqlDialect.of(database.kind(), Optional.of(SqlClock.SQL)), leases);
        List<AuditRecord> all = new ArrayList<>();
        try (Connection connection = dataSource().getConnection()) {
            List<AuditRecord> page = table.list(connection, query);
            for (int number = 1; !page.isEmpty(); number++) {
                assertThat(page).hasSizeLessThanOrEqualTo(2 * query.limit());
                all.addAll(page);
                between.accept(number);
                page = table.list(connection, query.after(page.get(page.size() - 1)));
            }
        }
        return all;
    }

    private List<AuditRecord> pages(int leases, AuditQuery query) throws SQLException {
        return pages(leases, query, number -> {});
    }

    @Test
    @DisplayName(
            "S2 pages show every change once, in the order of time and of each key, whatever the leases and renewals were")
    void manyLives() throws Exception {
        long seed = System.nanoTime();
        Set<EntryId> ids = lives(new Random(seed), 120);
        List<AuditRecord> expected = new ArrayList<>();
        Map<EntryId, List<AuditRecord>> histories = new HashMap<>();
        for (EntryId id : ids) {
            List<AuditRecord> history = store().history(id);
            histories.put(id, history);
            expected.addAll(history);
        }
        List<AuditRecord> all = pages(10_000, AuditQuery.all(1000));
        assertThat(all).as("seed %s", seed).containsExactlyInAnyOrderElementsOf(expected);
        for (EntryId id : ids) {
            assertThat(all.stream().filter(r -> r.transition().id().equals(id)))
                    .as("seed %s", seed)
                    .containsExactlyElementsOf(histories.get(id));
        }
        assertThat(all.stream().filter(r -> r.transition().from() != null).map(AuditRecord::at))
                .as("seed %s", seed)
                .isSorted();
        for (int leases : List.of(1, 7, 50)) {
            for (int limit : List.of(1, 9)) {
                assertThat(pages(leases, AuditQuery.all(limit)))
                        .as("seed %s, %s leases, limit %s", seed, leases, limit)
                        .isEqualTo(all);
            }
        }
        Instant from = all.get(all.size() / 2).at();
        assertThat(pages(7, new AuditQuery("tenant", from, null, 9)))
                .as("seed %s", seed)
                .isEqualTo(pages(10_000, new AuditQuery("tenant", from, null, 1000)))
                .contains(all.get(all.size() - 1))
                .hasSizeLessThan(all.size());
        assertThat(pages(7, new AuditQuery("another", null, null, 9))).isEmpty();
    }

    /** Batches of claims that are renewed, settled, taken again, purged and evicted, at times that a seed says. */
    private Set<EntryId> lives(Random random, int keys) {
        Set<EntryId> ids = new HashSet<>();
        for (int key = 0; key < keys; ) {
            List<ClaimRequest> claims = new ArrayList<>();
            for (int i = random.nextInt(6); i >= 0 && key < keys; i--) {
                Duration lease = Duration.ofMillis(1000 + random.nextInt(600_000));
                Terms terms = new Terms(lease, OnLeaseLost.UNKNOWN, Duration.ofMinutes(20), Duration.ZERO);
                claims.add(Claims.claim("key" + key++, terms));
            }
            store().claim(claims);
            advance(random, 20);
            ClaimRequest renewed = claims.get(random.nextInt(claims.size()));
            Duration longer = Duration.ofSeconds(1 + random.nextInt(600));
            store().renew(List.of(new Renewal(renewed.id(), renewed.token(), longer)));
            advance(random, 20);
            List<Settlement> settlements = new ArrayList<>();
            for (ClaimRequest claim : claims) {
                State to = List.of(COMPLETED, COMPLETED, COMPLETED, FAILED, RETRYABLE, UNKNOWN)
                        .get(random.nextInt(6));
                settlements.add(Claims.settle(claim, to));
                ids.add(claim.id());
            }
            store().settle(settlements);
            if (random.nextInt(3) == 0) {
                store().evict(claims.get(0).id(), "alice", "ticket 42");
            }
            if (random.nextInt(3) == 0) {
                store().purge(3);
            }
            advance(random, 400);
        }
        return ids;
    }

    private void advance(Random random, int secondsMax) {
        clock().advance(Duration.ofSeconds(random.nextInt(secondsMax)));
    }

    @ParameterizedTest
    @CsvSource({"1, 0", "1, 1", "1, 2", "2, 1", "3, 1", "5, 1"})
    @DisplayName(
            "S2 a settlement whose entry ends between two pages is not lost, even if a whole batch has one instant")
    void movesBetweenPages(int limit, int after) throws Exception {
        List<ClaimRequest> claims = Claims.claims("key", 6);
        ClaimRequest late = Claims.claim("late");
        store().claim(List.of(late));
        clock().advance(Claims.LEASE.plusSeconds(1));
        store().claim(claims);
        List<Settlement> batch = new ArrayList<>(Claims.complete(claims));
        batch.add(Claims.settle(late, COMPLETED));
        store().settle(batch);

        List<AuditRecord> still = pages(2, AuditQuery.all(limit));
        assertThat(still).hasSize(14).doesNotHaveDuplicates();
        List<AuditRecord> seen = pages(2, AuditQuery.all(limit), page -> {
            if (page == after + 1) {
                clock().advance(Claims.RETENTION);
                store().purge(100);
            }
        });
        Set<Transition> transitions = new HashSet<>();
        seen.forEach(record -> transitions.add(record.transition()));
        assertThat(transitions)
                .containsExactlyInAnyOrderElementsOf(
                        still.stream().map(AuditRecord::transition).toList());
        assertThat(SqlClock.number(dataSource(), "SELECT count(*) FROM onlyonce_audit"))
                .isEqualTo(7);
    }
}
