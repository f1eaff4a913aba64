package dev.onlyonce.payments.events;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariDataSource;
import dev.onlyonce.Onlyonce;
import dev.onlyonce.payments.books.Bookkeeping;
import dev.onlyonce.payments.books.LocalBooks;
import dev.onlyonce.payments.books.TrialBalance;
import dev.onlyonce.payments.db.DataSources;
import dev.onlyonce.payments.db.Database;
import dev.onlyonce.payments.db.Dialect;
import dev.onlyonce.payments.db.Sql;
import dev.onlyonce.payments.domain.Payment;
import dev.onlyonce.sql.SqlStore;
import java.nio.file.Path;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@DisplayName("An event")
class EventOutboxTest {
    private static final Duration PATIENCE = Duration.ofMinutes(1);
    private static final Payment PAID =
            new Payment("pay_1", "acme", 1999, "EUR", "", "tok_visa", Payment.SUCCEEDED, "ch_1", null, "key", 0, 0);

    @TempDir
    private Path folder;

    @ParameterizedTest
    @ValueSource(
            strings = {
                "UPDATE onlyonce_entry SET lease_until = 1",
                "UPDATE onlyonce_entry SET state = 5, settled_at = 1, expires_at = 2, purge_at = 3, token = NULL"
            })
    @DisplayName("N3 is posted once, even if nobody took it in time, or its entry was forgotten meanwhile")
    void nobodyTookIt(String late) throws Exception {
        String url = "jdbc:sqlite:" + folder.resolve("payments.db");
        try (HikariDataSource source = DataSources.open(url);
                SqlStore store = SqlStore.open(source);
                Onlyonce once = Onlyonce.builder(store).build()) {
            Database database = new Database(source, Dialect.of(url));
            database.createTables();
            Bookkeeping books = new Bookkeeping(() -> Instant.EPOCH);
            try (EventOutbox events = new EventOutbox(once, new EventRelay(new LocalBooks(database, books)))) {
                database.transaction(sql -> {
                    events.paid(sql, PAID);
                    return true;
                });
                database.transaction(sql -> sql.update(late));
                store.sweep(100);
                events.start();
                long end = System.nanoTime() + PATIENCE.toNanos();
                while (balance(database, books).events() == 0 && System.nanoTime() - end < 0) {
                    LockSupport.parkNanos(Duration.ofMillis(10).toNanos());
                }
            }
            assertThat(balance(database, books).events()).isEqualTo(1);
            assertThat(balance(database, books).accounts())
                    .hasSize(2)
                    .allSatisfy(line -> assertThat(Math.abs(line.balance())).isEqualTo(1999));
        }
    }

    @Test
    @DisplayName(
            "N3 is queued in the transaction of its payment: it is there before the commit, and gone after a rollback")
    void sameTransaction() throws Exception {
        String url = "jdbc:sqlite:" + folder.resolve("payments.db");
        try (HikariDataSource source = DataSources.open(url);
                SqlStore store = SqlStore.open(source);
                Onlyonce once = Onlyonce.builder(store).build()) {
            Database database = new Database(source, Dialect.of(url));
            database.createTables();
            LocalBooks books = new LocalBooks(database, new Bookkeeping(() -> Instant.EPOCH));
            try (EventOutbox events = new EventOutbox(once, new EventRelay(books))) {
                assertThatThrownBy(() -> database.transaction(sql -> {
                            events.paid(sql, PAID);
                            assertThat(queued(sql)).isEqualTo(1);
                            throw new IllegalStateException("the payment is rolled back");
                        }))
                        .hasMessage("the payment is rolled back");
                assertThat(database.transaction(EventOutboxTest::queued)).isZero();
                // Its key is free, too.
                database.transaction(sql -> {
                    events.paid(sql, PAID);
                    return true;
                });
                assertThat(database.transaction(EventOutboxTest::queued)).isEqualTo(1);
            }
        }
    }

    private static long queued(Sql sql) throws SQLException {
        return sql.first(row -> row.getLong(1), "SELECT count(*) FROM onlyonce_outbox")
                .orElseThrow();
    }

    private static TrialBalance balance(Database database, Bookkeeping books) {
        return database.transaction(sql -> books.trialBalance(sql, "acme"));
    }
}
