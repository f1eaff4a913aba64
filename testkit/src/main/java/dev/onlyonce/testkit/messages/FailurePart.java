package dev.onlyonce.testkit.messages;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** Handlers that fail. */
interface FailurePart extends ConsumerPart {

    @Test
    @DisplayName("N4 a message that fails a few times is applied once; those behind it in its key wait, others do not")
    default void failsAFewTimes() {
        bench().send(
                        SentMessage.of("a", "1", "a1"),
                        SentMessage.of("a", "2", "a2"),
                        SentMessage.of("b", "3", "b1"),
                        SentMessage.of("b", "4", "b2"));
        AtomicInteger failures = new AtomicInteger();
        RunningConsumer consumer = bench().transactional(ConsumerBench.MANY_TRIES, (transaction, body) -> {
            EffectTable.write(transaction, body);
            // It fails until the others are applied: they must not wait for it.
            boolean othersWait = !bench().effects().contains("b2");
            if (body.equals("a1") && (othersWait || failures.incrementAndGet() <= 3)) {
                throw new IllegalStateException("not yet");
            }
        });
        ConsumerBench.until("all are applied", () -> consumer.applied() == 4);
        assertThat(consumer.retried()).isPositive();
        assertThat(consumer.dead()).isZero();
        List<String> effects = bench().effects();
        assertThat(effects).containsExactlyInAnyOrder("a1", "a2", "b1", "b2");
        if (bench().topic().isOrdered()) {
            assertThat(effects.indexOf("a1")).isLessThan(effects.indexOf("a2"));
            assertThat(effects.indexOf("b1")).isLessThan(effects.indexOf("b2"));
        }
    }

    @Test
    @DisplayName("N4 a message that fails in every try becomes a dead letter; then those behind it are applied")
    default void failsAlways() {
        bench().send(
                        SentMessage.of("a", "1", "a1"),
                        SentMessage.of("a", "2", "never"),
                        SentMessage.of("a", "3", "a3"),
                        SentMessage.of("b", "4", "b1"));
        List<String> calls = new CopyOnWriteArrayList<>();
        RunningConsumer consumer = bench().transactional(3, (transaction, body) -> {
            calls.add(body);
            EffectTable.write(transaction, body);
            if (body.equals("never")) {
                throw new IllegalStateException("out of\norder");
            }
        });
        DeadMessage dead = bench().dead(1).get(0);
        assertThat(dead.reason()).isEqualTo("tries_exhausted");
        assertThat(dead.about("tries")).isEqualTo("3");
        assertThat(dead.about("text")).contains("out of order");
        assertThat(dead.id()).isEqualTo("2");
        assertThat(dead.body()).isEqualTo(SentMessage.bytes("never"));
        ConsumerBench.until("the others are applied", () -> consumer.applied() == 3);
        assertThat(consumer.retried()).isEqualTo(2);
        assertThat(bench().effects()).containsExactlyInAnyOrder("a1", "a3", "b1");
        if (bench().topic().isOrdered()) {
            assertThat(calls.indexOf("a3")).isGreaterThan(calls.lastIndexOf("never"));
        }
    }

    @Test
    @DisplayName("N4 an Error in a handler fails its message, and the consumer goes on")
    default void error() {
        bench().send(SentMessage.of("a", "1", "broken"), SentMessage.of("b", "2", "sound"));
        RunningConsumer consumer = bench().transactional(2, (transaction, body) -> {
            EffectTable.write(transaction, body);
            if (body.equals("broken")) {
                throw new AssertionError("a bug");
            }
        });
        assertThat(bench().dead(1).get(0).reason()).isEqualTo("tries_exhausted");
        ConsumerBench.until("the other is applied", () -> consumer.applied() == 1);
        bench().send(SentMessage.of("a", "3", "next"));
        ConsumerBench.until("the next is applied", () -> consumer.applied() == 2);
    }
}
