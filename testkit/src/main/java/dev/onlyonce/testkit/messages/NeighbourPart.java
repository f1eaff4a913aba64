package dev.onlyonce.testkit.messages;

import static org.assertj.core.api.Assertions.assertThat;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Messages that could keep their neighbours waiting. */
interface NeighbourPart extends ConsumerPart {
    /** How many messages with other keys a test sends. */
    int NEIGHBOURS = 20;

    @Test
    @DisplayName("N7 a message whose effect fails at the commit becomes a dead letter, and its neighbours are applied")
    default void failsAtCommit() throws SQLException {
        try (Connection connection = bench().database().getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute("CREATE TABLE account (id varchar(50) PRIMARY KEY)");
            statement.execute(
                    "CREATE TABLE booking (account varchar(50) REFERENCES account DEFERRABLE INITIALLY DEFERRED)");
        }
        send(SentMessage.of("a", "bad", "bad"), SentMessage.of("a", "next", "next"));
        RunningConsumer consumer = bench().transactional(3, (transaction, body) -> {
            EffectTable.write(transaction, body);
            if (body.equals("bad") && transaction != null) {
                try (Statement booking = transaction.createStatement()) {
                    booking.execute("INSERT INTO booking VALUES ('nobody')");
                }
            }
        });
        DeadMessage dead = bench().dead(1).get(0);
        assertThat(dead.reason()).isEqualTo("tries_exhausted");
        assertThat(dead.id()).isEqualTo("bad");
        ConsumerBench.until("the others are applied", () -> consumer.applied() == NEIGHBOURS + 1);
        assertThat(bench().effects()).contains("next").doesNotContain("bad").doesNotHaveDuplicates();
    }

    @Test
    @DisplayName("N7 a message that somebody else holds in an open transaction waits alone, and is not given up")
    default void locked() throws SQLException {
        bench().send(SentMessage.of("a", "held", "held"));
        // The first try is the last: a try that the lock cost would show.
        RunningConsumer consumer = bench().transactional(1, EffectTable::write);
        ConsumerBench.until("it is applied", () -> consumer.applied() == 1);
        try (Connection other = bench().database().getConnection()) {
            other.setAutoCommit(false);
            // Whoever comes now waits for what becomes of this transaction.
            try (PreparedStatement delete =
                    other.prepareStatement("DELETE FROM onlyonce_entry WHERE operation = 'inbox'")) {
                assertThat(delete.executeUpdate()).isEqualTo(1);
            }
            send(SentMessage.of("a", "held", "held"), SentMessage.of("a", "next", "next"));
            ConsumerBench.until("the others are applied", () -> consumer.applied() >= NEIGHBOURS + 1);
            send(2, SentMessage.of("b", "later", "later"));
            ConsumerBench.until(
                    "and those that come later", () -> bench().effects().contains("later"));
            assertThat(consumer.repeated()).isZero();
            other.rollback();
        }
        ConsumerBench.until("it is recognised", () -> consumer.repeated() == 1);
        ConsumerBench.until("all are applied", () -> consumer.applied() == 2 * NEIGHBOURS + 3);
        assertThat(consumer.dead()).isZero();
        assertThat(bench().effects()).doesNotHaveDuplicates();
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    @DisplayName("N7 a handler that hangs is interrupted, its message is given up, and its neighbours are applied")
    default void hangs(boolean leased) {
        CountDownLatch never = new CountDownLatch(1);
        hangs(leased, leased ? "outcome_unknown" : "tries_exhausted", never::await);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    @DisplayName(
            "N7 a handler that cannot be interrupted loses its thread and its message, and its neighbours are applied")
    default void cannotBeInterrupted(boolean leased) {
        CountDownLatch end = new CountDownLatch(1);
        try {
            hangs(leased, leased ? "outcome_unknown" : "handler_hung", () -> {
                while (end.getCount() > 0) {
                    LockSupport.parkNanos(1_000_000);
                    Thread.interrupted();
                }
            });
        } finally {
            end.countDown();
        }
    }

    /** Does not return. */
    @FunctionalInterface
    interface Hanging {
        void hang() throws InterruptedException;
    }

    private void hangs(boolean leased, String reason, Hanging hanging) {
        List<String> done = new CopyOnWriteArrayList<>();
        RunningConsumer consumer = bench().quick(leased, 2, (transaction, body) -> {
            if (body.equals("bad")) {
                hanging.hang();
            }
            if (transaction != null) {
                EffectTable.write(transaction, body);
            }
            done.add(body);
        });
        send(SentMessage.of("a", "bad", "bad"), SentMessage.of("a", "next", "next"));
        DeadMessage dead = bench().dead(1).get(0);
        assertThat(dead.reason()).isEqualTo(reason);
        assertThat(dead.id()).isEqualTo("bad");
        ConsumerBench.until("the others are applied", () -> consumer.applied() == NEIGHBOURS + 1);
        assertThat(done).contains("next").doesNotContain("bad");
        consumer.close();
        RunningConsumer second = bench().quick(leased, 2, (transaction, body) -> done.add(body));
        bench().send(SentMessage.of("b", "last", "last"));
        ConsumerBench.until("the next consumer goes on", () -> second.applied() == 1);
    }

    @Test
    @DisplayName(
            "N7 a transactional handler that waits for a lock of somebody else's is ended, and its neighbours are applied")
    default void waitsForALock() throws SQLException {
        try (Connection other = bench().database().getConnection();
                Statement statement = other.createStatement()) {
            statement.execute("CREATE TABLE account (id varchar(50) PRIMARY KEY, amount integer)");
            statement.execute("INSERT INTO account VALUES ('a', 1)");
            other.setAutoCommit(false);
            statement.execute("UPDATE account SET amount = 2");
            RunningConsumer consumer = bench().quick(false, 2, (transaction, body) -> {
                if (body.equals("bad") && transaction != null) {
                    try (Statement update = transaction.createStatement()) {
                        update.execute("UPDATE account SET amount = 3");
                    }
                }
                EffectTable.write(transaction, body);
            });
            send(SentMessage.of("a", "bad", "bad"), SentMessage.of("a", "next", "next"));
            assertThat(bench().dead(1).get(0).reason()).isEqualTo("tries_exhausted");
            ConsumerBench.until("the others are applied", () -> consumer.applied() == NEIGHBOURS + 1);
            other.rollback();
        }
        assertThat(bench().effects()).contains("next").doesNotContain("bad").doesNotHaveDuplicates();
    }

    private void send(SentMessage... messages) {
        send(1, messages);
    }

    private void send(int round, SentMessage... messages) {
        List<SentMessage> all = new ArrayList<>(List.of(messages));
        for (int i = 0; i < NEIGHBOURS; i++) {
            String name = "n" + round + "-" + i;
            all.add(SentMessage.of(name, name, name));
        }
        bench().topic().send(all);
    }
}
