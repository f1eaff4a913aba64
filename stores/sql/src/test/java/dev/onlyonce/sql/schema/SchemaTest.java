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
import dev.onlyonce.sql.connections.SqlFailure;
import dev.onlyonce.sql.entries.Database;
import dev.onlyonce.store.AuditQuery;
import dev.onlyonce.store.ClaimRequest;
import dev.onlyonce.store.ClaimResult;
import dev.onlyonce.store.SettleResult;
import dev.onlyonce.store.State;
import dev.onlyonce.store.StoreBusy;
import dev.onlyonce.store.StoreRejected;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import javax.sql.DataSource;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
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
            SqlClock.execute(dataSource, Schema.statements(script).toArray(String[]::new));
            try (SqlStore store =
                    SqlStore.builder(dataSource).schema(SchemaMode.VALIDATE).build()) {
                assertThat(store.claim(Claims.claims("key", 2))).hasSize(2);
                Schema.Status status = store.schema().status();
                assertThat(status.database()).isEqualTo(database.kind());
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
    @CsvSource({
        "POSTGRES, 1",
        "POSTGRES, 8",
        "MARIADB, 1",
        "MARIADB, 8",
        "MYSQL, 1",
        "MYSQL, 8",
        "SQLITE, 1",
        "SQLITE, 8",
        "H2, 1",
        "H2_POSTGRES_MODE, 5",
        "H2_POSTGRES_MODE, 8"
    })
    @DisplayName(
            "R8 of an older release is brought up to date, its entries answer as before, and what comes next is audited")
    void older(TestDatabase database, int version) {
        upgrade(database, version);
    }

    @ParameterizedTest
    @Tag("thorough")
    @CsvSource({
        "POSTGRES, 3",
        "POSTGRES, 4",
        "POSTGRES, 5",
        "POSTGRES, 6",
        "POSTGRES, 7",
        "MARIADB, 3",
        "MARIADB, 5",
        "MARIADB, 6",
        "MARIADB, 7",
        "MYSQL, 5",
        "MYSQL, 7",
        "SQLITE, 3",
        "SQLITE, 5",
        "SQLITE, 6",
        "SQLITE, 7",
        "H2, 3",
        "H2, 6",
        "H2, 7",
        "H2, 8",
        "H2_POSTGRES_MODE, 6",
        "H2_POSTGRES_MODE, 7"
    })
    @DisplayName("R8 of every release in between is brought up to date, too")
    void inBetween(TestDatabase database, int version) {
        upgrade(database, version);
    }

    private void upgrade(TestDatabase database, int version) {
        try (HikariDataSource dataSource = database.create(folder)) {
            create(dataSource, database, version);
            ClaimRequest completed = Claims.claim("completed");
            ClaimRequest running = Claims.claim("running");
            SqlClock.execute(
                    dataSource,
                    insert(database, completed, State.COMPLETED),
                    insert(database, running, State.PROCESSING));

            try (SqlStore store = SqlStore.open(dataSource)) {
                assertThat(store.schema().status().isCurrent()).isTrue();
                assertThat(store.find(List.of(completed.id())).get(0)).hasValueSatisfying(entry -> {
                    assertThat(entry.state()).isEqualTo(State.COMPLETED);
                    assertThat(entry.result()).isEqualTo("done".getBytes(StandardCharsets.UTF_8));
                });
                assertThat(store.claim(List.of(Claims.claim("completed"))).get(0))
                        .isInstanceOf(ClaimResult.Existing.class);
                assertThat(store.settle(List.of(Claims.settle(running, State.UNKNOWN)))
                                .get(0))
                        .isInstanceOf(SettleResult.Settled.class);
                assertThat(Claims.history(store, Key.of("tenant", "POST /payments", "running")))
                        .containsExactly("1 null>PROCESSING node: claimed", "1 PROCESSING>UNKNOWN node: test");
                assertThat(store.evict(completed.id(), "alice", "ticket 42")).isPresent();
                assertThat(Claims.history(store, Key.of("tenant", "POST /payments", "completed")))
                        .containsExactly("1 COMPLETED>null alice: ticket 42");
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName(
            "R8 S2 of a release that wrote a row for every settlement is read and purged without telling one twice")
    void audited(TestDatabase database) {
        try (HikariDataSource dataSource = database.create(folder)) {
            create(dataSource, database, 5);
            ClaimRequest running = Claims.claim("running");
            SqlClock.execute(
                    dataSource,
                    insert(database, Claims.claim("key"), State.COMPLETED),
                    insert(database, running, State.PROCESSING),
                    "INSERT INTO onlyonce_audit (at, tenant, space, key_, operation, entry_created_at, attempt, from_state,"
                            + " to_state, who, why) SELECT settled_at, tenant, space, key_, operation, created_at, attempt,"
                            + " 2, 3, owner, 'test' FROM onlyonce_entry WHERE state = 3");
            List<String> expected = List.of("1 null>PROCESSING node: claimed", "1 PROCESSING>COMPLETED node: test");
            try (SqlStore store = SqlStore.open(dataSource)) {
                assertThat(Claims.history(store, Key.of("tenant", "POST /payments", "key")))
                        .isEqualTo(expected);
                assertThat(store.audit(AuditQuery.all(10))).hasSize(2);
                store.settle(List.of(Claims.settle(running, State.COMPLETED)));
                SqlClock.execute(
                        dataSource,
                        "UPDATE onlyonce_entry SET expires_at = 1, purge_at = 1, reap_at = 1 WHERE fingerprint_version > 0");
                assertThat(store.purge(10)).isEqualTo(2);
                for (String key : List.of("key", "running")) {
                    assertThat(Claims.history(store, Key.of("tenant", "POST /payments", key)))
                            .isEqualTo(expected);
                }
                assertThat(store.audit(AuditQuery.all(10))).hasSize(4);
            }
        }
    }

    @ParameterizedTest
    @CsvSource({
        "MARIADB, 5, onlyonce_entry ADD COLUMN settled_why VARBINARY(2000)",
        "MARIADB, 6, onlyonce_entry ADD COLUMN target VARBINARY(512)",
        "MARIADB, 7, onlyonce_outbox ADD COLUMN order_key VARBINARY(1020); ADD INDEX onlyonce_outbox_order (order_key)",
        "MARIADB, 8, onlyonce_outbox ADD COLUMN lasting SMALLINT",
        "MYSQL, 5, onlyonce_entry ADD COLUMN settled_why VARBINARY(2000)",
        "MYSQL, 6, onlyonce_entry ADD COLUMN target VARBINARY(512)",
        "MYSQL, 7, onlyonce_outbox ADD COLUMN order_key VARBINARY(1020); ADD INDEX onlyonce_outbox_order (order_key)",
        "MYSQL, 8, onlyonce_outbox ADD COLUMN lasting SMALLINT"
    })
    @DisplayName("goes on after a node that died between the column and its version: both commit each statement")
    void halfUpgraded(TestDatabase database, int version, String change) {
        try (HikariDataSource dataSource = database.create(folder)) {
            create(dataSource, database, version);
            SqlClock.execute(dataSource, "ALTER TABLE " + change.replace(';', ','));
            try (SqlStore store = SqlStore.open(dataSource)) {
                assertThat(store.schema().status().isCurrent()).isTrue();
            }
        }
    }

    static void create(DataSource dataSource, TestDatabase database, int version) {
        String script = Schema.script(database.kind());
        String end = "INSERT INTO onlyonce_schema (version) VALUES (" + version + ")";
        List<String> old = Schema.statements(script.substring(0, script.indexOf(end) + end.length()));
        SqlClock.execute(dataSource, old.toArray(String[]::new));
    }

    @ParameterizedTest
    @CsvSource({
        "POSTGRES, 1",
        "POSTGRES, 4",
        "POSTGRES, 6",
        "MARIADB, 5",
        "MYSQL, 5",
        "SQLITE, 5",
        "H2, 5",
        "H2_POSTGRES_MODE, 5"
    })
    @DisplayName(
            "has the database itself refuse states that do not exist and, except for PostgreSQL's entries, long names")
    void checks(TestDatabase database, int version) {
        try (HikariDataSource dataSource = database.create(folder)) {
            create(dataSource, database, version);
            SqlClock.execute(dataSource, insert(database, Claims.claim("key"), State.COMPLETED));
            SqlStore.open(dataSource).close();
            SqlClock.execute(
                    dataSource,
                    "UPDATE onlyonce_entry SET tenant = '" + "t".repeat(1020) + "', on_lease_lost = 3",
                    step(3),
                    audit("NULL", "2"),
                    audit("7", "NULL"));
            List<String> refused = new ArrayList<>(
                    List.of(step(4), audit("8", "NULL"), audit("NULL", "0"), outbox("refused"), outbox("dead")));
            if (database != TestDatabase.POSTGRES) {
                refused.addAll(wrongEntries(database));
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

    private static List<String> wrongEntries(TestDatabase database) {
        List<String> wrong = new ArrayList<>(List.of(
                "UPDATE onlyonce_entry SET state = 0",
                "UPDATE onlyonce_entry SET state = 8",
                "UPDATE onlyonce_entry SET on_lease_lost = 4",
                insert(database, Claims.claim("second"), State.COMPLETED).replace("30000000, 1,", "30000000, 0,")));
        for (String column : List.of("tenant", "space", "key_", "operation")) {
            wrong.add("UPDATE onlyonce_entry SET " + column + " = '" + "x".repeat(1021) + "'");
        }
        return wrong;
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("of version 7 takes entries of nodes that know version 6: they have no target")
    void olderNode(TestDatabase database) {
        try (HikariDataSource dataSource = database.create(folder);
                SqlStore store = SqlStore.open(dataSource)) {
            ClaimRequest claim = Claims.claim("key");
            SqlClock.execute(dataSource, insert(database, claim, State.COMPLETED));
            assertThat(store.find(List.of(claim.id())).get(0)).hasValueSatisfying(entry -> {
                assertThat(entry.fingerprint().target()).isNull();
                assertThat(entry.result()).isEqualTo("done".getBytes(StandardCharsets.UTF_8));
            });
        }
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
    @CsvSource({
        "POSTGRES, 4, onlyonce_audit",
        "POSTGRES, 6, onlyonce_entry",
        "POSTGRES, 7, onlyonce_outbox",
        "POSTGRES, 8, onlyonce_outbox",
        "MARIADB, 6, onlyonce_entry",
        "MARIADB, 7, onlyonce_outbox",
        "MARIADB, 8, onlyonce_outbox",
        "MYSQL, 6, onlyonce_entry",
        "MYSQL, 7, onlyonce_outbox",
        "MYSQL, 8, onlyonce_outbox"
    })
    @DisplayName("gives way to an open transaction instead of holding up every request behind it, and is changed later")
    void givesWay(TestDatabase database, int version, String table) throws Exception {
        try (HikariDataSource dataSource = database.create(folder)) {
            create(dataSource, database, version);
            try (Connection reader = dataSource.getConnection();
                    Statement statement = reader.createStatement()) {
                reader.setAutoCommit(false);
                statement.execute("SELECT count(*) FROM " + table);
                assertThatThrownBy(() -> SqlStore.open(dataSource)).isInstanceOf(StoreBusy.class);
                statement.execute("SELECT count(*) FROM onlyonce_entry WHERE fingerprint_version > 0");
                reader.rollback();
                reader.setAutoCommit(true);
            }
            assertThat(SqlClock.number(dataSource, "SELECT max(version) FROM onlyonce_schema"))
                    .isEqualTo(version);
            try (SqlStore store = SqlStore.open(dataSource)) {
                assertThat(store.schema().status().isCurrent()).isTrue();
            }
        }
    }

    /** An entry as releases before wrote it. */
    private static String insert(TestDatabase database, ClaimRequest claim, State state) {
        boolean settled = state == State.COMPLETED;
        String now = "(SELECT " + Database.of(database.kind(), Optional.empty()).clock() + ")";
        String later = now + " + 3600000000";
        return """
                INSERT INTO onlyonce_entry (tenant, space, key_, operation, fingerprint_version, fingerprint, state, token,
                    owner, attempt, lease_us, on_lease_lost, retention_us, tombstone_us, created_at, lease_until,
                    settled_at, expires_at, purge_at, reap_at, result)
                VALUES ('tenant', '', '%s', 'POST /payments', %d, %s, %d, %s,
                    'node', 1, 30000000, 1, 3600000000, 0, %s, %s, %s, %s, %s, %s, %s)""".formatted(
                claim.id().key(),
                claim.fingerprint().version(),
                hex(database, HexFormat.of().formatHex(claim.fingerprint().digest())),
                state.code(),
                database == TestDatabase.POSTGRES
                        ? "'" + claim.token() + "'"
                        : hex(database, claim.token().toString().replace("-", "")),
                now,
                later,
                settled ? now : "NULL",
                settled ? later : "NULL",
                settled ? later : "NULL",
                later,
                settled ? hex(database, "646f6e65") : "NULL");
    }

    private static String hex(TestDatabase database, String digits) {
        return database == TestDatabase.POSTGRES ? "'\\x" + digits + "'" : "X'" + digits + "'";
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
