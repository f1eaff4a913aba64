package dev.onlyonce.sql;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import dev.onlyonce.store.EntryQuery;
import dev.onlyonce.store.NodeRecord;
import dev.onlyonce.store.State;
import dev.onlyonce.store.StateCounts;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

@DisplayName("The nodes that use a database")
final class NodesTest {
    private static final Duration STEP = Duration.ofMinutes(1);

    @TempDir
    private Path folder;

    @ParameterizedTest
    @EnumSource
    @DisplayName("are listed with version and start for an hour after they were seen, and are no entries")
    void listed(TestDatabase kind) {
        try (HikariDataSource database = kind.create(folder)) {
            SqlStore.open(database).close();
            SqlClock clock = SqlClock.start(database);
            try (SqlStore store = SqlClock.store(database).build()) {
                Instant begin = store.now().orElseThrow();
                store.claim(Claims.claims("a", 3));
                store.announce("b", "1.0", STEP);
                store.announce("a<i>", "0.9", Duration.ZERO);
                clock.advance(STEP);
                store.announce("b", "1.1", STEP);
                assertThat(store.nodes())
                        .contains(List.of(
                                new NodeRecord("a<i>", "0.9", begin, begin),
                                new NodeRecord("b", "1.1", begin, begin.plus(STEP))));
                assertThat(store.countStored(null, 10)).isEqualTo(3);
                assertThat(store.list(EntryQuery.all(10))).hasSize(3);
                StateCounts counts = store.countStates(10);
                assertThat(Arrays.stream(State.values()).mapToLong(counts::of).sum())
                        .isEqualTo(3);
                clock.advance(Duration.ofHours(1));
                assertThat(store.nodes().orElseThrow())
                        .extracting(NodeRecord::name)
                        .containsExactly("b");
                clock.advance(Duration.ofHours(2));
                store.sweep(10);
                store.purge(10);
                store.announce("c", "1.1", Duration.ZERO);
                assertThat(store.nodes().orElseThrow())
                        .extracting(NodeRecord::name)
                        .containsExactly("c");
                assertThat(SqlClock.number(
                                database,
                                "SELECT count(*) FROM onlyonce_entry WHERE space = "
                                        + TestDatabase.name(kind.kind(), "onlyonce node")))
                        .as("nodes that ended are forgotten")
                        .isEqualTo(1);
                store.recheck();
            }
        }
    }
}
