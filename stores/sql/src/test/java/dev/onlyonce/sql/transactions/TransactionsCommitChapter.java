package dev.onlyonce.sql.transactions;

import static dev.onlyonce.sql.transactions.TransactionsChapter.effect;
import static dev.onlyonce.sql.transactions.TransactionsChapter.insert;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onlyonce.Codec;
import dev.onlyonce.Onlyonce;
import dev.onlyonce.Outcome;
import dev.onlyonce.sql.Claims;
import dev.onlyonce.sql.LostCommits;
import dev.onlyonce.sql.SqlStore;
import dev.onlyonce.sql.Ways;
import dev.onlyonce.store.StoreUnavailable;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** Claim, effect, result and audit in one transaction: all of them or none. */
interface TransactionsCommitChapter extends TransactionsChapter {

    @Test
    @DisplayName("W1 claim, effect and result commit together, and a repeat is answered from the record")
    default void commitsTogether() throws Exception {
        try (Connection tx = begin()) {
            Outcome<String> outcome = transactions().execute(tx, KEY, REQUEST, Codec.text(), effect(1));
            assertThat(outcome)
                    .isInstanceOfSatisfying(
                            Outcome.Executed.class, e -> assertThat(e.value()).isEqualTo("done 1"));
            assertThat(effects()).isZero();
            tx.commit();
        }
        assertThat(effects()).isEqualTo(1);
        try (Connection tx = begin()) {
            Outcome<String> outcome = transactions().execute(tx, KEY, REQUEST, Codec.text(), effect(2));
            assertThat(outcome)
                    .isInstanceOfSatisfying(
                            Outcome.Replayed.class, r -> assertThat(r.value()).isEqualTo("done 1"));
            tx.commit();
        }
        assertThat(effects()).isEqualTo(1);
    }

    @Test
    @DisplayName("S2 the audit is in the caller's transaction: committed with it, and rolled back with it")
    default void audited() throws Exception {
        try (Connection tx = begin()) {
            transactions().execute(tx, KEY, REQUEST, Codec.text(), effect(1));
            tx.rollback();
        }
        assertThat(Claims.history(store(), KEY)).isEmpty();
        try (Connection tx = begin()) {
            assertThatThrownBy(() -> transactions().execute(tx, KEY, REQUEST, Codec.text(), c -> {
                        throw new IllegalStateException("declined");
                    }))
                    .isInstanceOf(IllegalStateException.class);
            tx.commit();
        }
        assertThat(Claims.history(store(), KEY)).isEmpty();
        transactions().execute(KEY, REQUEST, Codec.text(), effect(2));
        transactions().execute(KEY, REQUEST, Codec.text(), effect(3));
        String me;
        try (Onlyonce node = Onlyonce.builder(store()).build()) {
            me = node.registry().name();
        }
        assertThat(Claims.history(store(), KEY))
                .containsExactly(
                        "1 null>PROCESSING " + me + ": claimed",
                        "1 PROCESSING>COMPLETED " + me + ": completed in a transaction");
    }

    @Test
    @DisplayName("D5 a caller that rolls back leaves nothing, and the next request executes")
    default void rollBack() throws Exception {
        try (Connection tx = begin()) {
            transactions().execute(tx, KEY, REQUEST, Codec.text(), effect(1));
            tx.rollback();
        }
        assertThat(effects()).isZero();
        assertThat(store().find(List.of(KEY.entryId())).get(0)).isEmpty();
        assertThat(transactions().execute(KEY, REQUEST, Codec.text(), effect(2)))
                .isInstanceOf(Outcome.Executed.class);
        assertThat(effects()).isEqualTo(1);
    }

    @Test
    @DisplayName("D1 a process that dies between effect and commit leaves nothing, and the next request executes")
    default void crash() throws Exception {
        Connection tx = open();
        tx.setAutoCommit(false);
        transactions().execute(tx, KEY, REQUEST, Codec.text(), effect(1));
        kill(tx);
        Outcome<String> outcome = insist(effect(2));
        assertThat(outcome)
                .isInstanceOfSatisfying(
                        Outcome.Executed.class, e -> assertThat(e.value()).isEqualTo("done 2"));
        assertThat(effects()).isEqualTo(1);
    }

    @Test
    @DisplayName("D5 a failed action's exception passes by identity, its effect is undone, and the transaction goes on")
    default void failedAction() throws Exception {
        Exception mine = new Exception("declined");
        try (Connection tx = begin()) {
            insert(tx, 100);
            assertThatThrownBy(() -> transactions().execute(tx, KEY, REQUEST, Codec.text(), c -> {
                        insert(c, 1);
                        throw mine;
                    }))
                    .isSameAs(mine);
            insert(tx, 101);
            tx.commit();
        }
        assertThat(effects()).as("only what the caller did itself").isEqualTo(2);
        assertThat(store().find(List.of(KEY.entryId())).get(0)).isEmpty();
        assertThatThrownBy(() -> transactions().execute(KEY, REQUEST, Codec.text(), c -> {
                    insert(c, 1);
                    throw mine;
                }))
                .isSameAs(mine);
        assertThat(effects()).isEqualTo(2);
    }

    @Test
    @DisplayName("An action whose statement fails does not poison the caller's transaction either")
    default void failedStatement() throws Exception {
        try (Connection tx = begin()) {
            insert(tx, 100);
            assertThatThrownBy(() -> transactions().execute(tx, KEY, REQUEST, Codec.text(), c -> {
                        try (Statement statement = c.createStatement()) {
                            statement.execute("INSERT INTO no_such_table VALUES (1)");
                        }
                        return "never";
                    }))
                    .isInstanceOf(SQLException.class);
            insert(tx, 101);
            tx.commit();
        }
        assertThat(effects()).isEqualTo(2);
    }

    @Test
    @DisplayName("C5 a commit whose acknowledgement is lost is found to have happened")
    default void lostAcknowledgement() throws Exception {
        SqlStore faulty = SqlStore.open(new LostCommits(dataSource(), true));
        Outcome<String> outcome = Ways.transactions(faulty, POLICY).execute(KEY, REQUEST, Codec.text(), effect(1));
        assertThat(outcome).isInstanceOf(Outcome.Executed.class);
        assertThat(effects()).isEqualTo(1);
        assertThat(transactions().execute(KEY, REQUEST, Codec.text(), effect(2)))
                .isInstanceOf(Outcome.Replayed.class);
    }

    @Test
    @DisplayName("D5 a connection lost before the commit is found to have changed nothing")
    default void lostCommit() throws Exception {
        SqlStore faulty = SqlStore.open(new LostCommits(dataSource(), false));
        assertThatThrownBy(() -> Ways.transactions(faulty, POLICY).execute(KEY, REQUEST, Codec.text(), effect(1)))
                .isInstanceOf(StoreUnavailable.class);
        assertThat(effects()).isZero();
        assertThat(insist(effect(2))).isInstanceOf(Outcome.Executed.class);
    }

    @Test
    @DisplayName("A connection without a transaction is refused")
    default void autoCommit() throws Exception {
        try (Connection connection = open()) {
            assertThatThrownBy(() -> transactions().execute(connection, KEY, REQUEST, Codec.text(), effect(1)))
                    .isInstanceOf(IllegalArgumentException.class);
        }
        assertThat(effects()).isZero();
    }

    /** Ends the connection as a crash would, without a commit. */
    private static void kill(Connection connection) throws SQLException {
        connection.abort(Runnable::run);
        try {
            connection.close();
        } catch (SQLException e) {
            assertThat(connection.isClosed()).isTrue();
        }
    }
}
