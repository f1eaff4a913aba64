package dev.onlyonce.sql.outbox;

import static dev.onlyonce.sql.outbox.OutboxChapter.bytes;
import static dev.onlyonce.sql.outbox.OutboxChapter.key;
import static org.assertj.core.api.Assertions.assertThat;

import dev.onlyonce.Codec;
import dev.onlyonce.Outcome;
import dev.onlyonce.store.State;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.EnumSet;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** One row's trouble, whatever it is, stays its own. */
interface OutboxNeighboursChapter extends OutboxChapter {
    /** The row that is in trouble. */
    int BAD = 3;

    /** What goes wrong with one row of many. */
    enum Trouble {
        UPDATE_REFUSED,
        UPDATE_ERROR,
        UPDATE_INTERRUPTED,
        UPDATE_INTERRUPTS,
        CALL_ERROR,
        CALL_INTERRUPTED,
        LIFETIME_ERROR,
        ANSWER_NOT_STORABLE,
        NO_RESULT
    }

    /** A handler with one bad row. */
    final class Troubled extends Provider {
        private final Trouble trouble;

        Troubled(Trouble trouble) {
            this.trouble = trouble;
        }

        private boolean isBad(OutboxRow row) {
            return row.key().equals(key(BAD));
        }

        @Override
        public Delivery deliver(OutboxRow row) {
            if (isBad(row)) {
                switch (trouble) {
                    case CALL_ERROR -> throw new StackOverflowError();
                    case CALL_INTERRUPTED -> Thread.currentThread().interrupt();
                    case LIFETIME_ERROR -> throw new IllegalStateException("reset");
                    case ANSWER_NOT_STORABLE -> {
                        return new Delivery.Delivered("ch\0", bytes("charged"));
                    }
                    case NO_RESULT -> {
                        return new Delivery.Delivered("ch", nothing());
                    }
                    default -> {}
                }
            }
            return super.deliver(row);
        }

        @SuppressWarnings("NullAway")
        private static byte[] nothing() {
            return null;
        }

        @Override
        public Duration keyLifetime() {
            if (trouble == Trouble.LIFETIME_ERROR) {
                throw new StackOverflowError();
            }
            return super.keyLifetime();
        }

        @Override
        public void settled(Connection transaction, OutboxRow row, Delivery delivery) throws SQLException {
            super.settled(transaction, row, delivery);
            if (isBad(row)) {
                switch (trouble) {
                    case UPDATE_REFUSED -> refuse(transaction);
                    case UPDATE_ERROR -> throw new StackOverflowError();
                    case UPDATE_INTERRUPTED -> Thread.currentThread().interrupt();
                    case UPDATE_INTERRUPTS -> {
                        Thread.currentThread().interrupt();
                        throw new IllegalStateException("interrupted");
                    }
                    default -> {}
                }
            }
        }

        /** An error that the application's own trigger or procedure may raise. */
        private static void refuse(Connection transaction) throws SQLException {
            String refusal = switch (transaction.getMetaData().getDatabaseProductName()) {
                case "PostgreSQL" -> "DO $$ BEGIN RAISE EXCEPTION 'not today'; END $$";
                case "SQLite" -> "SELECT json('not today')";
                default -> "SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'not today'";
            };
            try (Statement statement = transaction.createStatement()) {
                statement.execute(refusal);
            }
        }
    }

    @ParameterizedTest
    @EnumSource(Trouble.class)
    @DisplayName("D11 W4 one row's trouble costs no other row its delivery, neither of its batch nor accepted later")
    default void oneBadRow(Trouble trouble) throws Exception {
        Outbox outbox = builder().handler("charge", new Troubled(trouble)).build();
        for (int i = 1; i <= 5; i++) {
            accept(outbox, key(i));
        }
        try {
            assertThat(outbox.deliverDue()).isEqualTo(5);
        } finally {
            // Was it a row that interrupted us?
            Thread.interrupted();
        }
        accept(outbox, key(6));
        outbox.deliverDue();
        for (int i = 1; i <= 6; i++) {
            if (i != BAD) {
                assertThat(entry(key(i)).state()).as("row %s", i).isEqualTo(State.COMPLETED);
                assertThat(payment(key(i))).isEqualTo("paid");
            }
        }
        assertThat(entry(key(BAD)).state()).isIn(EnumSet.of(State.UNKNOWN, State.COMPLETED));
    }

    @ParameterizedTest
    @EnumSource(
            value = Trouble.class,
            names = {"UPDATE_REFUSED", "UPDATE_ERROR", "UPDATE_INTERRUPTED", "UPDATE_INTERRUPTS", "CALL_ERROR"})
    @DisplayName("D11 W4 one row's trouble does not stop the workers of its node")
    default void workersGoOn(Trouble trouble) throws Exception {
        Outbox outbox = builder().handler("charge", new Troubled(trouble)).build();
        outbox.start();
        try {
            accept(outbox, key(BAD));
            assertThat(outbox.await(key(BAD), REQUEST, Codec.bytes(), Duration.ofSeconds(60)))
                    .isPresent();
            for (int i = 4; i <= 6; i++) {
                accept(outbox, key(i));
                assertThat(outbox.await(key(i), REQUEST, Codec.bytes(), Duration.ofSeconds(60)))
                        .hasValueSatisfying(o -> assertThat(o).isInstanceOf(Outcome.Replayed.class));
            }
        } finally {
            outbox.close();
        }
    }

    @Test
    @DisplayName("D11 W4 updates that swallow the database's error cost no other row its delivery, and are put off")
    default void swallowedErrors() throws Exception {
        Provider swallowing = new Provider() {
            @Override
            public void settled(Connection transaction, OutboxRow row, Delivery delivery) throws SQLException {
                super.settled(transaction, row, delivery);
                if (row.key().equals(key(1)) || row.key().equals(key(2))) {
                    try {
                        OutboxChapter.insertPayment(transaction, row.key());
                    } catch (SQLException e) {
                        assertThat(e.getMessage()).as("it is there already").isNotNull();
                    }
                }
            }
        };
        Outbox outbox = builder().handler("charge", swallowing).build();
        for (int i = 1; i <= 5; i++) {
            accept(outbox, key(i));
        }
        assertThat(outbox.deliverDue()).isEqualTo(5);
        for (int i = 3; i <= 5; i++) {
            assertThat(entry(key(i)).state()).as("row %s", i).isEqualTo(State.COMPLETED);
        }
        for (int i = 1; i <= 2; i++) {
            assertThat(entry(key(i)).state()).isIn(EnumSet.of(State.UNKNOWN, State.COMPLETED));
        }
    }

    @Test
    @DisplayName("W3 an update that was refused is tried again, without another call, and completes")
    default void refusedThenTaken() throws Exception {
        Outbox bad = builder()
                .handler("charge", new Troubled(Trouble.UPDATE_REFUSED))
                .build();
        accept(bad, key(BAD));
        bad.deliverDue();
        assertThat(entry(key(BAD)).state()).isEqualTo(State.UNKNOWN);
        assertThat(payment(key(BAD))).isEqualTo("accepted");
        clock().advance(Duration.ofSeconds(2));
        Outbox repaired = outbox();
        assertThat(repaired.deliverDue()).isEqualTo(1);
        assertThat(entry(key(BAD)).state()).isEqualTo(State.COMPLETED);
        assertThat(provider().keys).isEmpty();
    }
}
