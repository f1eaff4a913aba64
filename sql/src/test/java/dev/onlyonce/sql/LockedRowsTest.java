package dev.onlyonce.sql;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariDataSource;
import dev.onlyonce.State;
import dev.onlyonce.store.ClaimRequest;
import dev.onlyonce.store.StoreBusy;
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

@DisplayName("Rows that a foreign transaction has locked")
final class LockedRowsTest {
    @TempDir
    private Path folder;

    @ParameterizedTest
    @EnumSource(names = {"POSTGRES", "MARIADB"})
    @DisplayName("T3 are skipped by the reaper, which deletes the others and comes back for them")
    void purgeSkips(TestDatabase database) throws SQLException {
        try (HikariDataSource dataSource = database.create(folder)) {
            SqlClock clock = SqlClock.start(dataSource);
            SqlStore store = SqlStore.builder(dataSource).clock(SqlClock.SQL).build();
            List<ClaimRequest> claims = Claims.claims("key", 5);
            store.claim(claims);
            store.settle(Claims.complete(claims));
            clock.advance(Claims.RETENTION);
            try (Connection foreign = lock(dataSource, "key2")) {
                assertThat(store.purge(100)).isEqualTo(4);
                foreign.rollback();
            }
            assertThat(store.purge(100)).isEqualTo(1);
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"POSTGRES", "MARIADB"})
    @DisplayName("D1 are skipped by the sweeper, which ends the others and comes back for them")
    void sweepSkips(TestDatabase database) throws SQLException {
        try (HikariDataSource dataSource = database.create(folder)) {
            SqlClock clock = SqlClock.start(dataSource);
            SqlStore store = SqlStore.builder(dataSource).clock(SqlClock.SQL).build();
            store.claim(Claims.claims("key", 5));
            clock.advance(Claims.LEASE);
            try (Connection foreign = lock(dataSource, "key2")) {
                assertThat(store.sweep(3)).hasSize(3);
                assertThat(store.sweep(3)).hasSize(1);
                assertThat(store.sweep(3)).isEmpty();
                foreign.rollback();
            }
            assertThat(store.sweep(3)).extracting(Transition::id).containsExactly(Claims.id("key2"));
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"POSTGRES", "MARIADB"})
    @DisplayName("hold up a batch for a bounded time only; nothing of it is written then")
    void bounded(TestDatabase database) throws SQLException {
        try (HikariDataSource dataSource = database.create(folder)) {
            SqlStore store = SqlStore.open(dataSource);
            List<ClaimRequest> claims = Claims.claims("key", 5);
            store.claim(claims);
            try (Connection foreign = lock(dataSource, "key2")) {
                long begun = System.nanoTime();
                assertThatThrownBy(() -> store.settle(Claims.complete(claims))).isInstanceOf(StoreBusy.class);
                assertThat(Duration.ofNanos(System.nanoTime() - begun)).isLessThan(Duration.ofSeconds(20));
                assertThat(store.find(List.of(Claims.id("key0"))).get(0))
                        .hasValueSatisfying(e -> assertThat(e.state()).isEqualTo(State.PROCESSING));
                foreign.rollback();
            }
            store.settle(Claims.complete(claims));
            assertThat(store.find(List.of(Claims.id("key2"))).get(0))
                    .hasValueSatisfying(e -> assertThat(e.state()).isEqualTo(State.COMPLETED));
        }
    }

    private static Connection lock(HikariDataSource dataSource, String key) throws SQLException {
        Connection foreign = dataSource.getConnection();
        foreign.setAutoCommit(false);
        try (Statement statement = foreign.createStatement()) {
            statement.execute("SELECT * FROM onlyonce_entry WHERE tenant = 'tenant' AND space = '' AND key_ = '" + key
                    + "' FOR UPDATE");
        }
        return foreign;
    }
}
