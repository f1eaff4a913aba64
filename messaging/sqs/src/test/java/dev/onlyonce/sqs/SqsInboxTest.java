package dev.onlyonce.sqs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onlyonce.messages.MessageCounts;
import dev.onlyonce.messages.MessageDecoder;
import dev.onlyonce.messages.MessageId;
import dev.onlyonce.messages.PoisonMessage;
import dev.onlyonce.messages.RetryLimits;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import software.amazon.awssdk.services.sqs.model.Message;

@DisplayName("An SQS consumer")
class SqsInboxTest {
    static final RetryLimits QUICK =
            new RetryLimits(3, Duration.ofMillis(50), Duration.ofMillis(200), Duration.ofSeconds(30));

    private final Broker broker = Broker.shared();
    private Ledger ledger;

    @BeforeEach
    void open() throws Exception {
        ledger = new Ledger();
    }

    @AfterEach
    void close() {
        ledger.close();
    }

    private SqsInbox.Builder<String> builder(String queue) {
        return SqsInbox.builder(ledger.once, broker.client, Ledger::text)
                .queue(queue)
                .longPoll(Duration.ofSeconds(1))
                .id(MessageId.header("message-id"))
                .retries(QUICK);
    }

    private static List<String> reasons(List<Message> dead) {
        return dead.stream()
                .map(message -> Broker.attribute(message, "onlyonce-dead-reason"))
                .toList();
    }

    @Test
    @DisplayName("N4 applies each message once, however often it is sent, and empties the queue")
    void once() {
        String queue = broker.queue();
        for (int i = 0; i < 150; i++) {
            broker.send(queue, "id" + i, "body" + i);
            if (i % 3 == 0) {
                broker.send(queue, "id" + i, "body" + i);
            }
        }
        try (SqsInbox inbox = builder(queue).transactional((c, body, message) -> Ledger.write(c, body))) {
            inbox.start();
            Broker.until(() -> inbox.counts().applied() + inbox.counts().repeated() == 200);
            assertThat(inbox.counts()).isEqualTo(new MessageCounts(150, 50, 0, 0, 0));
        }
        assertThat(ledger.effects()).hasSize(150).doesNotHaveDuplicates();
        assertThat(broker.size(queue)).isZero();
    }

    @Test
    @DisplayName("N4 of a FIFO queue keeps the order of each group, also behind a message that fails")
    void order() {
        String queue = broker.fifo();
        for (int i = 0; i < 60; i++) {
            String group = "group" + i % 3;
            broker.send(queue, group, "id" + i, group + ":" + i);
            if (i % 5 == 0) {
                broker.send(queue, group, "id" + i, group + ":" + i);
            }
        }
        AtomicInteger failures = new AtomicInteger();
        try (SqsInbox inbox = builder(broker.url(queue)).transactional((c, body, message) -> {
            Ledger.write(c, body);
            // A batch that fails is run twice: once together, and once one by one.
            if (body.equals("group0:3") && failures.incrementAndGet() <= 3) {
                throw new IllegalStateException("not yet");
            }
            if (body.equals("group1:4")) {
                throw new IllegalStateException("never");
            }
        })) {
            inbox.start();
            List<Message> dead = broker.take(queue.replace(".fifo", "-dead.fifo"), 1);
            assertThat(reasons(dead)).containsExactly("tries_exhausted");
            assertThat(dead.get(0).body()).isEqualTo("group1:4");
            assertThat(dead.get(0).attributesAsStrings().get("MessageGroupId")).isEqualTo("group1");
            Broker.until(() -> inbox.counts().applied() == 59 && inbox.counts().repeated() == 12);
        }
        List<String> effects = ledger.effects();
        assertThat(effects).hasSize(59).doesNotHaveDuplicates();
        for (int k = 0; k < 3; k++) {
            String group = "group" + k + ":";
            assertThat(effects.stream()
                            .filter(body -> body.startsWith(group))
                            .map(body -> Integer.parseInt(body.substring(group.length()))))
                    .isSorted();
        }
        assertThat(broker.size(queue)).isZero();
    }

    @Test
    @DisplayName("N4 gives up a known id with another body, and what cannot be decoded, at once")
    void mismatchAndPoison() {
        String queue = broker.fifo();
        broker.send(queue, "g", "a", "1");
        broker.send(queue, "g", "a", "2");
        broker.send(queue, "g", "b", "undecodable");
        broker.send(queue, "g", "c", "rejected");
        broker.send(queue, "g", "d", "4");
        MessageDecoder<String> decoder = message -> {
            if (Ledger.text(message).equals("undecodable")) {
                throw new IllegalArgumentException("what is\nthis\u0007?");
            }
            return Ledger.text(message);
        };
        try (SqsInbox inbox = SqsInbox.builder(ledger.once, broker.client, decoder)
                .queue(queue)
                .group("billing")
                .longPoll(Duration.ofSeconds(1))
                .id(MessageId.header("message-id"))
                .transactional((c, body, message) -> {
                    Ledger.write(c, body);
                    if (body.equals("rejected")) {
                        throw new PoisonMessage("no such account");
                    }
                })) {
            inbox.start();
            List<Message> dead = broker.take(queue.replace(".fifo", "-dead.fifo"), 3);
            assertThat(reasons(dead)).containsExactlyInAnyOrder("mismatch", "undecodable", "rejected");
            Message undecodable = dead.stream()
                    .filter(message -> message.body().equals("undecodable"))
                    .findFirst()
                    .orElseThrow();
            assertThat(Broker.attribute(undecodable, "onlyonce-dead-text")).contains("what is this ?");
            assertThat(Broker.attribute(undecodable, "onlyonce-dead-topic")).isEqualTo(queue);
            assertThat(Broker.attribute(undecodable, "onlyonce-dead-group")).isEqualTo("billing");
            assertThat(Broker.attribute(undecodable, "onlyonce-dead-message-id"))
                    .isNotEmpty();
            assertThat(Broker.attribute(undecodable, "message-id")).isEqualTo("b");
            Broker.until(() -> inbox.counts().applied() == 2);
            assertThat(inbox.counts()).isEqualTo(new MessageCounts(2, 0, 0, 3, 0));
        }
        assertThat(ledger.effects()).containsExactly("1", "4");
    }

    @Test
    @DisplayName("N4 gives back a message that fails, counts its deliveries, and lets the others pass")
    void retries() {
        String queue = broker.queue();
        for (String body : List.of("a", "b", "c")) {
            broker.send(queue, "id-" + body, body);
        }
        AtomicInteger failures = new AtomicInteger();
        try (SqsInbox inbox = builder(queue).transactional((c, body, message) -> {
            Ledger.write(c, body);
            if (body.equals("a") && failures.incrementAndGet() <= 3) {
                throw new IllegalStateException("not yet");
            }
            if (body.equals("b")) {
                throw new IllegalStateException("never");
            }
        })) {
            inbox.start();
            List<Message> dead = broker.take(queue + "-dead", 1);
            assertThat(reasons(dead)).containsExactly("tries_exhausted");
            assertThat(Broker.attribute(dead.get(0), "onlyonce-dead-tries")).isEqualTo("3");
            Broker.until(() -> inbox.counts().applied() == 2);
            assertThat(inbox.counts().retried()).isGreaterThanOrEqualTo(3);
        }
        assertThat(ledger.effects()).containsExactly("c", "a");
        assertThat(broker.size(queue)).isZero();
    }

    @Test
    @DisplayName("N4 takes SQS's own id or the deduplication id, if that is configured")
    void ownIds() {
        String queue = broker.fifo();
        broker.send(queue, "g", "ignored", "1");
        broker.send(queue, "g", "ignored", "2");
        try (SqsInbox inbox = builder(queue)
                .id(MessageId.header("MessageDeduplicationId"))
                .transactional((c, body, message) -> Ledger.write(c, body))) {
            inbox.start();
            Broker.until(() -> inbox.counts().applied() == 2);
        }
        String standard = broker.queue();
        broker.send(standard, null, "3");
        try (SqsInbox inbox = builder(standard)
                .id(MessageId.coordinates())
                .transactional((c, body, message) -> Ledger.write(c, body))) {
            inbox.start();
            Broker.until(() -> inbox.counts().applied() == 1);
        }
        assertThat(ledger.effects()).containsExactly("1", "2", "3");
    }

    @Test
    @DisplayName("refuses settings that cannot work")
    void settings() {
        assertThatThrownBy(() -> SqsInbox.builder(ledger.once, broker.client, Ledger::text)
                        .transactional((c, body, message) -> {}))
                .hasMessageContaining("queue");
        assertThatThrownBy(() -> builder("q").batch(0).transactional((c, body, message) -> {}))
                .hasMessageContaining("batch");
        assertThatThrownBy(() -> builder("q").longPoll(Duration.ofSeconds(21)).transactional((c, body, message) -> {}))
                .hasMessageContaining("longPoll");
        assertThatThrownBy(
                        () -> builder("q").visibility(Duration.ofMillis(500)).transactional((c, body, message) -> {}))
                .hasMessageContaining("visibility");
    }
}
