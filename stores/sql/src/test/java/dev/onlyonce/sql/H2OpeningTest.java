package dev.onlyonce.sql;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariDataSource;
import dev.onlyonce.Codec;
import dev.onlyonce.Key;
import dev.onlyonce.sql.transactions.TransactionsChapter;
import dev.onlyonce.store.ClaimRequest;
import dev.onlyonce.store.Entry;
import dev.onlyonce.store.SettleResult;
import dev.onlyonce.store.StoreException;
import dev.onlyonce.store.StoreRejected;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.UUID;
import javax.sql.DataSource;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@DisplayName("Opening a store in an embedded Java database")
final class H2OpeningTest {
    @TempDir
    private Path folder;

    @ParameterizedTest
    @ValueSource(strings = {"MySQL", "MariaDB", "Oracle", "MSSQLServer", "DB2", "Derby", "HSQLDB", "LEGACY", "STRICT"})
    @DisplayName("E2 another mode of H2 is refused, with those that are supported")
    void modes(String mode) {
        assertThatThrownBy(() -> SqlStore.open(memory(";MODE=" + mode)))
                .isInstanceOf(StoreRejected.class)
                .hasMessageContaining("its " + mode + " mode")
                .hasMessageContaining("MODE=PostgreSQL")
                .hasMessageContaining("onlyonce.store=memory");
    }

    @Test
    @DisplayName("E2 an H2 database that each connection has for itself is refused")
    void unnamed() {
        assertThatThrownBy(() -> SqlStore.open(source("jdbc:h2:mem:")))
                .isInstanceOf(StoreRejected.class)
                .hasMessageContaining("jdbc:h2:mem:shop;DB_CLOSE_DELAY=-1");
    }

    @Test
    @DisplayName("E2 H2 with the information schema of its version 1 is refused, with what to remove")
    void oldInformationSchema() {
        assertThatThrownBy(() -> SqlStore.open(memory(";OLD_INFORMATION_SCHEMA=TRUE")))
                .isInstanceOf(StoreRejected.class)
                .hasMessageContaining("Remove OLD_INFORMATION_SCHEMA=TRUE");
    }

    @Test
    @DisplayName("E2 a URL that has H2 execute queries lazily is refused: listings would lack rows")
    void lazy() {
        try (HikariDataSource pool = Pools.open("jdbc:h2:mem:" + UUID.randomUUID() + ";LAZY_QUERY_EXECUTION=1", 1)) {
            assertThatThrownBy(() -> SqlStore.open(pool))
                    .isInstanceOf(StoreRejected.class)
                    .hasMessageContaining("remove LAZY_QUERY_EXECUTION=1");
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "DATABASE_TO_UPPER=FALSE",
                "DATABASE_TO_UPPER=FALSE;CASE_INSENSITIVE_IDENTIFIERS=TRUE",
                "DATABASE_TO_UPPER=FALSE;MODE=PostgreSQL",
                "CASE_INSENSITIVE_IDENTIFIERS=TRUE",
                "DATABASE_TO_LOWER=TRUE"
            })
    @DisplayName("Entries can be kept whatever H2 does with the case of names")
    void namesInAnyCase(String setting) {
        DataSource memory = memory(";" + setting);
        try (SqlStore store = SqlStore.open(memory)) {
            List<ClaimRequest> claims = Claims.claims("key", 2);
            assertThat(Claims.won(store.claim(claims))).isEqualTo(2);
            assertThat(store.settle(Claims.complete(claims))).allMatch(SettleResult.Settled.class::isInstance);
            store.checkWritable();
        }
        SqlStore.open(memory).close();
    }

    @Test
    @DisplayName("D9 a database that is closed under a busy pool is opened again")
    void closed() {
        String url = "jdbc:h2:file:" + folder.resolve("entries");
        try (HikariDataSource pool = Pools.open(url, 2);
                SqlStore store = SqlStore.open(pool)) {
            assertThat(Claims.won(store.claim(Claims.claims("before", 1)))).isEqualTo(1);
            SqlClock.execute(source(url), "SHUTDOWN");
            int failed = 0;
            while (!isClaimed(store, "after" + failed)) {
                failed++;
                assertThat(failed).as("calls that failed").isLessThanOrEqualTo(4);
            }
            assertThat(store.find(List.of(Claims.id("before0"))).get(0)).isPresent();
        }
    }

    private static boolean isClaimed(SqlStore store, String key) {
        try {
            return Claims.won(store.claim(List.of(Claims.claim(key)))) == 1;
        } catch (StoreException e) {
            return false;
        }
    }

    @Test
    @DisplayName("E2 a pool of H2 whose connections see what is not committed is refused")
    void dirtyReads() {
        DataSource dirty = Sources.of(() -> {
            Connection connection = memory("").getConnection();
            connection.setTransactionIsolation(Connection.TRANSACTION_READ_UNCOMMITTED);
            return connection;
        });
        assertThatThrownBy(() -> SqlStore.open(dirty))
                .isInstanceOf(StoreRejected.class)
                .hasMessageContaining("READ COMMITTED");
    }

    @Test
    @DisplayName("T5 a lease counts from its statement, not from when the caller's transaction began")
    void clock() throws Exception {
        HikariDataSource pool = Pools.open("jdbc:h2:mem:" + UUID.randomUUID(), 4);
        try (pool;
                SqlStore store = SqlStore.open(pool);
                Connection transaction = pool.getConnection()) {
            transaction.setAutoCommit(false);
            Instant begun = transactionTime(transaction);
            Instant later;
            do {
                later = transactionTime(pool.getConnection());
            } while (later.isBefore(begun.plusMillis(50)));
            Key key = Key.of("tenant", "POST /payments", "key");
            Ways.transactions(store).execute(transaction, key, TransactionsChapter.REQUEST, Codec.text(), c -> "done");
            assertThat(transactionTime(transaction))
                    .as("H2's own clock stands still")
                    .isEqualTo(begun);
            transaction.commit();
            Entry entry = store.find(List.of(key.entryId())).get(0).orElseThrow();
            assertThat(entry.createdAt()).isAfterOrEqualTo(later.minusMillis(1));
            assertThat(Duration.between(entry.createdAt(), entry.readAt())).isLessThan(Duration.ofMinutes(1));
        }
    }

    private static Instant transactionTime(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement();
                var row = statement.executeQuery("SELECT CURRENT_TIMESTAMP")) {
            row.next();
            return row.getObject(1, Instant.class);
        } finally {
            if (connection.getAutoCommit()) {
                connection.close();
            }
        }
    }

    @Test
    @DisplayName("E2 a database that is not supported is named, with those that are")
    void unsupported() {
        assertThatThrownBy(() -> SqlStore.open(source("jdbc:hsqldb:mem:" + UUID.randomUUID())))
                .isInstanceOf(StoreRejected.class)
                .hasMessageContaining("HSQL Database Engine 2.")
                .hasMessageContaining("PostgreSQL, MySQL, MariaDB, SQLite and H2")
                .hasMessageContaining("onlyonce.store=memory");
    }

    private static DataSource memory(String settings) {
        return source("jdbc:h2:mem:" + UUID.randomUUID() + ";DB_CLOSE_DELAY=5" + settings);
    }

    private static DataSource source(String url) {
        return Sources.of(() -> DriverManager.getConnection(url));
    }
}
