package dev.onlyonce.testkit.messages;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** Messages that come more than once. */
interface RepeatPart extends ConsumerPart {

    @Test
    @DisplayName("N4 each message is applied once and in the order of its key, however often it is sent")
    default void sentTwice() {
        List<SentMessage> messages = new ArrayList<>();
        for (int i = 0; i < 200; i++) {
            String key = "key" + i % 4;
            SentMessage message = SentMessage.of(key, "id" + i, key + ":" + i);
            messages.add(message);
            if (i % 3 == 0) {
                messages.add(message);
            }
        }
        bench().topic().send(messages);
        RunningConsumer consumer = bench().transactional(1, EffectTable::write);
        ConsumerBench.until("all 267 are done", () -> consumer.applied() + consumer.repeated() >= 267);
        assertThat(consumer.applied()).isEqualTo(200);
        assertThat(consumer.retried()).isZero();
        assertThat(consumer.dead()).isZero();
        List<String> effects = bench().effects();
        assertThat(effects).hasSize(200).doesNotHaveDuplicates();
        if (bench().topic().isOrdered()) {
            for (int k = 0; k < 4; k++) {
                String key = "key" + k + ":";
                assertThat(effects.stream()
                                .filter(body -> body.startsWith(key))
                                .map(body -> Integer.parseInt(body.substring(key.length()))))
                        .isSorted()
                        .hasSize(50);
            }
        }
    }

    @Test
    @DisplayName("N4 messages that the broker delivers again are recognised by the next consumer")
    default void deliveredAgain() {
        List<SentMessage> messages = several(50);
        bench().topic().send(messages);
        RunningConsumer first = bench().transactional(1, EffectTable::write);
        ConsumerBench.until("all are applied", () -> first.applied() == 50);
        first.close();
        bench().topic().redeliver(messages);
        bench().send(SentMessage.of("key0", "last", "last"));
        RunningConsumer second = bench().transactional(1, EffectTable::write);
        ConsumerBench.until("all have come again", () -> second.repeated() >= 50 && second.applied() == 1);
        assertThat(bench().effects()).hasSize(51).doesNotHaveDuplicates();
    }

    @Test
    @DisplayName("N4 a message that two consumers have at once is applied by one of them")
    default void twoConsumers() {
        List<SentMessage> messages = new ArrayList<>();
        for (SentMessage message : several(100)) {
            messages.add(message);
            messages.add(message.under("other-" + message.key()));
        }
        RunningConsumer one = bench().transactional(1, EffectTable::write);
        RunningConsumer other = bench().transactional(1, EffectTable::write);
        bench().topic().send(messages);
        ConsumerBench.until(
                "both copies of all are done",
                () -> one.applied() + one.repeated() + other.applied() + other.repeated() >= 200);
        assertThat(one.applied() + other.applied()).isEqualTo(100);
        assertThat(one.dead() + other.dead()).isZero();
        assertThat(bench().effects()).hasSize(100).doesNotHaveDuplicates();
    }

    /** Messages with ten keys. */
    static List<SentMessage> several(int count) {
        List<SentMessage> messages = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            messages.add(SentMessage.of("key" + i % 10, "id" + i, "body" + i));
        }
        return messages;
    }
}
