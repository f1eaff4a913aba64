package dev.onlyonce.sql.internal.entries;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import dev.onlyonce.sql.Claims;
import dev.onlyonce.sql.Pools;
import dev.onlyonce.sql.SqlClock;
import dev.onlyonce.sql.SqlStore;
import dev.onlyonce.sql.internal.connections.SqlDatabase;
import dev.onlyonce.store.AuditQuery;
import dev.onlyonce.store.ClaimRequest;
import dev.onlyonce.store.EntryId;
import dev.onlyonce.store.EntryQuery;
import dev.onlyonce.store.Settlement;
import dev.onlyonce.store.State;
import dev.onlyonce.store.StateCounts;
import dev.onlyonce.testservers.PostgresServer;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.sql.Types;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@DisplayName("PostgreSQL's plans")
final class PostgresPlanTest {
    private static final List<ClaimRequest> CLAIMS = Claims.claims("asked", 64);

    private static HikariDataSource dataSource;
    private static SqlStore store;

    @BeforeAll
    static void open() {
        dataSource = Pools.open(PostgresServer.shared().createDatabase(), 4);
        store = SqlStore.open(dataSource);
    }

    @AfterAll
    static void close() {
        dataSource.close();
    }

    @ParameterizedTest(name = "{0} rows")
    @ValueSource(ints = {0, 100, 50_000})
    @DisplayName("C2 every statement of the store goes by index, on an empty, a small and a large analysed table")
    void byIndex(int rows) throws SQLException {
        fill(rows);
        for (Map.Entry<String, Binding> statement : statements().entrySet()) {
            for (int repeat = 0; repeat < 3; repeat++) {
                assertThat(plan(statement.getKey(), statement.getValue()))
                        .as(statement.getKey())
                        .doesNotContain("Seq Scan on onlyonce_entry", "Bitmap Heap Scan", "Hash Join", "Merge Join")
                        .doesNotContain("Seq Scan on onlyonce_step");
            }
        }
    }

    @ParameterizedTest(name = "{0} rows")
    @ValueSource(ints = {0, 100, 50_000})
    @DisplayName("C2 a claim is an insert that reads nothing of the table first; the unique key decides")
    void claimReadsNothing(int rows) throws SQLException {
        fill(rows);
        Map<String, Binding> inserts = Map.of(
                PostgresStatements.INSERT, ArrayParameters.of(CLAIMS),
                PostgresStatements.INSERT_COMPLETED,
                        ArrayParameters.of(CLAIMS)
                                .then(new ArrayParameters<>(CLAIMS)
                                        .bytes(c -> new byte[1])
                                        .texts(c -> "done")),
                PostgresStatements.INSERT_ONE, RowParameters.of(Columns.NATIVE, CLAIMS.get(0)),
                PostgresStatements.INSERT_ALONE, RowParameters.of(Columns.NATIVE, CLAIMS.get(0)));
        for (Map.Entry<String, Binding> insert : inserts.entrySet()) {
            String plan = plan(insert.getKey(), insert.getValue());
            assertThat(plan)
                    .contains("Insert on onlyonce_entry")
                    .contains("Conflict Arbiter Indexes: onlyonce_entry_pkey");
            assertThat(plan.replace("Insert on onlyonce_entry", "").replace("onlyonce_entry_pkey", ""))
                    .doesNotContain("onlyonce_entry");
        }
    }

    @ParameterizedTest(name = "{0} rows")
    @ValueSource(ints = {1_200, 50_000})
    @DisplayName("C2 a lone settlement goes by index without settings, on a table of as few pages as it is used for")
    void settlesAloneByIndex(int rows) throws SQLException {
        fill(rows);
        assertThat(number("SELECT pg_relation_size('onlyonce_entry') / 8192"))
                .isGreaterThan(PostgresAlone.GROWN_PAGES)
                .isLessThan(rows);
        try (Connection connection = dataSource.getConnection();
                PreparedStatement explain = connection.prepareStatement("EXPLAIN " + PostgresStatements.SETTLE_ALONE)) {
            RowParameters.of(Columns.NATIVE, Claims.complete(CLAIMS).get(0)).bind(explain, 1);
            assertThat(lines(explain))
                    .contains("Index Scan using onlyonce_entry_pkey")
                    .doesNotContain("Seq Scan");
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    @DisplayName("S2 the audit is listed by the index of leases: settlements have none by time")
    void listingByLease(boolean generic) throws SQLException {
        fill(50_000);
        AuditQuery query = new AuditQuery(null, Instant.EPOCH.plus(Duration.ofHours(7)), null, 100);
        AuditListing listing = new AuditListing(query, SqlDatabase.POSTGRESQL);
        // Leases of fourteen hours, and a listing of a minute of them.
        SqlClock.execute(
                dataSource, "UPDATE onlyonce_entry SET lease_until = created_at * 1000000", "ANALYZE onlyonce_entry");
        long until = StoredEntry.micros(Duration.ofHours(7).plusMinutes(1));
        assertThat(listing.upTo(OptionalLong.of(until + StoredEntry.micros(AuditListing.LEASE_MAX))))
                .isTrue();
        try (Connection connection = dataSource.getConnection();
                Statement settings = connection.createStatement();
                PreparedStatement explain = connection.prepareStatement("EXPLAIN " + listing.sql())) {
            settings.execute("SET plan_cache_mode = " + (generic ? "force_generic_plan" : "force_custom_plan"));
            listing.bind(explain, 1);
            String plan = lines(explain);
            settings.execute("RESET plan_cache_mode");
            assertThat(plan).contains("onlyonce_entry_lease").doesNotContain("Seq Scan on onlyonce_entry");
        }
    }

    @ParameterizedTest(name = "{0} rows")
    @ValueSource(ints = {20_000, 200_000})
    @DisplayName(
            "O1 what the console asks goes by index and stops at its bound, and what it does not count it estimates")
    void consoleByIndex(int rows) throws SQLException {
        fill(rows);
        SqlClock.execute(
                dataSource,
                "UPDATE onlyonce_entry SET state = 6, unknown_since = 1 WHERE key_ LIKE 'key77%' AND length(key_) = 6",
                "UPDATE onlyonce_entry SET state = 5 WHERE key_ LIKE 'key1%'",
                "VACUUM ANALYZE onlyonce_entry");
        SqlDialect database = SqlDialect.of(SqlDatabase.POSTGRESQL, Optional.empty());
        EntryId last = new EntryId("tenant", "", "key3");
        Map<String, Binding> asked = new LinkedHashMap<>();
        asked.put(StateCount.SAMPLE, Binding.longs(10_000));
        asked.put(StateCount.UNKNOWN, Binding.longs(10_000));
        asked.put(
                NodeRows.READ,
                Binding.texts(Columns.NATIVE, "", NodeRows.SPACE).then(Binding.longs(3_600_000_000L, 500)));
        EntryQuery page = EntryQuery.all(EntryQuery.LIMIT_MAX);
        for (EntryQuery query : List.of(
                page,
                page.after(last),
                page.in(State.UNKNOWN),
                page.in(State.UNKNOWN).after(last),
                new EntryQuery("tenant", null, null, null, last, 100))) {
            EntryListing listing = new EntryListing(query, Columns.NATIVE);
            asked.put(listing.sql(), listing);
        }
        try (Connection connection = dataSource.getConnection()) {
            for (Map.Entry<String, Binding> statement : asked.entrySet()) {
                try (PreparedStatement explain =
                        connection.prepareStatement("EXPLAIN " + database.sql(statement.getKey()))) {
                    statement.getValue().bind(explain, 1);
                    assertThat(lines(explain))
                            .as(statement.getKey())
                            .containsPattern("Index (Only )?Scan using onlyonce_entry_(pkey|unknown)")
                            .doesNotContain("Seq Scan on onlyonce_entry", "Bitmap");
                }
            }
            StateCounts counts = StateCount.of(connection, database, 10_000);
            assertThat(counts.kind()).isEqualTo(StateCounts.Kind.ESTIMATE);
            assertThat(counts.total()).isBetween(rows * 9L / 10, rows * 11L / 10);
            assertThat(counts.of(State.UNKNOWN)).as("counted").isEqualTo(10);
            long retryable = number("SELECT COUNT(*) FROM onlyonce_entry WHERE state = 5");
            assertThat(counts.of(State.RETRYABLE)).isBetween(retryable * 8 / 10, retryable * 12 / 10);
        }
    }

    @Test
    @DisplayName("Settling is a heap-only update: it touches no index")
    void heapOnly() throws SQLException {
        fill(0);
        long before = number("SELECT pg_stat_get_tuples_updated('onlyonce_entry'::regclass)");
        long hotBefore = number("SELECT pg_stat_get_tuples_hot_updated('onlyonce_entry'::regclass)");
        int batches = 40;
        for (int i = 0; i < batches; i++) {
            List<ClaimRequest> claims = Claims.claims("hot" + i + "-", 50);
            store.claim(claims);
            store.settle(claims.stream()
                    .map(c -> new Settlement(c.id(), c.token(), State.COMPLETED, new byte[512], "done"))
                    .toList());
        }
        SqlClock.execute(dataSource, "SELECT pg_stat_force_next_flush()");
        long deadline = System.nanoTime() + 30_000_000_000L;
        long updated = 0;
        while (updated < batches * 50L && System.nanoTime() < deadline) {
            // Every backend reports what it did when it is next idle.
            store.find(List.of(Claims.id("hot0-0")));
            updated = number("SELECT pg_stat_get_tuples_updated('onlyonce_entry'::regclass)") - before;
        }
        long hot = number("SELECT pg_stat_get_tuples_hot_updated('onlyonce_entry'::regclass)") - hotBefore;
        assertThat(updated).isEqualTo(batches * 50L);
        assertThat((double) hot / updated).as("share of heap-only updates").isGreaterThan(0.95);
    }

    private static Map<String, Binding> statements() {
        Map<String, Binding> statements = new LinkedHashMap<>();
        List<Settlement> settlements = Claims.complete(CLAIMS);
        Binding ids = new ArrayParameters<>(CLAIMS).ids(ClaimRequest::id);
        Binding id = RowParameters.of(Columns.NATIVE, Claims.id("asked1"));
        statements.put(PostgresStatements.SETTLE, ArrayParameters.ofSettlements(settlements));
        statements.put(PostgresStatements.SETTLE_UNLOCKED, ArrayParameters.ofSettlements(settlements));
        statements.put(PostgresStatements.SETTLE_ONE, RowParameters.of(Columns.NATIVE, settlements.get(0)));
        statements.put(PostgresStatements.FIND, ids);
        statements.put(PostgresStatements.FIND_ONE, id);
        statements.put(Sweep.LOOK, Binding.longs(100, 0, 200, 0, 1000));
        statements.put(Sweep.CHUNK, Binding.longs(0, 1000));
        statements.put(Sweep.LAPSED, Binding.longs(0, Long.MAX_VALUE, 1000));
        new ChangeTexts(SqlDatabase.POSTGRESQL).all().values().forEach(change -> statements.put(change, null));
        statements.put(
                PostgresStatements.RENEW,
                new ArrayParameters<>(CLAIMS)
                        .ids(ClaimRequest::id)
                        .tokens(ClaimRequest::token)
                        .longs(c -> 1L));
        return statements;
    }

    /** The plan with the settings that the store sends along; rolled back, for EXPLAIN does not run it anyway. */
    private static String plan(String sql, Binding binding) throws SQLException {
        boolean one = sql.equals(PostgresStatements.INSERT_ONE)
                || sql.equals(PostgresStatements.SETTLE_ONE)
                || sql.equals(PostgresStatements.FIND_ONE);
        try (Connection connection = dataSource.getConnection();
                Statement settings = connection.createStatement();
                PreparedStatement explain = connection.prepareStatement("EXPLAIN "
                        + SqlDialect.of(SqlDatabase.POSTGRESQL, Optional.empty())
                                .sql(sql))) {
            connection.setAutoCommit(false);
            settings.execute(one ? PostgresStatements.SETTINGS_ONE : PostgresStatements.SETTINGS);
            if (binding == null) {
                nulls(explain);
            } else {
                binding.bind(explain, 1);
            }
            String plan = lines(explain);
            connection.rollback();
            connection.setAutoCommit(true);
            return plan;
        }
    }

    /** No values: a plan that is made once does not depend on them. */
    private static void nulls(PreparedStatement explain) throws SQLException {
        for (int i = 1; i <= explain.getParameterMetaData().getParameterCount(); i++) {
            explain.setNull(i, Types.NULL);
        }
    }

    private static String lines(PreparedStatement explain) throws SQLException {
        List<String> lines = new ArrayList<>();
        try (ResultSet row = explain.executeQuery()) {
            while (row.next()) {
                lines.add(row.getString(1));
            }
        }
        return String.join("\n", lines);
    }

    private static void fill(int rows) {
        SqlClock.execute(
                dataSource, "TRUNCATE onlyonce_entry", """
                    INSERT INTO onlyonce_entry (tenant, space, key_, operation, fingerprint_version, fingerprint, state, token,
                        owner, attempt, lease_us, on_lease_lost, retention_us, tombstone_us, created_at, lease_until, reap_at)
                    SELECT 'tenant', '', 'key' || i, 'POST /payments', 1, '', 3, gen_random_uuid(),
                        'node', 1, 1000000, 1, 1000000, 0, i, i, i FROM generate_series(1, %d) AS i\
                    """.formatted(rows), "VACUUM" + " ANALYZE" + " onlyonce_entry");
    }

    private static long number(String query) {
        return SqlClock.number(dataSource, query);
    }
}
