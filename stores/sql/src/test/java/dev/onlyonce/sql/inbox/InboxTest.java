package dev.onlyonce.sql.inbox;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariDataSource;
import dev.onlyonce.Codec;
import dev.onlyonce.Key;
import dev.onlyonce.MalformedKey;
import dev.onlyonce.Onlyonce;
import dev.onlyonce.Outcome;
import dev.onlyonce.OutcomeException;
import dev.onlyonce.fingerprint.Fingerprint;
import dev.onlyonce.sql.SqlClock;
import dev.onlyonce.sql.SqlStore;
import dev.onlyonce.sql.TestDatabase;
import dev.onlyonce.sql.Ways;
import dev.onlyonce.store.StoreBusy;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

@DisplayName("The inbox")
class InboxTest {
    @TempDir
    private static Path folder;

    /** A message's effect on every database: it counts, and breaks if it is told to. */
    private static void effect(Connection transaction, boolean breaks) throws SQLException {
        try (Statement statement = transaction.createStatement()) {
            statement.executeUpdate("UPDATE effect SET done = done + 1");
        }
        if (breaks) {
            throw new IllegalStateException("the effect broke");
        }
    }

    @FunctionalInterface
    private interface Body {
        void run(HikariDataSource source, Inbox inbox) throws Exception;
    }

    private static void on(TestDatabase database, Body body) throws Exception {
        try (HikariDataSource source = database.create(folder);
                SqlStore store = SqlStore.open(source)) {
            SqlClock.execute(source, "CREATE TABLE effect (done INTEGER NOT NULL)", "INSERT INTO effect VALUES (0)");
            try (Onlyonce once = Onlyonce.builder(store).build()) {
                body.run(source, Inbox.of(once));
            }
        }
    }

    private static int effects(HikariDataSource source) throws SQLException {
        try (Connection connection = source.getConnection();
                Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery("SELECT done FROM effect")) {
            row.next();
            return row.getInt(1);
        }
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("N3 of many simultaneous deliveries of a message one applies it")
    void once(TestDatabase database) throws Exception {
        on(database, (source, inbox) -> {
            ExecutorService threads = Executors.newFixedThreadPool(8);
            try {
                List<Future<Boolean>> applied = new ArrayList<>();
                for (int i = 0; i < 16; i++) {
                    applied.add(threads.submit(() -> deliver(inbox, "evt_1")));
                }
                int times = 0;
                for (Future<Boolean> one : applied) {
                    times += one.get() ? 1 : 0;
                }
                assertThat(times).isEqualTo(1);
            } finally {
                threads.shutdownNow();
            }
            assertThat(effects(source)).isEqualTo(1);
            assertThat(inbox.apply(new InboxMessage("another source", "evt_1"), c -> effect(c, false)))
                    .isTrue();
            assertThat(inbox.apply(new InboxMessage("provider", "evt_2"), c -> effect(c, false)))
                    .isTrue();
            assertThat(effects(source)).isEqualTo(3);
        });
    }

    /** As a sender would: a message that is just being applied is delivered again. */
    private static boolean deliver(Inbox inbox, String id) throws Exception {
        while (true) {
            try {
                return inbox.apply(new InboxMessage("provider", id), c -> effect(c, false));
            } catch (StoreBusy e) {
                java.util.concurrent.locks.LockSupport.parkNanos(1_000_000);
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("N3 a message whose effect breaks is not remembered, and its effect is undone")
    void breaks(TestDatabase database) throws Exception {
        on(database, (source, inbox) -> {
            assertThatThrownBy(() -> inbox.apply(new InboxMessage("provider", "evt_1"), c -> effect(c, true)))
                    .hasMessage("the effect broke");
            assertThat(effects(source)).isZero();
            assertThat(inbox.apply(new InboxMessage("provider", "evt_1"), c -> effect(c, false)))
                    .isTrue();
            assertThat(inbox.apply(new InboxMessage("provider", "evt_1"), c -> effect(c, true)))
                    .isFalse();
            assertThat(effects(source)).isEqualTo(1);
        });
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName(
            "N3 in the caller's transaction a message is remembered only if that commits, and a repeat does not harm it")
    void callersTransaction(TestDatabase database) throws Exception {
        on(database, (source, inbox) -> {
            try (Connection transaction = source.getConnection()) {
                transaction.setAutoCommit(false);
                assertThat(inbox.apply(transaction, new InboxMessage("provider", "evt_1"), c -> effect(c, false)))
                        .isTrue();
                transaction.rollback();
                assertThat(inbox.apply(transaction, new InboxMessage("provider", "evt_1"), c -> effect(c, false)))
                        .isTrue();
                transaction.commit();
                assertThat(inbox.apply(transaction, new InboxMessage("provider", "evt_1"), c -> effect(c, false)))
                        .isFalse();
                assertThat(inbox.apply(transaction, new InboxMessage("provider", "evt_2"), c -> effect(c, false)))
                        .isTrue();
                transaction.commit();
            }
            assertThat(effects(source)).isEqualTo(2);
        });
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("messages and clients' keys never meet, and an id that is none is refused")
    void apart(TestDatabase database) throws Exception {
        on(database, (source, inbox) -> {
            try (SqlStore store = SqlStore.open(source)) {
                inbox.apply(new InboxMessage("alice", "key-1"), c -> effect(c, false));
                Outcome<byte[]> clients = Ways.transactions(store)
                        .execute(
                                Key.of("alice", "POST /payments", "key-1"),
                                Fingerprint.of("request".getBytes(StandardCharsets.UTF_8)),
                                Codec.bytes(),
                                c -> new byte[0]);
                assertThat(clients).isInstanceOf(Outcome.Executed.class);
            }
            assertThatThrownBy(() -> inbox.apply(new InboxMessage("provider", ""), c -> effect(c, false)))
                    .isInstanceOf(MalformedKey.class);
        });
    }

    private static InboxMessage saying(String content) {
        return new InboxMessage("provider", "evt_1", Fingerprint.of(content.getBytes(StandardCharsets.UTF_8)));
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("N3 a message with a known id and other content is refused and leaves the caller's transaction alone")
    void changed(TestDatabase database) throws Exception {
        on(database, (source, inbox) -> {
            assertThat(inbox.apply(saying("10 EUR"), c -> effect(c, false))).isTrue();
            assertThat(inbox.apply(saying("10 EUR"), c -> effect(c, false))).isFalse();
            assertThatThrownBy(() -> inbox.apply(saying("1000 EUR"), c -> effect(c, false)))
                    .isInstanceOfSatisfying(
                            OutcomeException.class,
                            e -> assertThat(e.outcome())
                                    .isEqualTo(new Outcome.Mismatched<>(Outcome.Mismatched.Reason.REQUEST)));
            try (Connection transaction = source.getConnection()) {
                transaction.setAutoCommit(false);
                assertThatThrownBy(() -> inbox.apply(transaction, saying("1000 EUR"), c -> effect(c, false)))
                        .isInstanceOf(OutcomeException.class);
                assertThat(inbox.apply(transaction, new InboxMessage("provider", "evt_2"), c -> effect(c, false)))
                        .isTrue();
                transaction.commit();
            }
            assertThat(effects(source)).isEqualTo(2);
        });
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName(
            "F4 a message that was remembered by its id alone is a repeat whatever it says, and the other way round")
    void idAlone(TestDatabase database) throws Exception {
        on(database, (source, inbox) -> {
            assertThat(inbox.apply(new InboxMessage("provider", "evt_1"), c -> effect(c, false)))
                    .isTrue();
            assertThat(inbox.apply(saying("10 EUR"), c -> effect(c, false))).isFalse();
            InboxMessage second = new InboxMessage("provider", "evt_2", Fingerprint.ofJson("{}"));
            assertThat(inbox.apply(second, c -> effect(c, false))).isTrue();
            assertThat(inbox.apply(new InboxMessage("provider", "evt_2"), c -> effect(c, false)))
                    .isFalse();
            assertThat(effects(source)).isEqualTo(2);
        });
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("F4 a message that an earlier release remembered is a repeat")
    void earlierRelease(TestDatabase database) throws Exception {
        on(database, (source, inbox) -> {
            inbox.apply(new InboxMessage("provider", "evt_1"), c -> effect(c, false));
            byte[] digest =
                    Fingerprint.of("evt_1".getBytes(StandardCharsets.UTF_8)).digest();
            try (Connection connection = source.getConnection();
                    Statement statement = connection.createStatement();
                    ResultSet row = statement.executeQuery(
                            "SELECT fingerprint, fingerprint_version FROM onlyonce_entry WHERE fingerprint_version > 0")) {
                assertThat(row.next()).isTrue();
                // What it has always been: so a node of either release reads what the other has written.
                assertThat(row.getBytes(1)).isEqualTo(digest);
                assertThat(row.getInt(2)).isEqualTo(1);
            }
        });
    }

    @Test
    @DisplayName(
            "N3 a message whose transaction conflicts with another one is to be delivered again, like one that met a busy row")
    void conflict() throws Exception {
        on(TestDatabase.POSTGRES, (source, inbox) -> {
            SqlClock.execute(source, """
                    CREATE FUNCTION conflict() RETURNS trigger AS
                    'BEGIN RAISE EXCEPTION ''could not serialize access'' USING ERRCODE = ''40001''; END' LANGUAGE plpgsql
                    """, """
                    CREATE CONSTRAINT TRIGGER conflict AFTER UPDATE ON effect DEFERRABLE INITIALLY DEFERRED
                    FOR EACH ROW EXECUTE FUNCTION conflict()
                    """);
            assertThatThrownBy(() -> inbox.apply(new InboxMessage("provider", "evt_1"), c -> effect(c, false)))
                    .isInstanceOf(StoreBusy.class);
            SqlClock.execute(source, "DROP TRIGGER conflict ON effect");
            assertThat(inbox.apply(new InboxMessage("provider", "evt_1"), c -> effect(c, false)))
                    .isTrue();
            assertThat(effects(source)).isEqualTo(1);
        });
    }
}
