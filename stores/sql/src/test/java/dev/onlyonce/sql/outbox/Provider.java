package dev.onlyonce.sql.outbox;

import static dev.onlyonce.sql.outbox.OutboxChapter.bytes;
import static org.assertj.core.api.Assertions.assertThat;

import dev.onlyonce.NotExecuted;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;

/** Charges once for each downstream key, and remembers what it answered. */
class Provider implements DeliveryHandler {
    final Map<String, Integer> charges = new ConcurrentHashMap<>();
    final List<String> keys = new ArrayList<>();
    final Set<Integer> failing = ConcurrentHashMap.newKeySet();
    volatile Duration lifetime = Duration.ofHours(1);
    volatile Answer answer = Answer.CHARGE;
    final CountDownLatch died = new CountDownLatch(1);

    /** What it does with the next calls. */
    enum Answer {
        CHARGE,
        REFUSE,
        UNREACHABLE,
        LOSE_ANSWER,
        LOSE_REQUEST,
        DIE_BEFORE,
        DIE_AFTER,
        DIE_RECORDING
    }

    @Override
    public Delivery deliver(OutboxRow row) {
        synchronized (keys) {
            keys.add(row.downstreamKey());
        }
        switch (answer) {
            case UNREACHABLE -> throw new NotExecuted("connection refused");
            case LOSE_REQUEST -> throw new IllegalStateException("reset before");
            case DIE_BEFORE -> hang();
            case REFUSE -> {
                return new Delivery.Refused("declined-1", bytes("declined"));
            }
            default -> {}
        }
        charges.merge(row.downstreamKey(), 1, (a, b) -> a);
        if (answer == Answer.LOSE_ANSWER) {
            throw new IllegalStateException("reset after");
        }
        if (answer == Answer.DIE_AFTER) {
            hang();
        }
        return new Delivery.Delivered("ch-" + row.downstreamKey(), bytes("charged"));
    }

    @Override
    public Duration keyLifetime() {
        return lifetime;
    }

    @Override
    public void settled(Connection transaction, OutboxRow row, Delivery delivery) throws SQLException {
        if (answer == Answer.DIE_RECORDING) {
            // The database notices that nobody is there, and rolls back.
            transaction.close();
            throw new SQLException("the process is no more", "08006");
        }
        String state = delivery instanceof Delivery.Delivered
                ? "paid"
                : delivery instanceof Delivery.Refused ? "declined" : "failed";
        try (PreparedStatement update = transaction.prepareStatement("UPDATE payment SET state = ? WHERE id = ?")) {
            update.setString(1, state);
            update.setString(2, row.key().value());
            assertThat(update.executeUpdate()).isEqualTo(1);
        }
        if (failing.contains(Integer.parseInt(row.key().value().substring(4)))) {
            throw new IllegalStateException("the business says no");
        }
    }

    /** The process is no more: nothing after it runs, until the test interrupts the thread. */
    private void hang() {
        died.countDown();
        try {
            new CountDownLatch(1).await();
        } catch (InterruptedException e) {
            throw new IllegalStateException("the end of the test", e);
        }
    }
}
