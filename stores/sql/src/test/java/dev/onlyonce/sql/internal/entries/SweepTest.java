package dev.onlyonce.sql.internal.entries;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import dev.onlyonce.sql.Claims;
import dev.onlyonce.sql.SqlClock;
import dev.onlyonce.sql.SqlStore;
import dev.onlyonce.sql.TestDatabase;
import dev.onlyonce.store.ClaimRequest;
import dev.onlyonce.store.State;
import dev.onlyonce.store.Transition;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@DisplayName("The sweep")
final class SweepTest {
    @TempDir
    private Path folder;

    private HikariDataSource dataSource;
    private SqlClock clock;

    @BeforeEach
    void open() {
        dataSource = TestDatabase.POSTGRES.create(folder);
        clock = SqlClock.start(dataSource);
        node().close();
    }

    @AfterEach
    void close() {
        dataSource.close();
    }

    private SqlStore node() {
        return SqlClock.store(dataSource).build();
    }

    @Test
    @DisplayName("D1 finds a claim that was committed long after its lease had ended and been passed")
    void lateCommit() {
        SqlStore node = node();
        node.claim(List.of(Claims.claim("in time")));
        clock.advance(Duration.ofHours(5));
        assertThat(node.sweep(10)).hasSize(1);
        assertThat(node.sweep(10)).isEmpty();
        node.claim(List.of(Claims.claim("late")));
        // As if its transaction had begun four hours ago.
        SqlClock.execute(
                dataSource,
                "UPDATE onlyonce_entry SET lease_until = lease_until - 4 * 3600 * 1000000::bigint WHERE key_ = 'late'");
        assertThat(node.sweep(10)).extracting(Transition::id).containsExactly(Claims.id("late"));
    }

    @Test
    @DisplayName("D1 a node that comes up finds what was left behind at once, among many settled entries")
    void leftBehind() {
        settled(20_000);
        node().claim(List.of(Claims.claim("left behind")));
        clock.advance(Claims.LEASE);
        assertThat(node().sweep(10)).extracting(Transition::id).containsExactly(Claims.id("left behind"));
    }

    @Test
    @DisplayName(
            "D1 a node that comes up after an outage of two hours finds what lapsed then at once, among many settled entries")
    void outage() {
        node().claim(List.of(Claims.claim("left behind")));
        clock.advance(Duration.ofHours(2));
        settled(10_000);
        // Older than the outage: the walk would begin with them.
        SqlClock.execute(dataSource, """
                UPDATE onlyonce_entry SET lease_until = lease_until - 20 * 3600 * 1000000::bigint WHERE key_ LIKE 'settled%'""");
        assertThat(node().sweep(10)).extracting(Transition::id).containsExactly(Claims.id("left behind"));
    }

    @Test
    @DisplayName("D1 what is older than an hour is found by the walk over everything")
    void walk() {
        settled(5_000);
        SqlStore node = node();
        node.claim(List.of(Claims.claim("old")));
        clock.advance(Duration.ofDays(3));
        int sweeps = 0;
        while (node.sweep(10).isEmpty()) {
            assertThat(++sweeps).isLessThan(10);
        }
        assertThat(node.find(List.of(Claims.id("old"))).get(0))
                .hasValueSatisfying(e -> assertThat(e.state()).isEqualTo(State.UNKNOWN));
    }

    @Test
    @DisplayName("T5 goes back with a clock that went back, and loses nothing")
    void clockGoesBack() {
        SqlStore node = node();
        clock.advance(Duration.ofHours(10));
        assertThat(node.sweep(10)).isEmpty();
        clock.advance(Duration.ofHours(-8));
        ClaimRequest claim = Claims.claim("key");
        node.claim(List.of(claim));
        assertThat(node.sweep(10)).isEmpty();
        clock.advance(Claims.LEASE.minusNanos(1000));
        assertThat(node.sweep(10)).isEmpty();
        clock.advance(Duration.ofNanos(1000));
        assertThat(node.sweep(10)).hasSize(1);
    }

    @Test
    @DisplayName("ends no more than it was told, though all leases end at the same instant")
    void limit() {
        SqlStore node = node();
        node.claim(Claims.claims("key", 250));
        clock.advance(Claims.LEASE);
        assertThat(node.sweep(100)).hasSize(100);
        assertThat(node.sweep(100)).hasSize(100);
        assertThat(node.sweep(100)).hasSize(50);
        assertThat(node.sweep(100)).isEmpty();
    }

    private void settled(int rows) {
        SqlClock.execute(dataSource, """
                INSERT INTO onlyonce_entry (tenant, space, key_, operation, fingerprint_version, fingerprint, state, token,
                    owner, attempt, lease_us, on_lease_lost, retention_us, tombstone_us, created_at, lease_until,
                    settled_at, expires_at, purge_at, reap_at)
                SELECT 'tenant', '', 'settled' || i, 'POST /payments', 1, '', 3, gen_random_uuid(), 'node', 1, 30000000, 1,
                    1000000000000, 0, c.micros - i, c.micros - i, c.micros - i, c.micros + 1000000000000,
                    c.micros + 1000000000000, c.micros + 1000000000000
                FROM generate_series(1, %d) AS i, onlyonce_test_clock AS c""".formatted(rows));
    }
}
