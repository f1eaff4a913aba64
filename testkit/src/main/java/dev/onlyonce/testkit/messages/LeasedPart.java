package dev.onlyonce.testkit.messages;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onlyonce.NotExecuted;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** Handlers with effects outside the database. */
interface LeasedPart extends ConsumerPart {

    @Test
    @DisplayName(
            "N4 an effect outside the database is tried again if nothing happened; an unknown outcome blocks nobody")
    default void unknown() {
        bench().send(
                        SentMessage.of("a", "1", "busy"),
                        SentMessage.of("a", "2", "unknown"),
                        SentMessage.of("a", "3", "fine"));
        List<String> calls = new CopyOnWriteArrayList<>();
        AtomicBoolean free = new AtomicBoolean();
        RunningConsumer consumer = bench().leased(ConsumerBench.MANY_TRIES, (none, body) -> {
            calls.add(body);
            if (body.equals("busy") && !free.getAndSet(true)) {
                throw new NotExecuted("the line was busy");
            }
            if (body.equals("unknown")) {
                throw new IllegalStateException("the line went dead");
            }
        });
        ConsumerBench.until("the others are applied", () -> consumer.applied() == 2);
        bench().send(SentMessage.of("a", "3", "fine"), SentMessage.of("a", "3", "other"));
        assertThat(bench().dead(2))
                .extracting(DeadMessage::reason)
                .containsExactlyInAnyOrder("outcome_unknown", "mismatch");
        ConsumerBench.until("the last is recognised", () -> consumer.repeated() >= 1);
        if (bench().topic().isOrdered()) {
            assertThat(calls).containsExactly("busy", "busy", "unknown", "fine");
        } else {
            assertThat(calls).containsExactlyInAnyOrder("busy", "busy", "unknown", "fine");
        }
    }

    @Test
    @DisplayName("N4 an effect outside the database is made by one of two consumers that have its message at once")
    default void twoLeased() {
        List<SentMessage> messages = new ArrayList<>();
        for (SentMessage message : RepeatPart.several(50)) {
            messages.add(message);
            messages.add(message.under("other-" + message.key()));
        }
        List<String> calls = new CopyOnWriteArrayList<>();
        RunningConsumer one = bench().leased(1, (none, body) -> calls.add(body));
        RunningConsumer other = bench().leased(1, (none, body) -> calls.add(body));
        bench().topic().send(messages);
        ConsumerBench.until(
                "both copies of all are done",
                () -> one.applied() + one.repeated() + other.applied() + other.repeated() >= 100);
        assertThat(calls).hasSize(50).doesNotHaveDuplicates();
    }

    @Test
    @DisplayName("N4 what cannot be decoded becomes a dead letter, and no effect outside the database is tried")
    default void undecodable() {
        bench().send(BadInput.BODY.message("a"), SentMessage.of("a", "2", "fine"));
        List<String> calls = new CopyOnWriteArrayList<>();
        RunningConsumer consumer = bench().leased(ConsumerBench.MANY_TRIES, (none, body) -> calls.add(body));
        assertThat(bench().dead(1).get(0).reason()).isEqualTo("undecodable");
        ConsumerBench.until("its neighbour is applied", () -> consumer.applied() == 1);
        assertThat(calls).containsExactly("fine");
    }
}
