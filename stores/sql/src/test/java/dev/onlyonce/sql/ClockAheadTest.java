package dev.onlyonce.sql;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import dev.onlyonce.store.ClaimRequest;
import dev.onlyonce.store.Transition;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

@DisplayName("A clock of the database that goes ahead and comes back")
final class ClockAheadTest {
    @TempDir
    private Path folder;

    @ParameterizedTest
    @EnumSource
    @DisplayName("D12 T5 between two sweeps, neither of which sees it, keeps no claim for the time of its jump")
    void betweenSweeps(TestDatabase kind) {
        Duration jump = Duration.ofHours(25);
        try (HikariDataSource database = kind.create(folder)) {
            SqlStore.open(database).close();
            SqlClock clock = SqlClock.start(database);
            try (SqlStore store = SqlClock.store(database).build()) {
                assertThat(store.sweep(10)).isEmpty();
                clock.advance(jump);
                List<ClaimRequest> claims = Claims.claims("dead", 1);
                store.claim(claims);
                Duration lease = claims.get(0).terms().lease();
                clock.advance(lease.minus(jump));
                assertThat(store.sweep(10)).isEmpty();
                clock.advance(lease);
                assertThat(store.sweep(10))
                        .extracting(Transition::id)
                        .containsExactly(claims.get(0).id());
            }
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"POSTGRES", "MARIADB", "MYSQL"})
    @DisplayName(
            "D11 D12 a claim that somebody has locked keeps a sweep for a few seconds at most, and no lapsed one from its end")
    void locked(TestDatabase kind) throws SQLException {
        Duration jump = Duration.ofHours(25);
        try (HikariDataSource database = kind.create(folder)) {
            SqlStore.open(database).close();
            SqlClock clock = SqlClock.start(database);
            try (SqlStore store = SqlClock.store(database).build();
                    Connection other = database.getConnection();
                    Statement statement = other.createStatement()) {
                List<ClaimRequest> lapsed = Claims.claims("lapsed", 1);
                store.claim(lapsed);
                Duration lease = lapsed.get(0).terms().lease();
                clock.advance(jump);
                store.claim(Claims.claims("ahead", 20));
                clock.advance(lease.minus(jump));
                other.setAutoCommit(false);
                for (int i = 0; i < 20; i++) {
                    String row = TestDatabase.key(kind.kind(), "tenant", "ahead" + i);
                    statement.executeQuery("SELECT key_ FROM onlyonce_entry WHERE" + row + "FOR UPDATE");
                }
                long begun = System.nanoTime();
                assertThat(store.sweep(10))
                        .extracting(Transition::id)
                        .containsExactly(lapsed.get(0).id());
                assertThat(Duration.ofNanos(System.nanoTime() - begun)).isLessThan(Duration.ofSeconds(15));
                other.rollback();
            }
        }
    }
}
