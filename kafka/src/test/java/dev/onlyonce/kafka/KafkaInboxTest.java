package dev.onlyonce.kafka;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onlyonce.NotExecuted;
import dev.onlyonce.messages.MessageCounts;
import dev.onlyonce.messages.MessageDecoder;
import dev.onlyonce.messages.MessageId;
import dev.onlyonce.messages.PoisonMessage;
import dev.onlyonce.messages.RetryLimits;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.MemberDescription;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("A Kafka consumer")
class KafkaInboxTest {
    private static final RetryLimits QUICK =
            new RetryLimits(3, Duration.ofMillis(50), Duration.ofMillis(200), Duration.ofSeconds(30));

    private final Broker broker = Broker.shared();
    private Ledger ledger;
    private String topic;

    @BeforeEach
    void open() throws Exception {
        ledger = new Ledger();
        topic = broker.topic(2);
    }

    @AfterEach
    void close() {
        ledger.close();
    }

    private KafkaInbox.Builder<String> builder() {
        return KafkaInbox.builder(ledger.once, broker.consumer("group"), Ledger::text)
                .topics(topic)
                .id(MessageId.header("message-id"))
                .retries(QUICK);
    }

    private List<ConsumerRecord<byte[], byte[]>> dead(int records) {
        return broker.read(topic + ".dead", records);
    }

    private static List<String> reasons(List<ConsumerRecord<byte[], byte[]>> dead) {
        return dead.stream()
                .map(record -> Broker.header(record, "onlyonce-dead-reason"))
                .toList();
    }

    @Test
    @DisplayName("applies each message once and in order, however often it is sent or consumed")
    void once() {
        for (int i = 0; i < 200; i++) {
            broker.send(topic, "key" + i % 4, "id" + i, "key" + i % 4 + ":" + i);
            if (i % 3 == 0) {
                broker.send(topic, "key" + i % 4, "id" + i, "key" + i % 4 + ":" + i);
            }
        }
        broker.flush();
        try (KafkaInbox inbox = builder().transactional((c, body, message) -> Ledger.write(c, body))) {
            inbox.start();
            Broker.until(() -> inbox.counts().applied() + inbox.counts().repeated() == 267);
            assertThat(inbox.counts()).isEqualTo(new MessageCounts(200, 67, 0, 0));
        }
        List<String> effects = ledger.effects();
        assertThat(effects).hasSize(200).doesNotHaveDuplicates();
        for (int k = 0; k < 4; k++) {
            String key = "key" + k + ":";
            assertThat(effects.stream()
                            .filter(body -> body.startsWith(key))
                            .map(body -> Integer.parseInt(body.substring(key.length()))))
                    .isSorted()
                    .hasSize(50);
        }
        // A new consumer of the group begins where the first has ended; another group applies all for itself.
        broker.send(topic, "key0", "last", "last");
        broker.flush();
        try (KafkaInbox inbox = builder().transactional((c, body, message) -> Ledger.write(c, body))) {
            inbox.start();
            Broker.until(() -> inbox.counts().applied() == 1);
            assertThat(inbox.counts().repeated()).isZero();
        }
        try (KafkaInbox other = KafkaInbox.builder(ledger.once, broker.consumer("other"), Ledger::text)
                .topics(topic)
                .id(MessageId.header("message-id"))
                .transactional((c, body, message) -> Ledger.write(c, body))) {
            other.start();
            Broker.until(() -> other.counts().applied() == 201);
        }
        assertThat(ledger.effects()).hasSize(402);
    }

    @Test
    @DisplayName("gives up a known id with another body, and what cannot be decoded, at once")
    void mismatchAndPoison() {
        broker.send(topic, "k", "a", "1");
        broker.send(topic, "k", "a", "2");
        broker.send(topic, "k", "b", "undecodable");
        broker.send(topic, "k", "c", "rejected");
        broker.send(topic, "k", "d", "4");
        broker.flush();
        MessageDecoder<String> decoder = message -> {
            if (Ledger.text(message).equals("undecodable")) {
                throw new IllegalArgumentException("what is\nthis?");
            }
            return Ledger.text(message);
        };
        try (KafkaInbox inbox = KafkaInbox.builder(ledger.once, broker.consumer("group"), decoder)
                .topics(topic)
                .id(MessageId.header("message-id"))
                .transactional((c, body, message) -> {
                    Ledger.write(c, body);
                    if (body.equals("rejected")) {
                        throw new PoisonMessage("no such account");
                    }
                })) {
            inbox.start();
            List<ConsumerRecord<byte[], byte[]>> dead = dead(3);
            assertThat(reasons(dead)).containsExactly("mismatch", "undecodable", "rejected");
            assertThat(Broker.header(dead.get(1), "onlyonce-dead-text")).contains("what is this?");
            assertThat(Broker.header(dead.get(1), "onlyonce-dead-topic")).isEqualTo(topic);
            assertThat(Broker.header(dead.get(1), "message-id")).isEqualTo("b");
            assertThat(dead.get(1).key()).isEqualTo("k".getBytes(StandardCharsets.UTF_8));
            assertThat(dead.get(1).value()).isEqualTo("undecodable".getBytes(StandardCharsets.UTF_8));
            Broker.until(() -> inbox.counts().applied() == 2);
            assertThat(inbox.counts()).isEqualTo(new MessageCounts(2, 0, 0, 3));
        }
        assertThat(ledger.effects()).containsExactly("1", "4");
    }

    @Test
    @DisplayName("gives up bad input with a reason, and goes on with the next message")
    void badInput() {
        byte[] body = "x".getBytes(StandardCharsets.UTF_8);
        broker.send(topic, "k", null, body);
        broker.send(topic, "k", "i".repeat(10_000), "x");
        broker.send(topic, "k", "large", "x".repeat(10 << 20));
        broker.send(topic, "k", new byte[] {(byte) 0xc3, 0x28}, body);
        broker.send(topic, "k", "con\u0007trol", "x");
        broker.send(topic, "k", "", "x");
        broker.send(topic, "k", "good", "good");
        broker.flush();
        try (KafkaInbox inbox = builder().transactional((c, text, message) -> Ledger.write(c, text))) {
            inbox.start();
            List<ConsumerRecord<byte[], byte[]>> dead = dead(6);
            assertThat(reasons(dead))
                    .containsExactlyInAnyOrder(
                            "missing_id", "malformed_id", "too_large", "undecodable", "malformed_id", "malformed_id");
            ConsumerRecord<byte[], byte[]> large = dead.stream()
                    .filter(record -> "too_large".equals(Broker.header(record, "onlyonce-dead-reason")))
                    .findFirst()
                    .orElseThrow();
            assertThat(large.value()).isEmpty();
            assertThat(Broker.header(large, "onlyonce-dead-body-bytes")).isEqualTo(String.valueOf(10 << 20));
            Broker.until(() -> inbox.counts().applied() == 1);
        }
        assertThat(ledger.effects()).containsExactly("good");
    }

    @Test
    @DisplayName("tries a message that fails again, keeps its key in order, and lets the others pass")
    void retries() {
        broker.send(topic, "a", "1", "a1");
        broker.send(topic, "b", "2", "b1");
        broker.send(topic, "a", "3", "a2");
        broker.send(topic, "b", "4", "b2");
        broker.send(topic, "b", "5", "b3");
        broker.flush();
        AtomicInteger failures = new AtomicInteger();
        try (KafkaInbox inbox = builder().transactional((c, body, message) -> {
            Ledger.write(c, body);
            // A batch that fails is run twice: once together, and once one by one.
            if (body.equals("a1") && failures.incrementAndGet() <= 3) {
                throw new IllegalStateException("not yet");
            }
            if (body.equals("b2")) {
                throw new IllegalStateException("never");
            }
        })) {
            inbox.start();
            assertThat(reasons(dead(1))).containsExactly("tries_exhausted");
            Broker.until(() -> inbox.counts().applied() == 4);
            assertThat(Broker.header(dead(1).get(0), "onlyonce-dead-tries")).isEqualTo("3");
            assertThat(inbox.counts().retried()).isGreaterThanOrEqualTo(3);
        }
        List<String> effects = ledger.effects();
        assertThat(effects).containsExactlyInAnyOrder("a1", "a2", "b1", "b3");
        assertThat(effects.indexOf("a1")).isLessThan(effects.indexOf("a2"));
        assertThat(effects.indexOf("b1")).isLessThan(effects.indexOf("a1"));
    }

    @Test
    @DisplayName("that loses its partitions in mid-batch applies nothing twice")
    void rebalance() throws Exception {
        for (int i = 0; i < 100; i++) {
            broker.send(topic, "key" + i, "id" + i, "body" + i);
        }
        broker.flush();
        CountDownLatch inBatch = new CountDownLatch(1);
        CountDownLatch goOn = new CountDownLatch(1);
        Map<String, Object> hasty = broker.consumer("group");
        hasty.put("max.poll.interval.ms", 6000);
        Map<String, Object> named = broker.consumer("group");
        named.put("client.id", "other");
        try (KafkaInbox slow = KafkaInbox.builder(ledger.once, hasty, Ledger::text)
                        .topics(topic)
                        .id(MessageId.header("message-id"))
                        .transactional((c, body, message) -> {
                            Ledger.write(c, body);
                            inBatch.countDown();
                            goOn.await();
                        });
                KafkaInbox other = KafkaInbox.builder(ledger.once, named, Ledger::text)
                        .topics(topic)
                        .id(MessageId.header("message-id"))
                        .retries(QUICK)
                        .transactional((c, body, message) -> Ledger.write(c, body))) {
            slow.start();
            inBatch.await();
            // It holds its batch for longer than its consumer may go without a poll: the other gets its partitions, and
            // meets
            // claims that are not committed.
            other.start();
            Broker.until(() -> owners().equals(List.of("other")));
            goOn.countDown();
            Broker.until(() -> slow.counts().applied() + other.counts().applied() >= 100);
            Broker.until(() -> other.counts().repeated() >= slow.counts().applied());
            assertThat(slow.counts().applied()).isPositive();
        }
        assertThat(ledger.effects()).hasSize(100).doesNotHaveDuplicates();
    }

    /** The clients that have partitions. */
    private List<String> owners() {
        try (Admin admin = Admin.create(Map.of("bootstrap.servers", broker.server.address()))) {
            return admin
                    .describeConsumerGroups(List.of("group"))
                    .describedGroups()
                    .get("group")
                    .get()
                    .members()
                    .stream()
                    .filter(member -> !member.assignment().topicPartitions().isEmpty())
                    .map(MemberDescription::clientId)
                    .toList();
        } catch (InterruptedException | ExecutionException e) {
            throw new IllegalStateException(e);
        }
    }

    @Test
    @DisplayName("with effects outside the database applies at most once, and an unknown outcome blocks nobody")
    void leased() {
        broker.send(topic, "a", "1", "retry");
        broker.send(topic, "a", "2", "unknown");
        broker.send(topic, "a", "3", "fine");
        broker.send(topic, "a", "3", "fine");
        broker.send(topic, "a", "3", "other");
        broker.flush();
        Queue<String> calls = new ConcurrentLinkedQueue<>();
        try (KafkaInbox inbox = builder().leased("ship", (claim, body, message) -> {
            calls.add(body);
            if (body.equals("retry") && calls.size() == 1) {
                throw new NotExecuted("the line was busy");
            }
            if (body.equals("unknown")) {
                throw new IllegalStateException("the line went dead");
            }
        })) {
            inbox.start();
            assertThat(reasons(dead(1))).containsExactly("mismatch");
            Broker.until(() -> inbox.counts().applied() == 2);
        }
        assertThat(calls).containsExactly("retry", "retry", "unknown", "fine");
    }

    @Test
    @DisplayName("refuses settings that would lose messages")
    void settings() {
        Map<String, Object> auto = broker.consumer("group");
        auto.put("enable.auto.commit", "true");
        assertThatThrownBy(() -> KafkaInbox.builder(ledger.once, auto, Ledger::text))
                .hasMessageContaining("enable.auto.commit");
        assertThatThrownBy(() -> KafkaInbox.builder(ledger.once, Map.of(), Ledger::text))
                .hasMessageContaining("group.id");
        assertThatThrownBy(() -> KafkaInbox.builder(ledger.once, broker.consumer("g"), Ledger::text)
                        .transactional((c, body, message) -> {}))
                .hasMessageContaining("topics");
    }
}
