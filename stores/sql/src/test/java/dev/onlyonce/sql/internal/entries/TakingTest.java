package dev.onlyonce.sql.internal.entries;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import dev.onlyonce.sql.Claims;
import dev.onlyonce.sql.SqlClock;
import dev.onlyonce.sql.SqlStore;
import dev.onlyonce.sql.TestDatabase;
import dev.onlyonce.store.ClaimRequest;
import dev.onlyonce.store.State;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

@DisplayName("Taking an entry again")
final class TakingTest {
    @TempDir
    private Path folder;

    @ParameterizedTest
    @EnumSource(TestDatabase.class)
    @DisplayName("D4 takes pending and retryable ones only: what was read before may have become unknown since")
    void statesThatAreFree(TestDatabase kind) throws SQLException {
        try (HikariDataSource dataSource = kind.create(folder);
                SqlStore store = SqlStore.open(dataSource);
                Connection connection = dataSource.getConnection()) {
            SqlDialect database = SqlDialect.of(kind.kind(), Optional.empty());
            for (State state : State.values()) {
                ClaimRequest first = Claims.claim("key-" + state);
                store.claim(List.of(first));
                SqlClock.execute(
                        dataSource,
                        "UPDATE onlyonce_entry SET state = " + state.code() + " WHERE key_ = "
                                + TestDatabase.name(kind.kind(), "key-" + state));
                boolean taken = database.changes()
                        .take(connection, List.of(Claims.claim("key-" + state)))
                        .containsKey(first.id());
                assertThat(taken).as("%s", state).isEqualTo(state == State.PENDING || state == State.RETRYABLE);
            }
        }
    }
}
