package dev.onlyonce.sql;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import dev.onlyonce.store.State;
import dev.onlyonce.store.StateCounts;
import java.nio.file.Path;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@DisplayName("The estimate of states")
class StateEstimateTest {
    /** The keys that come first have all failed: whoever looks at the first alone takes all others for failures. */
    private static final String FILL = """
        INSERT INTO onlyonce_entry (
            tenant, space, key_, operation, fingerprint_version, fingerprint, state, owner, attempt, lease_us,
            on_lease_lost, retention_us, tombstone_us, created_at, lease_until, settled_at, expires_at, purge_at, reap_at)
        SELECT CASE WHEN i < 600 THEN 'a' ELSE 'b' END, '', 'key' || i, 'pay', 1, '', CASE WHEN i < 600 THEN 4 ELSE 3 END, 'node', 1,
            0, 1, 0, 0, 0, 0, 0, 9000000000000000, 9000000000000000, 9000000000000000
        FROM generate_series(1, 6000) i\
        """;

    @TempDir
    private Path folder;

    @Test
    @DisplayName("O1 of PostgreSQL follows its statistics, not the keys that come first")
    void statistics() throws Exception {
        try (HikariDataSource pool = TestDatabase.POSTGRES.create(folder);
                SqlStore store = SqlStore.open(pool)) {
            SqlClock.execute(pool, FILL, "ANALYZE onlyonce_entry");
            StateCounts counts = store.countStates(500);
            assertThat(counts.kind()).isEqualTo(StateCounts.Kind.ESTIMATE);
            assertThat(counts.of(State.FAILED)).isBetween(500L, 700L);
            assertThat(counts.of(State.COMPLETED)).isBetween(5_300L, 5_500L);
        }
    }
}
