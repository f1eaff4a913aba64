package dev.onlyonce.sql.schema;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariDataSource;
import dev.onlyonce.Key;
import dev.onlyonce.sql.Claims;
import dev.onlyonce.sql.SchemaMode;
import dev.onlyonce.sql.SqlClock;
import dev.onlyonce.sql.SqlStore;
import dev.onlyonce.sql.TestDatabase;
import dev.onlyonce.sql.internal.connections.SqlFailure;
import dev.onlyonce.sql.internal.entries.SqlAccess;
import dev.onlyonce.store.ClaimRequest;
import dev.onlyonce.store.ClaimResult;
import dev.onlyonce.store.SettleResult;
import dev.onlyonce.store.State;
import dev.onlyonce.store.StoreBusy;
import dev.onlyonce.store.StoreRejected;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

@Order(1)
@DisplayName("The schema")
final class SchemaTest {
    private static final int NODES = 8;

    @TempDir
    private Path folder;

    @ParameterizedTest
    @EnumSource
    @DisplayName("is created once by several nodes that start at the same time on an empty database")
    void race(TestDatabase database) throws Exception {
        ExecutorService executor = Executors.newFixedThreadPool(NODES);
        try (HikariDataSource dataSource = database.create(folder)) {
            CountDownLatch go = new CountDownLatch(1);
            List<Future<Integer>> nodes = new ArrayList<>();
            for (int i = 0; i < NODES; i++) {
                nodes.add(executor.submit(() -> {
                    go.await();
                    try (SqlStore store = SqlStore.open(dataSource)) {
                        return store.claim(Claims.claims("key", 3)).size();
                    }
                }));
            }
            go.countDown();
            for (Future<Integer> node : nodes) {
                assertThat(node.get(60, TimeUnit.SECONDS)).isEqualTo(3);
            }
            assertThat(SqlClock.number(dataSource, "SELECT count(*) - max(version) FROM onlyonce_schema"))
                    .as("each script was run once")
                    .isZero();
            assertThat(SqlClock.number(dataSource, "SELECT count(*) FROM onlyonce_entry WHERE fingerprint_version > 0"))
                    .isEqualTo(3);
        } finally {
            executor.shutdownNow();
        }
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("can be created by hand from the printed script")
    void byHand(TestDatabase database) {
        try (HikariDataSource dataSource = database.create(folder)) {
            String script = Schema.script(database.kind());
            assertThat(script).contains("onlyonce_entry").contains("onlyonce_schema");
            SqlClock.execute(dataSource, Schema.split(script).toArray(String[]::new));
            try (SqlStore store =
                    SqlStore.builder(dataSource).schema(SchemaMode.VALIDATE).build()) {
                assertThat(store.claim(Claims.claims("key", 2))).hasSize(2);
                Schema.Status status = store.schema().status();
                assertThat(status.database()).isEqualTo(database.kind().name().toLowerCase(Locale.ROOT));
                assertThat(status.installed()).isPositive().isEqualTo(status.known());
                assertThat(status.isCurrent()).isTrue();
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("is asked for with a clear error when it is missing and must not be created")
    void missing(TestDatabase database) {
        try (HikariDataSource dataSource = database.create(folder)) {
            SqlStore.Builder builder = SqlStore.builder(dataSource).schema(SchemaMode.VALIDATE);
            assertThatThrownBy(builder::build)
                    .isInstanceOf(StoreRejected.class)
                    .hasMessageContaining("version 0")
                    .hasMessageContaining("needs");
        }
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName(
            "R8 of the next release is applied under this one's nodes, and has what they wrote before and write then")
    void nextRelease(TestDatabase database) {
        try (HikariDataSource dataSource = database.create(folder);
                SqlStore store = SqlStore.open(dataSource)) {
            ClaimRequest completed = Claims.claim("completed");
            ClaimRequest running = Claims.claim("running");
            ClaimRequest later = Claims.claim("later");
            store.claim(List.of(completed, running));
            store.settle(Claims.complete(List.of(completed)));
            Schema next = next(store);
            assertThat(next.apply().installed()).isEqualTo(2);
            assertThat(SqlClock.number(
                            dataSource,
                            "SELECT count(*) FROM onlyonce_entry WHERE note IS NULL AND fingerprint_version > 0"))
                    .isEqualTo(2);
            assertThat(store.find(List.of(completed.id())).get(0)).hasValueSatisfying(entry -> {
                assertThat(entry.state()).isEqualTo(State.COMPLETED);
                assertThat(entry.result()).isNotEmpty();
            });
            assertThat(store.claim(List.of(later)).get(0)).isInstanceOf(ClaimResult.Claimed.class);
            assertThat(store.settle(List.of(Claims.settle(running, State.UNKNOWN)))
                            .get(0))
                    .isInstanceOf(SettleResult.Settled.class);
            assertThat(Claims.history(store, Key.of("tenant", "POST /payments", "running")))
                    .containsExactly("1 null>PROCESSING node: claimed", "1 PROCESSING>UNKNOWN node: test");
            assertThat(store.evict(completed.id(), "alice", "ticket 42")).isPresent();
            assertThatThrownBy(() -> SqlStore.open(dataSource))
                    .as("a node of this release cannot start any more")
                    .isInstanceOf(StoreRejected.class);
        }
    }

    private static Schema next(SqlStore store) {
        SqlAccess access = store.access();
        return new Schema(
                access.connections(), access.database().kind(), List.of("V001__create.sql", "V002__next.sql"));
    }

    @ParameterizedTest
    @CsvSource({"MARIADB, 1", "MARIADB, 3", "MARIADB, 5", "MYSQL, 2", "MYSQL, 6", "H2, 4", "H2_POSTGRES_MODE, 12"})
    @DisplayName("goes on after a node that died in the middle of the script: these databases commit each statement")
    void halfCreated(TestDatabase database, int statements) {
        try (HikariDataSource dataSource = database.create(folder)) {
            List<String> script = Schema.split(Schema.script(database.kind()));
            SqlClock.execute(dataSource, script.subList(0, statements).toArray(String[]::new));
            try (SqlStore store = SqlStore.open(dataSource)) {
                assertThat(store.schema().status().isCurrent()).isTrue();
                assertThat(store.claim(Claims.claims("key", 2))).hasSize(2);
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName(
            "has the database itself refuse states that do not exist and, except for PostgreSQL's entries, long names")
    void checks(TestDatabase database) {
        try (HikariDataSource dataSource = database.create(folder)) {
            try (SqlStore store = SqlStore.open(dataSource)) {
                ClaimRequest claim = Claims.claim("key");
                store.claim(List.of(claim));
                store.settle(Claims.complete(List.of(claim)));
            }
            SqlClock.execute(
                    dataSource,
                    "UPDATE onlyonce_entry SET tenant = '" + "t".repeat(1020)
                            + "', on_lease_lost = 3 WHERE fingerprint_version > 0",
                    step(2),
                    audit("NULL", "2"),
                    audit("7", "NULL"));
            List<String> refused = new ArrayList<>(
                    List.of(step(3), audit("8", "NULL"), audit("NULL", "0"), outbox("refused"), outbox("dead")));
            if (database != TestDatabase.POSTGRES) {
                refused.addAll(wrongEntries());
            }
            for (String sql : refused) {
                assertThatThrownBy(() -> SqlClock.execute(dataSource, sql))
                        .as("%s", sql)
                        .hasCauseInstanceOf(SQLException.class)
                        .cause()
                        .satisfies(e -> assertThat(SqlFailure.of(database.kind(), (SQLException) e))
                                .isEqualTo(SqlFailure.REJECTED));
            }
            assertThat(SqlClock.number(
                            dataSource,
                            "SELECT count(*) FROM onlyonce_entry WHERE state = 3 AND on_lease_lost = 3 AND space = "
                                    + TestDatabase.name(database.kind(), "")))
                    .isEqualTo(1);
        }
    }

    private static List<String> wrongEntries() {
        List<String> wrong = new ArrayList<>(List.of(
                "UPDATE onlyonce_entry SET state = 0",
                "UPDATE onlyonce_entry SET state = 8",
                "UPDATE onlyonce_entry SET on_lease_lost = 4",
                "UPDATE onlyonce_entry SET on_lease_lost = 0"));
        for (String column : List.of("tenant", "space", "key_", "operation")) {
            wrong.add("UPDATE onlyonce_entry SET " + column + " = '" + "x".repeat(1021) + "'");
        }
        return wrong;
    }

    private static String step(int state) {
        return "INSERT INTO onlyonce_step (tenant, space, key_, entry_created_at, number, name, state)"
                + " VALUES ('tenant', '', 'key', 1, " + state + ", 'charge', " + state + ")";
    }

    private static String audit(String from, String to) {
        return "INSERT INTO onlyonce_audit (at, tenant, space, key_, operation, entry_created_at, attempt, from_state,"
                + " to_state, who, why) VALUES (1, 'tenant', '', 'key', 'pay', 1, 1, " + from + ", " + to
                + ", 'a', 'b')";
    }

    private static String outbox(String column) {
        return "INSERT INTO onlyonce_outbox (tenant, space, key_, operation, entry_created_at, topic, payload, due_at, "
                + column + ") VALUES ('tenant', '', 'key', 'pay', 1, 'topic', '', 1, 2)";
    }

    @ParameterizedTest
    @EnumSource(names = {"POSTGRES", "MARIADB", "MYSQL"})
    @DisplayName("gives way to an open transaction instead of holding up every request behind it, and is changed later")
    void givesWay(TestDatabase database) throws Exception {
        try (HikariDataSource dataSource = database.create(folder);
                SqlStore store = SqlStore.open(dataSource)) {
            Schema next = next(store);
            try (Connection reader = dataSource.getConnection();
                    Statement statement = reader.createStatement()) {
                reader.setAutoCommit(false);
                statement.execute("SELECT count(*) FROM onlyonce_entry");
                assertThatThrownBy(next::apply).isInstanceOf(StoreBusy.class);
                statement.execute("SELECT count(*) FROM onlyonce_entry WHERE fingerprint_version > 0");
                reader.rollback();
                reader.setAutoCommit(true);
            }
            assertThat(SqlClock.number(dataSource, "SELECT max(version) FROM onlyonce_schema"))
                    .isEqualTo(1);
            assertThat(next.apply().isCurrent()).isTrue();
        }
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("of a newer release is refused and left alone")
    void newer(TestDatabase database) {
        try (HikariDataSource dataSource = database.create(folder)) {
            SqlStore.open(dataSource).close();
            SqlClock.execute(dataSource, "INSERT INTO onlyonce_schema (version) VALUES (99)");
            assertThatThrownBy(() -> SqlStore.open(dataSource))
                    .isInstanceOf(StoreRejected.class)
                    .hasMessageContaining("99")
                    .hasMessageContaining("upgrade");
        }
    }
}
