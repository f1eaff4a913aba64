package dev.onlyonce.testkit.messages;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Messages that no handler may see. */
interface BadInputPart extends ConsumerPart {

    @ParameterizedTest
    @EnumSource
    @DisplayName("N4 bad input becomes a dead letter at once, with its reason, and its neighbours are applied")
    default void badInput(BadInput bad) {
        SentMessage message = bad.message("k");
        if (bench().topic().unsendable().contains(bad)) {
            assertThatThrownBy(() -> bench().send(message)).isInstanceOf(RuntimeException.class);
            return;
        }
        bench().send(SentMessage.of("k", "before", "before"), message, SentMessage.of("k", "after", "after"));
        RunningConsumer consumer = bench().transactional(ConsumerBench.MANY_TRIES, EffectTable::write);
        DeadMessage dead = bench().dead(1).get(0);
        assertThat(dead.reason()).isEqualTo(bad.reason());
        assertThat(dead.about("text")).isNotEmpty().doesNotContainPattern("\\p{Cntrl}");
        assertThat(dead.about("group")).isNotEmpty();
        assertThat(dead.about("topic")).isNotEmpty();
        assertThat(dead.body()).isEqualTo(message.body());
        ConsumerBench.until("its neighbours are applied", () -> consumer.applied() == 2);
        assertThat(consumer.retried()).isZero();
        ConsumerBench.until("it is counted", () -> consumer.dead() == 1);
        assertThat(bench().effects()).containsExactlyInAnyOrder("before", "after");
    }

    @Test
    @DisplayName(
            "N4 a body that is larger than allowed becomes a dead letter, and one of just the allowed size is applied")
    default void largeBody() {
        String allowed = "x".repeat(ConsumerSetup.BODY_BYTES_MAX);
        bench().send(
                        SentMessage.of("k", "large", "x".repeat(bench().topic().bodyBytesMax())),
                        SentMessage.of("k", "larger", allowed + "x"),
                        SentMessage.of("k", "allowed", allowed));
        RunningConsumer consumer = bench().transactional(1, EffectTable::write);
        List<DeadMessage> dead = bench().dead(2);
        assertThat(dead).extracting(DeadMessage::reason).containsOnly("too_large");
        ConsumerBench.until("the other is applied", () -> consumer.applied() == 1);
    }

    @Test
    @DisplayName("N4 a known id with another body becomes a dead letter, and the handler does not see it")
    default void mismatch() {
        List<String> seen = new CopyOnWriteArrayList<>();
        bench().send(SentMessage.of("k", "a", "first"));
        RunningConsumer consumer = bench().transactional(ConsumerBench.MANY_TRIES, (transaction, body) -> {
            seen.add(body);
            EffectTable.write(transaction, body);
        });
        ConsumerBench.until("the first is applied", () -> consumer.applied() == 1);
        bench().send(
                        SentMessage.of("k", "a", "other"),
                        SentMessage.of("k", "a", "first"),
                        SentMessage.of("k", "b", "last"));
        DeadMessage dead = bench().dead(1).get(0);
        assertThat(dead.reason()).isEqualTo("mismatch");
        assertThat(dead.id()).isEqualTo("a");
        assertThat(dead.body()).isEqualTo(SentMessage.bytes("other"));
        ConsumerBench.until("the others are done", () -> consumer.applied() == 2 && consumer.repeated() >= 1);
        consumer.close();
        assertThat(seen).doesNotContain("other");
        assertThat(bench().effects()).containsExactly("first", "last");
    }

    @Test
    @DisplayName("N4 a message that the handler rejects for good becomes a dead letter at once; its effect is undone")
    default void rejected() {
        bench().send(
                        SentMessage.of("k", "a", "before"),
                        SentMessage.of("k", "b", "rejected"),
                        SentMessage.of("k", "c", "after"));
        RunningConsumer consumer = bench().transactional(ConsumerBench.MANY_TRIES, (transaction, body) -> {
            EffectTable.write(transaction, body);
            if (body.equals("rejected")) {
                throw bench().topic().poison("no such account");
            }
        });
        DeadMessage dead = bench().dead(1).get(0);
        assertThat(dead.reason()).isEqualTo("rejected");
        assertThat(dead.about("text")).contains("no such account");
        assertThat(dead.id()).isEqualTo("b");
        ConsumerBench.until("its neighbours are applied", () -> consumer.applied() == 2);
        assertThat(consumer.retried()).isZero();
        assertThat(bench().effects()).containsExactlyInAnyOrder("before", "after");
    }
}
