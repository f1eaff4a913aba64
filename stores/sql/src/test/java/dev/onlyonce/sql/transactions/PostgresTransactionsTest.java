package dev.onlyonce.sql.transactions;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onlyonce.Codec;
import dev.onlyonce.Key;
import dev.onlyonce.Outcome;
import dev.onlyonce.sql.SqlClock;
import dev.onlyonce.sql.TestDatabase;
import dev.onlyonce.sql.Ways;
import dev.onlyonce.store.State;
import java.sql.Connection;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@DisplayName("Transactions on PostgreSQL")
final class PostgresTransactionsTest extends TransactionsContract {
    PostgresTransactionsTest() {
        super(TestDatabase.POSTGRES);
    }

    @Override
    public String lockWait() {
        return "SHOW lock_timeout";
    }

    @ParameterizedTest
    @ValueSource(strings = {"COMMIT", "COMMIT; BEGIN", "ROLLBACK"})
    @DisplayName(
            "W1 D5 an action that ends its own transaction is not taken for executed, and its result is not recorded")
    void endedByItsAction(String end) {
        assertThatThrownBy(() -> transactions().execute(KEY, REQUEST, Codec.text(), connection -> {
                    try (Statement statement = connection.createStatement()) {
                        statement.execute(end);
                    }
                    return "done";
                }))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("did the action commit");
        assertThat(store().find(List.of(KEY.entryId())).get(0).filter(entry -> entry.state() == State.COMPLETED))
                .isEmpty();
        Outcome<String> retry = transactions().execute(KEY, REQUEST, Codec.text(), connection -> "again");
        assertThat(retry).isInstanceOf(end.equals("ROLLBACK") ? Outcome.Executed.class : Outcome.InFlight.class);
    }

    @Test
    @DisplayName("S2 a lease that is too long for the entry to be its own record is settled with a row in the audit")
    void longLease() {
        Transactions patient = Ways.transactions(
                store(), POLICY.toBuilder().lease(Duration.ofMinutes(10)).build());
        assertThat(patient.execute(KEY, REQUEST, Codec.text(), connection -> "done"))
                .isInstanceOf(Outcome.Executed.class);
        assertThat(SqlClock.number(dataSource(), "SELECT count(*) FROM onlyonce_audit"))
                .isEqualTo(1);
    }

    @Test
    @DisplayName("D16 a transaction with many keys does not use up the locks of the server")
    void locksOfManyKeys() throws Exception {
        try (Connection many = begin()) {
            for (int i = 0; i < 1_200; i++) {
                Key key = Key.of("tenant", "POST /payments", "key-" + i);
                assertThat(transactions().execute(many, key, REQUEST, Codec.text(), connection -> "done"))
                        .isInstanceOf(Outcome.Executed.class);
            }
            assertThat(SqlClock.number(dataSource(), "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'"))
                    .isLessThan(1_024);
            many.rollback();
        }
    }
}
