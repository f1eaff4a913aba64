package dev.onlyonce.sql;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariDataSource;
import dev.onlyonce.Key;
import dev.onlyonce.Onlyonce;
import dev.onlyonce.fingerprint.Fingerprint;
import dev.onlyonce.sql.inbox.Inbox;
import dev.onlyonce.sql.inbox.InboxMessage;
import dev.onlyonce.sql.internal.connections.SqlDatabase;
import dev.onlyonce.sql.outbox.Outbox;
import dev.onlyonce.sql.outbox.OutboxCall;
import dev.onlyonce.sql.steps.Steps;
import dev.onlyonce.sql.transactions.Transactions;
import dev.onlyonce.store.Store;
import dev.onlyonce.store.StoreRefused;
import dev.onlyonce.store.StoreRejected;
import dev.onlyonce.testkit.LossContract;
import dev.onlyonce.testservers.DatabaseServer;
import dev.onlyonce.testservers.MariaDbServer;
import dev.onlyonce.testservers.MySqlServer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.sql.Connection;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

final class LossTest {
    private static final Duration NEVER = Duration.ofDays(1);

    @TempDir
    private Path folder;

    /** On one kind of database. */
    abstract static class OnDatabase extends LossContract {
        private final TestDatabase kind;

        @TempDir
        private Path folder;

        private HikariDataSource database;

        OnDatabase(TestDatabase kind) {
            this.kind = kind;
        }

        private HikariDataSource database() {
            if (database == null) {
                database = kind.create(folder);
            }
            return database;
        }

        @Override
        protected Store open() {
            return SqlStore.open(database());
        }

        @Override
        protected void empty() {
            boolean truncates = kind.kind() != SqlDatabase.SQLITE;
            SqlClock.execute(database(), truncates ? "TRUNCATE TABLE onlyonce_entry" : "DELETE FROM onlyonce_entry");
        }

        @Override
        protected void startOver() {
            SqlClock.execute(
                    database(),
                    Stream.of("outbox", "step", "audit", "entry", "schema")
                            .map(table -> "DROP TABLE onlyonce_" + table)
                            .toArray(String[]::new));
        }

        @AfterEach
        void closeDatabase() {
            database().close();
        }
    }

    @Nested
    class Postgres extends OnDatabase {
        Postgres() {
            super(TestDatabase.POSTGRES);
        }
    }

    @Nested
    class MariaDb extends OnDatabase {
        MariaDb() {
            super(TestDatabase.MARIADB);
        }
    }

    @Nested
    class MySql extends OnDatabase {
        MySql() {
            super(TestDatabase.MYSQL);
        }
    }

    @Nested
    class Sqlite extends OnDatabase {
        Sqlite() {
            super(TestDatabase.SQLITE);
        }
    }

    @Nested
    class H2Memory extends OnDatabase {
        H2Memory() {
            super(TestDatabase.H2);
        }
    }

    @Nested
    class H2File extends OnDatabase {
        H2File() {
            super(TestDatabase.H2_POSTGRES_MODE);
        }
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName(
            "E5 every way to execute refuses a database whose entries were removed, before the application's code runs")
    void ways(TestDatabase kind) throws Exception {
        try (HikariDataSource database = kind.create(folder);
                SqlStore store = SqlStore.open(database);
                Onlyonce once = Onlyonce.builder(store).build()) {
            AtomicInteger ran = new AtomicInteger();
            Outbox outbox = Outbox.builder(once).build();
            SqlClock.execute(database, "DELETE FROM onlyonce_entry");
            assertThatThrownBy(() -> once.operator().sweep()).isInstanceOf(StoreRefused.class);
            assertThatThrownBy(() -> Transactions.of(once)
                            .execute(key("own"), print(), String.class, c -> "" + ran.incrementAndGet()))
                    .isInstanceOf(StoreRefused.class);
            assertThatThrownBy(() -> Steps.of(once)
                            .execute(key("stepped"), print(), String.class, s -> "" + ran.incrementAndGet()))
                    .isInstanceOf(StoreRefused.class);
            try (Connection connection = database.getConnection()) {
                connection.setAutoCommit(false);
                assertThatThrownBy(() -> Transactions.of(once)
                                .execute(
                                        connection,
                                        key("callers"),
                                        print(),
                                        String.class,
                                        c -> "" + ran.incrementAndGet()))
                        .isInstanceOf(StoreRefused.class);
                assertThatThrownBy(() -> outbox.accept(
                                connection,
                                key("queued"),
                                print(),
                                String.class,
                                new OutboxCall("charge", new byte[0])))
                        .isInstanceOf(StoreRefused.class);
                assertThatThrownBy(() -> Inbox.of(once)
                                .apply(connection, new InboxMessage("orders", "1"), c -> ran.incrementAndGet()))
                        .isInstanceOf(StoreRefused.class);
                connection.rollback();
            }
            assertThat(ran).hasValue(0);
        }
    }

    private static Key key(String name) {
        return Key.of("acme", name, name);
    }

    private static Fingerprint print() {
        return Fingerprint.of("body".getBytes(StandardCharsets.UTF_8));
    }

    @ParameterizedTest
    @EnumSource(names = "SQLITE", mode = EnumSource.Mode.EXCLUDE)
    @DisplayName(
            "E5 a table of entries without its primary key is refused by running nodes, their health checks, and at the start,"
                    + " until it has one again")
    void primaryKey(TestDatabase kind) {
        try (HikariDataSource database = kind.create(folder);
                SqlStore store = SqlStore.open(database)) {
            store.recheck();
            String drop = kind == TestDatabase.POSTGRES ? "DROP CONSTRAINT onlyonce_entry_pkey" : "DROP PRIMARY KEY";
            SqlClock.execute(database, "ALTER TABLE onlyonce_entry " + drop);
            assertThatThrownBy(store::recheck).isInstanceOf(StoreRefused.class).hasMessageContaining("primary key");
            assertThatThrownBy(store::checkWritable).isInstanceOf(StoreRefused.class);
            assertThatThrownBy(() -> store.claim(Claims.claims("key", 1))).isInstanceOf(StoreRefused.class);
            assertThatThrownBy(() -> store.accept("operator", "a test"))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("primary key");
            assertThatThrownBy(() -> SqlStore.open(database))
                    .isInstanceOf(StoreRejected.class)
                    .hasMessageContaining("ADD PRIMARY KEY (tenant, space, key_)");
            SqlClock.execute(database, "ALTER TABLE onlyonce_entry ADD PRIMARY KEY (tenant, space, key_)");
            store.recheck();
            assertThat(Claims.won(store.claim(Claims.claims("key", 1)))).isEqualTo(1);
        }
    }

    @Test
    @DisplayName("E5 on PostgreSQL, a primary key that is checked at the commit is none: it decides no claim")
    void deferrableKey() {
        try (HikariDataSource database = TestDatabase.POSTGRES.create(folder);
                SqlStore store = SqlStore.open(database)) {
            SqlClock.execute(
                    database,
                    "ALTER TABLE onlyonce_entry DROP CONSTRAINT onlyonce_entry_pkey",
                    "ALTER TABLE onlyonce_entry ADD PRIMARY KEY (tenant, space, key_) DEFERRABLE");
            assertThatThrownBy(store::recheck).isInstanceOf(StoreRefused.class).hasMessageContaining("primary key");
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"MARIADB", "MYSQL"})
    @DisplayName("E5 a server that begins to forget what it acknowledged is refused until it keeps it again")
    void forgetfulServer(TestDatabase kind) {
        try (DatabaseServer server = kind == TestDatabase.MARIADB ? MariaDbServer.start() : MySqlServer.start();
                HikariDataSource database = Pools.open(server.createDatabase(), 2);
                SqlStore store = SqlStore.open(database);
                Onlyonce once = Onlyonce.builder(store).sweepEvery(NEVER).build()) {
            SqlClock.execute(database, "SET GLOBAL innodb_flush_log_at_trx_commit = 0");
            assertThatThrownBy(() -> once.operator().sweep())
                    .isInstanceOf(StoreRefused.class)
                    .hasMessageContaining("innodb_flush_log_at_trx_commit=0");
            assertThat(store.refusal()).isPresent();
            assertThatThrownBy(store::checkWritable).isInstanceOf(StoreRefused.class);
            assertThatThrownBy(() -> store.claim(Claims.claims("key", 1))).isInstanceOf(StoreRefused.class);
            SqlClock.execute(database, "SET GLOBAL innodb_flush_log_at_trx_commit = 1");
            once.operator().sweep();
            assertThat(Claims.won(store.claim(Claims.claims("key", 1)))).isEqualTo(1);
        }
    }

    @Test
    @DisplayName("E5 a database in another mode than before is refused until it is in that one again")
    void settings() {
        try (HikariDataSource database = TestDatabase.H2.create(folder);
                SqlStore store = SqlStore.open(database)) {
            SqlClock.execute(database, "SET MODE MySQL");
            assertThatThrownBy(store::recheck).isInstanceOf(StoreRefused.class).hasMessageContaining("MySQL");
            assertThatThrownBy(() -> store.claim(Claims.claims("key", 1))).isInstanceOf(StoreRefused.class);
            SqlClock.execute(database, "SET MODE REGULAR");
            store.recheck();
            assertThat(Claims.won(store.claim(Claims.claims("key", 1)))).isEqualTo(1);
        }
    }
}
