package dev.onlyonce.sql;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import dev.onlyonce.store.State;
import dev.onlyonce.testservers.PostgresServer;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("A node that has nothing to do")
final class QuietNodeTest {
    private static final int SWEEPS = 20;
    /** BEGIN, its bounds, the settings, the primary key, the mark, COMMIT; bounds for the look, and the look. 20 before there was one. */
    private static final int STATEMENTS_MAX = 8;

    @Test
    @DisplayName(
            "costs PostgreSQL two transactions a sweep, of eight short statements, and finds a lapsed lease in the next one")
    void quiet() throws SQLException {
        try (var server = PostgresServer.start("fsync=off", "shared_preload_libraries=pg_stat_statements");
                HikariDataSource counts = new HikariDataSource();
                HikariDataSource dataSource = new HikariDataSource()) {
            String url = server.createDatabase();
            counts.setJdbcUrl(url);
            dataSource.setJdbcUrl(url);
            dataSource.setMaximumPoolSize(1);
            SqlClock clock = SqlClock.start(counts);
            try (SqlStore store = SqlClock.store(dataSource).build()) {
                store.claim(List.of(Claims.claim("swept")));
                clock.advance(Claims.LEASE);
                assertThat(store.sweep(10)).hasSize(1);
                sweep(store);
                try (Connection connection = counts.getConnection();
                        Statement statement = connection.createStatement()) {
                    statement.execute("CREATE EXTENSION pg_stat_statements");
                    statement.execute("SELECT pg_stat_statements_reset()");
                    for (int i = 0; i < SWEEPS; i++) {
                        sweep(store);
                    }
                    long executed = number(
                            statement,
                            "SELECT sum(calls) FROM pg_stat_statements WHERE query NOT LIKE '%pg_stat_statements%'");
                    assertThat(executed).isLessThanOrEqualTo(STATEMENTS_MAX * SWEEPS);
                }
                store.claim(List.of(Claims.claim("next")));
                clock.advance(Claims.LEASE);
                store.recheck();
                assertThat(store.sweep(10))
                        .hasSize(1)
                        .allSatisfy(t -> assertThat(t.to()).isEqualTo(State.UNKNOWN));
            }
        }
    }

    private static void sweep(SqlStore store) {
        store.recheck();
        assertThat(store.sweep(10)).isEmpty();
    }

    private static long number(Statement statement, String query) throws SQLException {
        try (ResultSet row = statement.executeQuery(query)) {
            row.next();
            return row.getLong(1);
        }
    }
}
