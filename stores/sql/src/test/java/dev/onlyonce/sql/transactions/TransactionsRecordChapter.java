package dev.onlyonce.sql.transactions;

import static dev.onlyonce.sql.transactions.TransactionsChapter.claim;
import static dev.onlyonce.sql.transactions.TransactionsChapter.effect;
import static dev.onlyonce.sql.transactions.TransactionsChapter.insert;
import static org.assertj.core.api.Assertions.assertThat;

import dev.onlyonce.Codec;
import dev.onlyonce.Key;
import dev.onlyonce.Outcome;
import dev.onlyonce.fingerprint.Fingerprint;
import dev.onlyonce.sql.Ways;
import dev.onlyonce.store.Failure;
import dev.onlyonce.store.State;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What a transaction finds on record, and leaves there. */
interface TransactionsRecordChapter extends TransactionsChapter {

    @Test
    @DisplayName("The store, and so the leased way, sees what a transaction has recorded")
    default void seenByTheStore() throws Exception {
        Outcome<String> outcome = transactions().execute(KEY, REQUEST, Codec.text(), effect(1));
        Instant expires = ((Outcome.Executed<String>) outcome).expiresAt();
        assertThat(store().find(List.of(KEY.entryId())).get(0)).hasValueSatisfying(entry -> {
            assertThat(entry.state()).isEqualTo(State.COMPLETED);
            assertThat(entry.attempt()).isEqualTo(1);
            assertThat(entry.expiresAt()).isEqualTo(expires);
            assertThat(entry.retentionLeft()).isBetween(Duration.ofHours(23), Duration.ofHours(24));
        });
    }

    @Test
    @DisplayName("F1 another request, operation or a live claim is refused, and nothing runs")
    default void refusals() throws Exception {
        Fingerprint other = Fingerprint.of("other".getBytes(StandardCharsets.UTF_8));
        transactions().execute(KEY, REQUEST, Codec.text(), effect(1));
        assertThat(transactions().execute(KEY, other, Codec.text(), effect(2)))
                .isEqualTo(new Outcome.Mismatched<>(Outcome.Mismatched.Reason.REQUEST));
        Key otherOperation = Key.of("tenant", "POST /refunds", "key-1");
        assertThat(transactions().execute(otherOperation, REQUEST, Codec.text(), effect(2)))
                .isEqualTo(new Outcome.Mismatched<>(Outcome.Mismatched.Reason.OPERATION));
        Key live = Key.of("tenant", "POST /payments", "live");
        store().claim(List.of(claim(live)));
        assertThat(transactions().execute(live, REQUEST, Codec.text(), effect(2)))
                .isInstanceOf(Outcome.InFlight.class);
        assertThat(transactions().execute(live, other, Codec.text(), effect(2))).isInstanceOf(Outcome.Mismatched.class);
        assertThat(effects()).isEqualTo(1);
    }

    @Test
    @DisplayName("A retryable entry is taken with its next attempt")
    default void takesRetryable() throws Exception {
        release();
        assertThat(transactions().execute(KEY, REQUEST, Codec.text(), effect(1)))
                .isInstanceOf(Outcome.Executed.class);
        assertThat(store().find(List.of(KEY.entryId())).get(0))
                .hasValueSatisfying(entry -> assertThat(entry.attempt()).isEqualTo(2));
    }

    @Test
    @DisplayName("R5 a result over the limit is delivered, and its repeat is told so and never executes")
    default void largeResult() throws Exception {
        Transactions small =
                Ways.transactions(store(), POLICY.toBuilder().resultBytesMax(3).build());
        assertThat(small.execute(KEY, REQUEST, Codec.text(), effect(1))).isInstanceOf(Outcome.Executed.class);
        assertThat(small.execute(KEY, REQUEST, Codec.text(), effect(2)))
                .isInstanceOfSatisfying(
                        Outcome.Failed.class,
                        f -> assertThat(f.failure().code()).isEqualTo(Failure.RESULT_NOT_STORED));
        assertThat(effects()).isEqualTo(1);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    @DisplayName("W1 D5 an action whose statement commits by itself is not taken for executed, nor executed again")
    default void implicitCommit(boolean callers) throws Exception {
        TransactionalAction<String, SQLException> action = connection -> {
            insert(connection, 1);
            try (Statement statement = connection.createStatement()) {
                statement.execute("CREATE TABLE later_" + callers + " (id INT)");
            }
            insert(connection, 2);
            return "done";
        };
        boolean executed;
        try (Connection caller = begin()) {
            if (callers) {
                transactions().execute(caller, KEY, REQUEST, Codec.text(), action);
                caller.commit();
            } else {
                caller.rollback();
                transactions().execute(KEY, REQUEST, Codec.text(), action);
            }
            executed = true;
        } catch (RuntimeException e) {
            executed = false;
        }
        assertThat(effects()).isEqualTo(executed ? 2 : 1);
        Outcome<String> next = transactions().execute(KEY, REQUEST, Codec.text(), effect(3));
        assertThat(next).isInstanceOf(executed ? Outcome.Replayed.class : Outcome.InFlight.class);
    }
}
