package dev.onlyonce.sql.entries;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariDataSource;
import dev.onlyonce.sql.Claims;
import dev.onlyonce.sql.Pools;
import dev.onlyonce.sql.Sources;
import dev.onlyonce.sql.SqlClock;
import dev.onlyonce.sql.SqlStore;
import dev.onlyonce.store.ClaimRequest;
import dev.onlyonce.store.EntryId;
import dev.onlyonce.store.OnLeaseLost;
import dev.onlyonce.store.SettleResult;
import dev.onlyonce.store.Settlement;
import dev.onlyonce.store.State;
import dev.onlyonce.store.StoreOutcomeUnknown;
import dev.onlyonce.store.Terms;
import dev.onlyonce.testservers.PostgresServer;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("A batch of settlements in PostgreSQL")
final class PostgresWritingTest {
    private static final Terms LONG =
            new Terms(Duration.ofMinutes(10), OnLeaseLost.UNKNOWN, Claims.RETENTION, Duration.ZERO);

    private final List<String> sent = new ArrayList<>();
    private HikariDataSource dataSource;
    private SqlStore store;

    @BeforeEach
    void open() {
        dataSource = Pools.open(PostgresServer.shared().createDatabase(), 2);
        store = SqlStore.open(Sources.of(this::connect));
    }

    @AfterEach
    void close() {
        dataSource.close();
    }

    @Test
    @DisplayName("S2 settles an entry with a long lease among ordinary ones, and only that one has a row of the audit")
    void longLease() throws SQLException {
        List<ClaimRequest> claims = claimed("a");
        List<SettleResult> results = store.settle(Claims.complete(claims));
        assertThat(results).hasSize(3).allMatch(SettleResult.Settled.class::isInstance);
        assertThat(audited()).containsExactly("a-long");
        for (ClaimRequest claim : claims) {
            assertThat(store.history(claim.id()))
                    .as(claim.id().key())
                    .extracting(r -> r.transition().to())
                    .containsExactly(State.PROCESSING, State.COMPLETED);
        }
    }

    @Test
    @DisplayName("C2 leaves alone what is another owner's, and settles the rest")
    void anotherOwner() {
        List<ClaimRequest> claims = claimed("a");
        List<Settlement> settlements = new ArrayList<>(Claims.complete(claims));
        settlements.set(0, Claims.settle(Claims.claim(claims.get(0).id().key()), State.COMPLETED));
        List<SettleResult> results = store.settle(settlements);
        assertThat(results.get(0)).isEqualTo(new SettleResult.Lost(State.PROCESSING));
        assertThat(results.subList(1, 3)).allMatch(SettleResult.Settled.class::isInstance);
    }

    @Test
    @DisplayName(
            "S2 has an unknown outcome if a part was settled and the rest failed; the same batch again finds that part settled")
    void restFails() {
        List<ClaimRequest> claims = claimed("a");
        SqlClock.execute(
                dataSource,
                "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'refused'; END $$",
                "CREATE TRIGGER refuse BEFORE INSERT ON onlyonce_audit FOR EACH ROW EXECUTE FUNCTION refuse()");
        assertThatThrownBy(() -> store.settle(Claims.complete(claims))).isInstanceOf(StoreOutcomeUnknown.class);
        SqlClock.execute(dataSource, "DROP TRIGGER refuse ON onlyonce_audit");
        assertThat(state("a-1")).isEqualTo(State.COMPLETED);
        assertThat(state("a-long")).isEqualTo(State.PROCESSING);
        assertThat(store.settle(Claims.complete(claims))).allMatch(SettleResult.Settled.class::isInstance);
        assertThat(state("a-long")).isEqualTo(State.COMPLETED);
    }

    @Test
    @DisplayName("does not try the short way after entries with long leases, and tries it again after ordinary ones")
    void shortWayAgain() {
        List<ClaimRequest> leases = List.of(Claims.claim("long1", LONG), Claims.claim("long2", LONG));
        assertThat(settling(leases)).containsExactly("short", "full");
        assertThat(settling(Claims.claims("a", 2))).containsExactly("full");
        assertThat(settling(Claims.claims("b", 2))).containsExactly("short");
    }

    /** Claims and settles; returns which statements settle. */
    private List<String> settling(List<ClaimRequest> claims) {
        store.claim(claims);
        sent.clear();
        assertThat(store.settle(Claims.complete(claims))).allMatch(SettleResult.Settled.class::isInstance);
        return sent.stream()
                .map(sql -> sql.contains("INSERT INTO") ? "full" : "short")
                .toList();
    }

    private Connection connect() throws SQLException {
        Connection connection = dataSource.getConnection();
        return Sources.proxy(Connection.class, (self, method, arguments) -> {
            if (method.getName().equals("prepareStatement")) {
                sent.add((String) arguments[0]);
            }
            return Sources.invoke(connection, method, arguments);
        });
    }

    /** Two ordinary entries and one with a long lease. */
    private List<ClaimRequest> claimed(String prefix) {
        List<ClaimRequest> claims =
                List.of(Claims.claim(prefix + "-1"), Claims.claim(prefix + "-2"), Claims.claim(prefix + "-long", LONG));
        assertThat(Claims.won(store.claim(claims))).isEqualTo(3);
        return claims;
    }

    private State state(String key) {
        EntryId id = Claims.id(key);
        return store.find(List.of(id)).get(0).orElseThrow().state();
    }

    private List<String> audited() throws SQLException {
        List<String> keys = new ArrayList<>();
        try (Connection connection = dataSource.getConnection();
                Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery("SELECT key_ FROM onlyonce_audit ORDER BY key_")) {
            while (rows.next()) {
                keys.add(rows.getString(1));
            }
        }
        return keys;
    }
}
