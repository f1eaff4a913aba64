package dev.onlyonce.sql.outbox;

import static dev.onlyonce.sql.outbox.OutboxChapter.inFlight;
import static dev.onlyonce.sql.outbox.OutboxChapter.key;
import static dev.onlyonce.sql.outbox.OutboxChapter.replayed;
import static org.assertj.core.api.Assertions.assertThat;

import dev.onlyonce.Event;
import dev.onlyonce.Outcome;
import dev.onlyonce.store.Failure;
import dev.onlyonce.store.State;
import java.sql.Connection;
import java.sql.ResultSet;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.Set;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** Deliveries that fail or whose end is not known: refusals, later tries, lost answers, keys that are too old. */
interface OutboxFailureChapter extends OutboxChapter {

    @Test
    @DisplayName("D7 a refusal is the result: completed, not tried again")
    default void refused() throws Exception {
        Outbox outbox = outbox();
        accept(outbox, KEY);
        provider().answer = Provider.Answer.REFUSE;
        outbox.deliverDue();
        assertThat(entry(KEY).state()).isEqualTo(State.COMPLETED);
        assertThat(replayed(accept(outbox, KEY))).isEqualTo("declined");
        assertThat(payment(KEY)).isEqualTo("declined");
        assertThat(rows()).isZero();
    }

    @Test
    @DisplayName("W4 W2 an unreachable provider: backs off, sends the same key each time, and fails after the last try")
    default void backsOffAndFails() throws Exception {
        Outbox outbox = outbox();
        accept(outbox, KEY);
        provider().answer = Provider.Answer.UNREACHABLE;
        assertThat(outbox.deliverDue()).isEqualTo(1);
        assertThat(entry(KEY).state()).isEqualTo(State.RETRYABLE);
        assertThat(accept(outbox, KEY)).isEqualTo(inFlight());
        assertThat(outbox.deliverDue()).isZero();
        for (int seconds : new int[] {2, 4, 8}) {
            clock().advance(Duration.ofSeconds(seconds).dividedBy(2).minusMillis(1));
            assertThat(outbox.deliverDue())
                    .as("not before half of %s s", seconds)
                    .isZero();
            clock().advance(Duration.ofSeconds(seconds).dividedBy(2).plusMillis(1));
            assertThat(outbox.deliverDue()).as("after %s s", seconds).isEqualTo(1);
        }
        assertThat(entry(KEY).state()).isEqualTo(State.FAILED);
        assertThat(((Outcome.Failed<byte[]>) accept(outbox, KEY).outcome()).failure())
                .isEqualTo(new Failure(Failure.DELIVERY_FAILED, "connection refused"));
        assertThat(payment(KEY)).isEqualTo("failed");
        assertThat(rows()).isZero();
        assertThat(provider().keys).hasSize(4);
        assertThat(Set.copyOf(provider().keys)).hasSize(1);
        assertThat(provider().charges).isEmpty();
        assertThat(events()).anyMatch(e -> e instanceof Event.Delivery d && d.fate() == Event.Delivery.Fate.DEAD);
    }

    @Test
    @DisplayName("W4 rows that failed together do not come back together")
    default void jitter() throws Exception {
        Outbox outbox = outbox();
        for (int i = 1; i <= 8; i++) {
            accept(outbox, key(i));
        }
        provider().answer = Provider.Answer.UNREACHABLE;
        assertThat(outbox.deliverDue()).isEqualTo(8);
        try (Connection connection = dataSource().getConnection();
                ResultSet times = connection
                        .createStatement()
                        .executeQuery("SELECT COUNT(DISTINCT due_at) FROM onlyonce_outbox")) {
            assertThat(times.next()).isTrue();
            assertThat(times.getInt(1)).isGreaterThan(4);
        }
    }

    @Test
    @DisplayName("D4 W2 a lost answer is unknown, and is asked for again with the same key")
    default void lostAnswer() throws Exception {
        Outbox outbox = outbox();
        accept(outbox, KEY);
        provider().answer = Provider.Answer.LOSE_ANSWER;
        outbox.deliverDue();
        assertThat(entry(KEY).state()).isEqualTo(State.UNKNOWN);
        assertThat(accept(outbox, KEY).outcome()).isInstanceOf(Outcome.Unknown.class);
        provider().answer = Provider.Answer.CHARGE;
        clock().advance(Duration.ofSeconds(2));
        assertThat(outbox.deliverDue()).isEqualTo(1);
        assertThat(entry(KEY).state()).isEqualTo(State.COMPLETED);
        assertThat(payment(KEY)).isEqualTo("paid");
        assertThat(provider().charges).hasSize(1);
        assertThat(Set.copyOf(provider().keys)).hasSize(1);
    }

    @Test
    @DisplayName(
            "D4 that the second call had no effect says nothing about the first: it stays unknown, and ends as a dead letter")
    default void unreachableAfterDoubt() throws Exception {
        Outbox outbox = outbox();
        accept(outbox, KEY);
        provider().answer = Provider.Answer.LOSE_ANSWER;
        outbox.deliverDue();
        provider().answer = Provider.Answer.UNREACHABLE;
        for (int i = 0; i < 3; i++) {
            clock().advance(Duration.ofSeconds(60));
            assertThat(outbox.deliverDue()).isEqualTo(1);
            assertThat(entry(KEY).state()).isEqualTo(State.UNKNOWN);
        }
        assertThat(outbox.listDead(0, 10)).hasSize(1);
        int calls = provider().keys.size();
        clock().advance(Duration.ofSeconds(60));
        outbox.deliverDue();
        assertThat(provider().keys).hasSize(calls);
        assertThat(entry(KEY).state()).isEqualTo(State.UNKNOWN);
    }

    @Test
    @DisplayName(
            "W2 after the provider's key lifetime nothing is sent again: a dead letter for the reconciler or an operator")
    default void keyLifetimeOver() throws Exception {
        provider().lifetime = Duration.ofMinutes(2);
        Outbox outbox = outbox();
        accept(outbox, KEY);
        provider().answer = Provider.Answer.LOSE_ANSWER;
        outbox.deliverDue();
        clock().advance(Duration.ofMinutes(2));
        outbox.deliverDue();
        assertThat(provider().keys).hasSize(1);
        assertThat(entry(KEY).state()).isEqualTo(State.UNKNOWN);
        OutboxRow dead = outbox.listDead(0, 10).get(0);
        assertThat(dead.key()).isEqualTo(KEY);
        assertThat(dead.lastError()).contains("reset after");

        assertThat(outbox.retry(dead.id(), "operator", "try")).isTrue();
        outbox.deliverDue();
        assertThat(provider().keys)
                .as("an operator's retry does not send an old key either")
                .hasSize(1);
        assertThat(outbox.listDead(0, 10)).hasSize(1);
    }

    @Test
    @DisplayName("W2 a key whose lifetime would end while the call is under way is not sent again")
    default void keyLifetimeEndsDuringTheCall() throws Exception {
        provider().lifetime = Duration.ofMinutes(2);
        Outbox outbox = outbox();
        accept(outbox, KEY);
        provider().answer = Provider.Answer.LOSE_ANSWER;
        outbox.deliverDue();
        clock().advance(Duration.ofMinutes(2).minus(LEASE));
        outbox.deliverDue();
        assertThat(provider().keys).hasSize(1);
        assertThat(outbox.listDead(0, 10)).hasSize(1);
    }

    @Test
    @DisplayName("W2 a provider that knows its keys for ever is asked again")
    default void keyLivesForEver() throws Exception {
        provider().lifetime = ChronoUnit.FOREVER.getDuration();
        Outbox outbox = outbox();
        accept(outbox, KEY);
        provider().answer = Provider.Answer.LOSE_ANSWER;
        outbox.deliverDue();
        provider().answer = Provider.Answer.CHARGE;
        clock().advance(Duration.ofMinutes(1));
        outbox.deliverDue();
        assertThat(entry(KEY).state()).isEqualTo(State.COMPLETED);
    }

    @Test
    @DisplayName("A business update that fails holds up only its own row, is tried again, and the call is not")
    default void updateFails() throws Exception {
        Outbox outbox = outbox();
        for (int i = 1; i <= 5; i++) {
            accept(outbox, key(i));
        }
        provider().failing.add(3);
        assertThat(outbox.deliverDue()).isEqualTo(5);
        for (int i = 1; i <= 5; i++) {
            assertThat(entry(key(i)).state()).isEqualTo(i == 3 ? State.UNKNOWN : State.COMPLETED);
            assertThat(payment(key(i))).isEqualTo(i == 3 ? "accepted" : "paid");
        }
        provider().failing.clear();
        clock().advance(Duration.ofSeconds(2));
        assertThat(outbox.deliverDue()).isEqualTo(1);
        assertThat(entry(key(3)).state()).isEqualTo(State.COMPLETED);
        assertThat(payment(key(3))).isEqualTo("paid");
        assertThat(provider().keys).hasSize(5);
    }
}
