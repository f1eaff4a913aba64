package dev.onlyonce.sql;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import dev.onlyonce.store.ClaimRequest;
import dev.onlyonce.store.Entry;
import dev.onlyonce.store.EntryId;
import dev.onlyonce.store.SettleResult;
import dev.onlyonce.store.Settlement;
import dev.onlyonce.store.State;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@DisplayName("On MariaDB and MySQL, round trips")
class RoundTripsTest {
    @TempDir
    Path folder;

    private final List<String> sent = new ArrayList<>();
    private HikariDataSource pool;
    private SqlStore store;

    @BeforeEach
    void open() {
        pool = Pools.open(TestDatabase.MARIADB.url(folder), 2);
        store = SqlStore.open(Sources.watched(Sources.of(this::connect), sent::add));
        sent.clear();
    }

    @AfterEach
    void close() {
        store.close();
        pool.close();
    }

    /** Every statement is prepared for one execution. */
    private Connection connect() throws SQLException {
        Connection connection = pool.getConnection();
        return Sources.proxy(Connection.class, (self, method, arguments) -> {
            if (method.getName().equals("prepareStatement")) {
                sent.add((String) arguments[0]);
            }
            return Sources.invoke(connection, method, arguments);
        });
    }

    private List<String> sent() {
        List<String> statements =
                sent.stream().map(sql -> sql.split("\\s", 2)[0]).toList();
        sent.clear();
        return statements;
    }

    @Test
    @DisplayName(
            "are one for a batch of fresh claims and one for their ordinary settlement, two if they were claimed elsewhere")
    void ordinary() {
        List<ClaimRequest> claims = Claims.claims("key", 16);
        assertThat(Claims.won(store.claim(claims))).isEqualTo(16);
        assertThat(sent()).containsExactly("INSERT");
        List<SettleResult> settled = store.settle(Claims.complete(claims));
        assertThat(sent()).containsExactly("UPDATE");
        List<ClaimRequest> elsewhere = Claims.claims("elsewhere", 16);
        try (SqlStore other = SqlStore.open(pool)) {
            other.claim(elsewhere);
            assertThat(settled).isEqualTo(stored(other.find(ids(claims))));
        }
        sent();
        assertThat(store.settle(Claims.complete(elsewhere))).isEqualTo(stored(store.find(ids(elsewhere))));
        assertThat(sent()).containsExactly("UPDATE", "SELECT", "SELECT");
    }

    private static List<EntryId> ids(List<ClaimRequest> claims) {
        return claims.stream().map(ClaimRequest::id).toList();
    }

    private static List<SettleResult> stored(List<Optional<Entry>> found) {
        return found.stream()
                .map(Optional::orElseThrow)
                .<SettleResult>map(e -> new SettleResult.Settled(e.settledAt(), e.expiresAt()))
                .toList();
    }

    @Test
    @DisplayName("are wasted on every second batch at most when duplicates are frequent")
    void duplicates() {
        store.claim(Claims.claims("key", 1));
        sent();
        assertThat(Claims.won(store.claim(Claims.claims("key", 3)))).isEqualTo(2);
        assertThat(sent()).startsWith("INSERT", "START");
        assertThat(Claims.won(store.claim(Claims.claims("key", 5)))).isEqualTo(2);
        assertThat(sent()).startsWith("START");
        assertThat(Claims.won(store.claim(Claims.claims("other", 2)))).isEqualTo(2);
        assertThat(sent()).containsExactly("INSERT");
    }

    @Test
    @DisplayName("are more for a batch with different ends, which are all recorded")
    void different() {
        List<ClaimRequest> claims = Claims.claims("key", 3);
        store.claim(claims);
        sent();
        List<Settlement> ends = Stream.concat(
                        Claims.complete(claims.subList(0, 2)).stream(),
                        Stream.of(Claims.settle(claims.get(2), State.UNKNOWN)))
                .toList();
        assertThat(store.settle(ends)).allMatch(SettleResult.Settled.class::isInstance);
        assertThat(sent()).startsWith("START").endsWith("COMMIT");
        assertThat(store.find(claims.stream().map(ClaimRequest::id).toList()))
                .extracting(found -> found.orElseThrow().state())
                .containsExactly(State.COMPLETED, State.COMPLETED, State.UNKNOWN);
    }
}
