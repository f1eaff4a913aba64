package dev.onlyonce.sql.inbox;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariDataSource;
import dev.onlyonce.Event;
import dev.onlyonce.MalformedKey;
import dev.onlyonce.Onlyonce;
import dev.onlyonce.fingerprint.Fingerprint;
import dev.onlyonce.sql.SqlClock;
import dev.onlyonce.sql.SqlStore;
import dev.onlyonce.sql.TestDatabase;
import dev.onlyonce.sql.transactions.TransactionConflict;
import dev.onlyonce.store.AuditQuery;
import dev.onlyonce.store.AuditRecord;
import dev.onlyonce.store.Entry;
import dev.onlyonce.store.EntryQuery;
import dev.onlyonce.store.StoreException;
import dev.onlyonce.store.StoreUnavailable;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

@DisplayName("A batch of messages")
class InboxBatchTest {
    private static final Applied NOW = new Applied.Now();
    private static final Applied BEFORE = new Applied.Before();
    private static final Applied HELD = new Applied.Held();

    @TempDir
    private static Path folder;

    private static final class Bench implements AutoCloseable {
        private final HikariDataSource source;
        private final Onlyonce once;
        private final Inbox inbox;
        private final Queue<Event> events = new ConcurrentLinkedQueue<>();

        private Bench(HikariDataSource source, Onlyonce.Builder once) {
            this.source = source;
            this.once = once.listener(events::add).build();
            this.inbox = Inbox.of(this.once);
        }

        @Override
        public void close() {
            once.close();
        }

        private List<Applied> apply(InboxDelivery... deliveries) {
            return inbox.applyAll(List.of(deliveries));
        }

        /** The messages that took effect, in their order. */
        private List<String> effects() throws SQLException {
            try (Connection connection = source.getConnection();
                    Statement statement = connection.createStatement();
                    ResultSet row = statement.executeQuery("SELECT id FROM effect ORDER BY seq")) {
                List<String> ids = new ArrayList<>();
                while (row.next()) {
                    ids.add(row.getString(1));
                }
                return ids;
            }
        }

        private long decided(Event.Decision decision) {
            return events.stream()
                    .filter(e -> e instanceof Event.Decided decided && decided.decision() == decision)
                    .count();
        }
    }

    @FunctionalInterface
    private interface Body {
        void run(Bench bench) throws Exception;
    }

    private static void on(TestDatabase database, Body body) throws Exception {
        try (HikariDataSource source = database.create(folder);
                SqlStore store = SqlStore.open(source)) {
            String sequence = switch (database) {
                case POSTGRES, H2, H2_POSTGRES_MODE -> "seq BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY";
                case MARIADB, MYSQL -> "seq BIGINT AUTO_INCREMENT PRIMARY KEY";
                case SQLITE -> "seq INTEGER PRIMARY KEY AUTOINCREMENT";
            };
            SqlClock.execute(source, "CREATE TABLE effect (" + sequence + ", id VARCHAR(50) NOT NULL)");
            try (Bench bench = new Bench(source, Onlyonce.builder(store))) {
                body.run(bench);
            }
        }
    }

    private static InboxDelivery message(String id, String order, String body) {
        return new InboxDelivery(
                new InboxMessage("topic", id, Fingerprint.of(body.getBytes(StandardCharsets.UTF_8))),
                order,
                c -> write(c, id));
    }

    private static InboxDelivery bad(String id, String order) {
        return new InboxDelivery(new InboxMessage("topic", id), order, c -> {
            write(c, id);
            throw new IllegalStateException("bad " + id);
        });
    }

    private static void write(Connection connection, String id) throws SQLException {
        try (PreparedStatement insert = connection.prepareStatement("INSERT INTO effect (id) VALUES (?)")) {
            insert.setString(1, id);
            insert.executeUpdate();
        }
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("is applied in order, and again it is not")
    void once(TestDatabase database) throws Exception {
        on(database, bench -> {
            InboxDelivery[] batch = {message("z", "k", "1"), message("a", "k", "2"), message("m", "k", "3")};
            assertThat(bench.apply(batch)).containsExactly(NOW, NOW, NOW);
            assertThat(bench.apply(batch)).containsExactly(BEFORE, BEFORE, BEFORE);
            assertThat(bench.apply(message("a", "k", "2"), message("new", "k", "4")))
                    .containsExactly(BEFORE, NOW);
            assertThat(bench.effects()).containsExactly("z", "a", "m", "new");
            assertThat(bench.decided(Event.Decision.CREATED)).isEqualTo(4);
            assertThat(bench.decided(Event.Decision.REPLAY)).isEqualTo(4);
        });
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("applies an id that occurs twice in it once, and refuses other content")
    void repeats(TestDatabase database) throws Exception {
        on(database, bench -> {
            assertThat(bench.apply(message("a", "k", "1"), message("a", "k", "1"), message("a", "k", "other")))
                    .containsExactly(NOW, BEFORE, new Applied.Mismatched());
            assertThat(bench.apply(message("b", "k", "1"), message("a", "k", "other")))
                    .containsExactly(NOW, new Applied.Mismatched());
            // Each is compared with what was applied, not with the one before it in the batch.
            assertThat(bench.apply(message("a", "k", "other"), message("a", "k", "1"), message("a", "k", "other")))
                    .containsExactly(new Applied.Mismatched(), BEFORE, new Applied.Mismatched());
            assertThat(bench.effects()).containsExactly("a", "b");
        });
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("with one that fails applies the others, but none behind it in its order")
    void failure(TestDatabase database) throws Exception {
        on(database, bench -> {
            List<Applied> applied = bench.apply(
                    message("a", "k", "1"),
                    bad("b", "k"),
                    message("c", "other", "1"),
                    message("d", "k", "1"),
                    message("a", "other", "1"),
                    message("e", null, "1"));
            assertThat(applied.get(1)).isInstanceOf(Applied.Failed.class);
            assertThat(((Applied.Failed) applied.get(1)).cause()).hasMessage("bad b");
            assertThat(applied.get(0)).isEqualTo(NOW);
            assertThat(applied.subList(2, 6)).containsExactly(NOW, HELD, BEFORE, NOW);
            assertThat(bench.effects()).containsExactly("a", "c", "e");
            assertThat(bench.apply(message("b", "k", "1"), message("d", "k", "1")))
                    .containsExactly(NOW, NOW);
            assertThat(bench.effects()).containsExactly("a", "c", "e", "b", "d");
        });
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("with one whose effect needs another store, which is down, applies the others")
    void otherStoreDown(TestDatabase database) throws Exception {
        on(database, bench -> {
            InboxDelivery needy = new InboxDelivery(new InboxMessage("topic", "b"), "k", c -> {
                throw new StoreUnavailable("the other store is down", null);
            });
            for (int i = 0; i < 2; i++) {
                List<Applied> applied = bench.apply(message("a", "k", "1"), needy, message("c", "other", "1"));
                assertThat(applied.get(1))
                        .isInstanceOfSatisfying(
                                Applied.Failed.class,
                                failed -> assertThat(failed.cause()).hasMessageContaining("the other store is down"));
                assertThat(applied.get(2)).isEqualTo(i == 0 ? NOW : BEFORE);
            }
            assertThat(bench.effects()).containsExactly("a", "c");
        });
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("N4 with one whose entry cannot be read applies the others, also when another one fails")
    void unreadableEntry(TestDatabase database) throws Exception {
        on(database, bench -> {
            bench.apply(message("b", "k", "1"));
            try (Connection connection = bench.source.getConnection();
                    PreparedStatement update = connection.prepareStatement(
                            "UPDATE onlyonce_entry SET result = ? WHERE fingerprint_version > 0")) {
                // As a newer release would write it.
                update.setBytes(1, new byte[] {99, 'V'});
                assertThat(update.executeUpdate()).isEqualTo(1);
            }
            unreadable(bench);
        });
    }

    @Test
    @DisplayName("N4 with one whose entry is in a state that this release does not know applies the others")
    void unknownState() throws Exception {
        // Other databases refuse such a state.
        on(TestDatabase.POSTGRES, bench -> {
            bench.apply(message("b", "k", "1"));
            SqlClock.execute(bench.source, "UPDATE onlyonce_entry SET state = 99 WHERE fingerprint_version > 0");
            unreadable(bench);
        });
    }

    private static void unreadable(Bench bench) throws SQLException {
        List<Applied> applied = bench.apply(
                message("a", "k", "1"), message("b", "k", "1"), message("c", "k", "1"), message("d", null, "1"));
        assertThat(applied.get(0)).isEqualTo(NOW);
        assertThat(applied.get(1)).isInstanceOf(Applied.Failed.class);
        assertThat(applied.get(2)).as("behind it in its order").isEqualTo(HELD);
        assertThat(applied.get(3)).isEqualTo(NOW);
        applied = bench.apply(bad("e", null), message("b", "k", "1"), message("f", null, "1"));
        assertThat(applied.subList(0, 2)).hasOnlyElementsOfType(Applied.Failed.class);
        assertThat(applied.get(2)).isEqualTo(NOW);
        assertThat(bench.effects()).containsExactly("b", "a", "d", "f");
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("N4 with an id that something else has used applies the others")
    void usedId(TestDatabase database) throws Exception {
        on(database, bench -> {
            bench.apply(message("b", null, "1"));
            SqlClock.execute(
                    bench.source, "UPDATE onlyonce_entry SET operation = 'other' WHERE fingerprint_version > 0");
            List<Applied> applied = bench.apply(message("a", null, "1"), message("b", null, "1"));
            assertThat(applied.get(0)).isEqualTo(NOW);
            assertThat(applied.get(1)).isInstanceOf(Applied.Failed.class);
            assertThat(bench.effects()).containsExactly("b", "a");
        });
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("with a statement that the database refuses applies the others")
    void refusedStatement(TestDatabase database) throws Exception {
        on(database, bench -> {
            InboxDelivery refused = new InboxDelivery(new InboxMessage("topic", "b"), "k", c -> {
                try (Statement statement = c.createStatement()) {
                    statement.execute("INSERT INTO effect (id) VALUES (NULL)");
                }
            });
            List<Applied> applied = bench.apply(message("a", null, "1"), refused, message("c", null, "1"));
            assertThat(applied.get(1)).isInstanceOf(Applied.Failed.class);
            assertThat(bench.effects()).containsExactly("a", "c");
        });
    }

    @Test
    @DisplayName("N7 with one whose effect fails at the commit applies the others")
    void failsAtCommit() throws Exception {
        // The others of our databases check at once.
        on(TestDatabase.POSTGRES, bench -> {
            SqlClock.execute(bench.source, "CREATE TABLE account (id VARCHAR(50) PRIMARY KEY)");
            SqlClock.execute(
                    bench.source,
                    "CREATE TABLE booking (account VARCHAR(50) REFERENCES account DEFERRABLE INITIALLY DEFERRED)");
            InboxDelivery late = new InboxDelivery(new InboxMessage("topic", "late"), "k", c -> {
                write(c, "late");
                execute(c, "INSERT INTO booking VALUES ('nobody')");
            });
            List<Applied> applied =
                    bench.apply(message("a", "k", "1"), late, message("b", "k", "1"), message("c", null, "1"));
            assertThat(applied.get(0)).isEqualTo(NOW);
            assertThat(applied.get(1)).isInstanceOf(Applied.Failed.class);
            assertThat(applied.subList(2, 4)).containsExactly(HELD, NOW);
            assertThat(bench.apply(late).get(0)).isInstanceOf(Applied.Failed.class);
            assertThat(bench.effects()).containsExactly("a", "c");
        });
    }

    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "SQLITE")
    @DisplayName("N7 with some that somebody else is applying applies the others, soon")
    void locked(TestDatabase database) throws Exception {
        on(database, bench -> {
            CountDownLatch inside = new CountDownLatch(1);
            CountDownLatch goOn = new CountDownLatch(1);
            ExecutorService other = Executors.newSingleThreadExecutor();
            try {
                List<InboxDelivery> held = new ArrayList<>();
                for (int i = 0; i < 50; i++) {
                    held.add(message("held" + i, null, "1"));
                }
                held.add(new InboxDelivery(new InboxMessage("topic", "last"), null, c -> {
                    inside.countDown();
                    goOn.await();
                }));
                Future<List<Applied>> frozen = other.submit(() -> bench.inbox.applyAll(held));
                inside.await();
                List<InboxDelivery> batch = new ArrayList<>(held.subList(0, 50));
                batch.add(message("a", "k", "1"));
                batch.add(message("b", null, "1"));
                long begun = System.nanoTime();
                List<Applied> applied = bench.inbox.applyAll(batch);
                // Those behind many that are locked get their turn without them.
                applied = applied.contains(NOW) ? applied : bench.inbox.applyAll(batch.subList(50, 52));
                assertThat(Duration.ofNanos(System.nanoTime() - begun)).isLessThan(Duration.ofSeconds(15));
                assertThat(applied.subList(applied.size() - 2, applied.size())).containsExactly(NOW, NOW);
                assertThat(bench.effects()).containsExactly("a", "b");
                goOn.countDown();
                assertThat(frozen.get()).containsOnly(NOW);
            } finally {
                goOn.countDown();
                other.shutdown();
            }
            assertThat(bench.inbox.applyAll(List.of(message("held0", null, "1"))))
                    .containsExactly(BEFORE);
            assertThat(bench.effects()).hasSize(52).doesNotHaveDuplicates();
        });
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("cannot be committed by an effect")
    void guarded(TestDatabase database) throws Exception {
        on(database, bench -> {
            List<Applied> applied = bench.apply(
                    message("a", null, "1"), ending("commit", Connection::commit),
                    ending("roll back", Connection::rollback), ending("close", Connection::close),
                    ending("auto", c -> c.setAutoCommit(true)),
                            ending("text", c -> execute(c, " -- now\n/* done */ Commit")),
                    ending("roll back text", c -> execute(c, "ROLLBACK WORK")),
                            ending(
                                    "back door",
                                    c -> execute(c, "SELECT 1").getConnection().commit()),
                    ending("unwrapped", c -> c.unwrap(Connection.class).commit()), message("z", null, "1"));
            assertThat(applied.get(0)).isEqualTo(NOW);
            assertThat(applied.subList(1, 9))
                    .allSatisfy(answer -> assertThat(((Applied.Failed) answer).cause())
                            .hasMessageContaining("must not end the transaction"));
            assertThat(applied.get(9)).isEqualTo(NOW);
            assertThat(bench.effects()).containsExactly("a", "z");
        });
    }

    private static Statement execute(Connection connection, String sql) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute(sql);
            return statement;
        }
    }

    @Test
    @DisplayName("N4 with an effect that ignores its failed statement applies the others, and that one fails")
    void ignoredFailure() throws Exception {
        on(TestDatabase.POSTGRES, bench -> {
            InboxDelivery careless = new InboxDelivery(new InboxMessage("topic", "careless"), null, c -> {
                try {
                    execute(c, "INSERT INTO effect (id) VALUES (NULL)");
                } catch (SQLException e) {
                    // As if it did not matter.
                }
            });
            List<Applied> applied = bench.apply(message("a", null, "1"), message("b", null, "1"), careless);
            assertThat(applied.subList(0, 2)).containsOnly(NOW);
            assertThat(((Applied.Failed) applied.get(2)).cause()).hasMessageContaining("ignored a failed statement");
            assertThat(bench.apply(careless).get(0)).isInstanceOf(Applied.Failed.class);
            assertThat(bench.effects()).containsExactly("a", "b");
        });
    }

    @Test
    @DisplayName("may set savepoints, whatever they are called")
    void namedSavepoint() throws Exception {
        on(TestDatabase.POSTGRES, bench -> {
            InboxDelivery named = new InboxDelivery(
                    new InboxMessage("topic", "named"), null, c -> c.releaseSavepoint(c.setSavepoint("end of line 3")));
            assertThat(bench.apply(named)).containsExactly(NOW);
        });
    }

    private static InboxDelivery ending(String how, Inbox.Effect<SQLException> ending) {
        return new InboxDelivery(new InboxMessage("topic", how.replace(' ', '-')), null, c -> {
            write(c, how);
            ending.apply(c);
        });
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("is remembered like a message that came alone")
    void remembered(TestDatabase database) throws Exception {
        on(database, bench -> {
            bench.apply(message("a", null, "1"), message("b", null, "1"));
            assertThat(bench.inbox.apply(message("c", null, "1").message(), c -> {}))
                    .isTrue();
            assertThat(bench.inbox.apply(message("a", null, "1").message(), c -> {}))
                    .isFalse();
            List<Entry> entries = bench.once.registry().store().list(EntryQuery.all(10));
            assertThat(entries).hasSize(3);
            Entry alone = entries.get(2);
            for (Entry entry : entries) {
                assertThat(entry.state()).isEqualTo(alone.state());
                assertThat(entry.attempt()).isEqualTo(alone.attempt());
                assertThat(entry.operation()).isEqualTo(alone.operation());
                assertThat(entry.terms()).isEqualTo(alone.terms());
                assertThat(entry.result()).isEqualTo(alone.result());
                assertThat(Duration.between(entry.settledAt(), entry.expiresAt()))
                        .isEqualTo(Inbox.RETENTION);
            }
            List<AuditRecord> audit = bench.once.registry().store().audit(AuditQuery.all(10));
            assertThat(audit.stream()
                            .map(AuditRecord::transition)
                            .map(t -> t.id().key() + " " + t.from() + " " + t.to()))
                    .containsExactlyInAnyOrderElementsOf(Stream.of("a", "b", "c")
                            .flatMap(id -> Stream.of(id + " null PROCESSING", id + " PROCESSING COMPLETED"))
                            .toList());
        });
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("that many consumers get at once is applied once")
    void atOnce(TestDatabase database) throws Exception {
        on(database, bench -> {
            InboxDelivery[] batch = new InboxDelivery[40];
            for (int i = 0; i < batch.length; i++) {
                batch[i] = message("id" + i * 7919 % 100, "k", "1");
            }
            ExecutorService threads = Executors.newFixedThreadPool(4);
            try {
                List<Future<Integer>> applied = new ArrayList<>();
                for (int i = 0; i < 8; i++) {
                    applied.add(threads.submit(() -> deliver(bench, batch)));
                }
                int times = 0;
                for (Future<Integer> one : applied) {
                    times += one.get();
                }
                // What one consumer commits before its answer is lost, the other sees as applied before.
                assertThat(times).isLessThanOrEqualTo(batch.length);
            } finally {
                threads.shutdownNow();
            }
            assertThat(bench.effects()).doesNotHaveDuplicates().hasSize(batch.length);
        });
    }

    /** As a broker would: what is not applied is delivered again. */
    private static int deliver(Bench bench, InboxDelivery... batch) {
        int times = 0;
        while (true) {
            try {
                List<Applied> applied = bench.apply(batch);
                times += (int) applied.stream().filter(NOW::equals).count();
                if (!applied.contains(HELD)) {
                    return times;
                }
            } catch (TransactionConflict | StoreException e) {
                Thread.onSpinWait();
            }
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"POSTGRES", "SQLITE"})
    @DisplayName("with an id that is none is not applied at all")
    void malformed(TestDatabase database) throws Exception {
        on(database, bench -> {
            assertThatThrownBy(() -> bench.apply(message("a", "k", "1"), message("b c", "k", "1")))
                    .isInstanceOf(MalformedKey.class);
            assertThat(bench.effects()).isEmpty();
            assertThat(bench.apply()).isEmpty();
        });
    }
}
