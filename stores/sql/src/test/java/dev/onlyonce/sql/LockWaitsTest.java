package dev.onlyonce.sql;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariDataSource;
import dev.onlyonce.Codec;
import dev.onlyonce.Key;
import dev.onlyonce.Onlyonce;
import dev.onlyonce.Policy;
import dev.onlyonce.fingerprint.Fingerprint;
import dev.onlyonce.sql.inbox.Inbox;
import dev.onlyonce.sql.inbox.InboxMessage;
import dev.onlyonce.sql.outbox.Delivery;
import dev.onlyonce.sql.outbox.Outbox;
import dev.onlyonce.sql.steps.Steps;
import dev.onlyonce.sql.transactions.Transactions;
import dev.onlyonce.store.AuditQuery;
import dev.onlyonce.store.ClaimRequest;
import dev.onlyonce.store.EntryQuery;
import dev.onlyonce.store.Renewal;
import dev.onlyonce.store.Resolution;
import dev.onlyonce.store.State;
import dev.onlyonce.store.StoreException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import javax.sql.DataSource;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** All kinds of calls at once, each on a thread of its own, while somebody else holds a lock and does not let go. */
@Order(1)
@DisplayName("While somebody else holds a lock")
final class LockWaitsTest {
    /** The bound, and a second for a busy machine: drivers end a statement by another connection. */
    private static final Duration WAIT_MAX = Duration.ofSeconds(2 + 1);

    private static final Fingerprint REQUEST = Fingerprint.of("request".getBytes(StandardCharsets.UTF_8));

    @TempDir
    private Path folder;

    /** Who waits, and how long one statement took. */
    private record Timed(String sql, Duration took) {}

    private final Queue<Timed> statements = new ConcurrentLinkedQueue<>();

    private enum Lock {
        /** Each row. */
        ROWS,
        /** All rows and, on MySQL and MariaDB, what lies between them: nothing can be inserted. */
        GAPS,
        /** The tables, for reading too. */
        TABLES
    }

    @ParameterizedTest(name = "{0}, {1}")
    @CsvSource({
        "POSTGRES, ROWS",
        "POSTGRES, TABLES",
        "MARIADB, ROWS",
        "MARIADB, GAPS",
        "MARIADB, TABLES",
        "MYSQL, ROWS",
        "MYSQL, GAPS",
        "MYSQL, TABLES"
    })
    @DisplayName("D11 no statement of ours waits for longer than two seconds")
    void bounded(TestDatabase database, Lock lock) throws Exception {
        try (HikariDataSource pool = Pools.open(database.url(folder), 40);
                SqlStore store = SqlStore.open(timed(pool));
                Onlyonce once = Onlyonce.builder(store).build();
                Connection foreign = pool.getConnection()) {
            Map<String, Callable<?>> calls = calls(store, once);
            lock(foreign, database, lock);
            statements.clear();
            Map<String, Duration> took = run(calls);
            unlock(foreign, database);
            assertThat(statements).hasSizeGreaterThan(calls.size());
            assertThat(statements).allSatisfy(s -> assertThat(s.took).as(s.sql).isLessThan(WAIT_MAX));
            assertThat(took.values())
                    .as("calls wait several times at most: %s", took)
                    .allSatisfy(t -> assertThat(t).isLessThan(Duration.ofSeconds(10)));
        }
        assertThat(statements)
                .anySatisfy(s -> assertThat(s.took)
                        .as("somebody did wait")
                        .isGreaterThan(Duration.ofMillis(database == TestDatabase.POSTGRES ? 150 : 900)));
    }

    @ParameterizedTest
    @ValueSource(strings = {"effect", "repeatable", "local"})
    @DisplayName("D11 D8 on PostgreSQL, a step does not wait without a bound for a locked table either")
    void steps(String step) throws Exception {
        ExecutorService thread = Executors.newSingleThreadExecutor();
        try (HikariDataSource pool = Pools.open(TestDatabase.POSTGRES.url(folder), 10);
                SqlStore store = SqlStore.open(timed(pool));
                Onlyonce once = Onlyonce.builder(store).build();
                Connection foreign = pool.getConnection()) {
            Future<?> flow = thread.submit(() -> Steps.of(once)
                    .execute(Key.of("tenant", "POST /refunds", step), REQUEST, Codec.text(), steps -> {
                        foreign.setAutoCommit(false);
                        try (Statement statement = foreign.createStatement()) {
                            statement.execute("LOCK TABLE onlyonce_step");
                        }
                        statements.clear();
                        return switch (step) {
                            case "effect" -> steps.effect(step, Codec.text(), k -> "never");
                            case "repeatable" -> steps.repeatable(step, Codec.text(), k -> "done");
                            default -> steps.local(step, Codec.text(), c -> "rolled back");
                        };
                    }));
            assertThatThrownBy(() -> flow.get(25, TimeUnit.SECONDS)).hasCauseInstanceOf(StoreException.class);
            assertThat(statements).allSatisfy(s -> assertThat(s.took).as(s.sql).isLessThan(WAIT_MAX));
            foreign.rollback();
        } finally {
            thread.shutdownNow();
        }
    }

    private static Map<String, Callable<?>> calls(SqlStore store, Onlyonce once) throws Exception {
        List<ClaimRequest> held = Claims.claims("held", 4);
        store.claim(held);
        ClaimRequest settled = Claims.claim("settled");
        ClaimRequest unknown = Claims.claim("unknown");
        ClaimRequest free = Claims.claim("free");
        store.claim(List.of(settled, unknown, free));
        store.settle(List.of(
                Claims.settle(settled, State.COMPLETED),
                Claims.settle(unknown, State.UNKNOWN),
                Claims.settle(free, State.RETRYABLE)));
        Transactions transactions = Ways.transactions(
                store,
                Policy.standard().toBuilder().waitMax(Duration.ofSeconds(1)).build());
        Steps steps = Steps.of(once);
        Inbox inbox = Inbox.of(once);
        Outbox outbox = Outbox.builder(once)
                .handler("charge", row -> new Delivery.NotExecuted("never called"))
                .build();
        Map<String, Callable<?>> calls = new LinkedHashMap<>();
        calls.put("claim", () -> store.claim(Claims.claims("fresh", 1)));
        calls.put("claim many", () -> store.claim(Claims.claims("many", 5)));
        calls.put("claim one that stands", () -> store.claim(List.of(Claims.claim("held1"))));
        calls.put("take", () -> store.claim(List.of(Claims.claim("free"))));
        calls.put("settle", () -> store.settle(Claims.complete(held.subList(0, 1))));
        calls.put("settle many", () -> store.settle(Claims.complete(held.subList(1, 3))));
        calls.put(
                "renew",
                () -> store.renew(
                        List.of(new Renewal(held.get(3).id(), held.get(3).token(), Claims.LEASE))));
        calls.put("find", () -> store.find(List.of(held.get(0).id())));
        calls.put("sweep", () -> store.sweep(10));
        calls.put("purge", () -> store.purge(10));
        calls.put("purge the audit", () -> store.purgeAudit(Duration.ofDays(1), 10));
        calls.put("resolve", () -> store.resolve(List.of(Resolution.absent(unknown.id(), 1, "alice", "looked"))));
        calls.put("evict", () -> store.evict(settled.id(), "alice", "ticket 42"));
        calls.put("list", () -> store.list(EntryQuery.all(10)));
        calls.put("history", () -> store.history(settled.id()));
        calls.put("audit", () -> store.audit(AuditQuery.all(1)).size());
        calls.put("count", () -> store.countStored("tenant", 10));
        calls.put("count the outbox", () -> store.countOutbox(10));
        calls.put("deliver", outbox::deliverDue);
        calls.put("list dead letters", () -> outbox.listDead(0, 10));
        calls.put("drop a dead letter", () -> outbox.drop(1, "alice", "ticket 42"));
        calls.put("check", () -> {
            store.checkWritable();
            return true;
        });
        calls.put("transaction", () -> transactions.execute(key("transaction"), REQUEST, Codec.text(), c -> "done"));
        calls.put(
                "steps",
                () -> steps.execute(Key.of("tenant", "POST /refunds", "steps"), REQUEST, Codec.text(), s -> "done"));
        calls.put("inbox", () -> inbox.apply(new InboxMessage("provider", "evt_1"), c -> {}));
        return calls;
    }

    private static Key key(String value) {
        return Key.of("tenant", "POST /payments", value);
    }

    private static void lock(Connection foreign, TestDatabase database, Lock lock) throws SQLException {
        foreign.setAutoCommit(false);
        try (Statement statement = foreign.createStatement()) {
            if (lock == Lock.TABLES && database == TestDatabase.POSTGRES) {
                statement.execute("LOCK TABLE onlyonce_entry, onlyonce_audit, onlyonce_outbox, onlyonce_step");
            } else if (lock == Lock.TABLES) {
                statement.execute("LOCK TABLES onlyonce_entry WRITE, onlyonce_audit WRITE, onlyonce_outbox WRITE,"
                        + " onlyonce_step WRITE");
            } else if (lock == Lock.GAPS || database == TestDatabase.POSTGRES) {
                statement.execute("SELECT * FROM onlyonce_entry FOR UPDATE");
            } else {
                statement.execute("SET TRANSACTION ISOLATION LEVEL READ COMMITTED");
                statement.execute("UPDATE onlyonce_entry SET owner = 'foreign'");
            }
        }
    }

    private static void unlock(Connection foreign, TestDatabase database) throws SQLException {
        foreign.rollback();
        if (database != TestDatabase.POSTGRES) {
            try (Statement statement = foreign.createStatement()) {
                statement.execute("UNLOCK TABLES");
            }
        }
    }

    /** Returns how long each took; what a call answers or throws, does not matter here. */
    private static Map<String, Duration> run(Map<String, Callable<?>> calls) throws InterruptedException {
        ExecutorService threads = Executors.newFixedThreadPool(calls.size());
        try {
            Map<String, Future<Duration>> running = new LinkedHashMap<>();
            calls.forEach((name, call) -> running.put(name, threads.submit(() -> {
                long begun = System.nanoTime();
                try {
                    call.call();
                } catch (Exception e) {
                    assertThat(e).as(name).hasMessageNotContaining("connection was lost");
                }
                return Duration.ofNanos(System.nanoTime() - begun);
            })));
            Map<String, Duration> took = new LinkedHashMap<>();
            for (Map.Entry<String, Future<Duration>> call : running.entrySet()) {
                took.put(call.getKey(), call.getValue().get());
            }
            return took;
        } catch (ExecutionException e) {
            throw new AssertionError(e.getCause());
        } finally {
            threads.shutdownNow();
        }
    }

    private DataSource timed(DataSource real) {
        return Sources.of(() -> {
            Connection connection = real.getConnection();
            return Sources.proxy(Connection.class, (self, method, arguments) -> {
                Object answer = Sources.invoke(connection, method, arguments);
                if (answer instanceof Statement statement) {
                    List<Object> sql = arguments == null ? List.of() : List.of(arguments);
                    return timed(statement, method.getReturnType(), sql);
                }
                return answer;
            });
        });
    }

    private Object timed(Statement statement, Class<?> type, List<Object> prepared) {
        return Sources.proxy(type, (self, method, arguments) -> {
            if (!method.getName().startsWith("execute")) {
                return Sources.invoke(statement, method, arguments);
            }
            long begun = System.nanoTime();
            try {
                return Sources.invoke(statement, method, arguments);
            } finally {
                List<Object> sql = new ArrayList<>(prepared);
                if (arguments != null) {
                    sql.addAll(List.of(arguments));
                }
                statements.add(new Timed(String.valueOf(sql), Duration.ofNanos(System.nanoTime() - begun)));
            }
        });
    }
}
