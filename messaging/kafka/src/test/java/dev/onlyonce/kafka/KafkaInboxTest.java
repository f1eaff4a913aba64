package dev.onlyonce.kafka;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onlyonce.messages.MessageId;
import dev.onlyonce.messages.PoisonMessage;
import dev.onlyonce.messages.RetryLimits;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.MemberDescription;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.CooperativeStickyAssignor;
import org.apache.kafka.clients.consumer.RangeAssignor;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Order(1)
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

    @Test
    @DisplayName("begins where its group has ended; another group applies all messages for itself")
    void groups() {
        for (int i = 0; i < 20; i++) {
            broker.send(topic, "key" + i % 4, "id" + i, "body" + i);
        }
        broker.flush();
        try (KafkaInbox inbox = builder().transactional((c, body, message) -> Ledger.write(c, body))) {
            inbox.start();
            Broker.until(() -> inbox.counts().applied() == 20);
        }
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
            Broker.until(() -> other.counts().applied() == 21);
        }
        assertThat(ledger.effects()).hasSize(42);
    }

    @Test
    @DisplayName("gives up a large message as it came, too")
    void largeDeadLetter() {
        broker.send(topic, "k", "large", "x".repeat(10 << 20));
        broker.flush();
        try (KafkaInbox inbox = builder().transactional((c, text, message) -> {})) {
            inbox.start();
            assertThat(dead(1).get(0).value()).hasSize(10 << 20);
        }
    }

    @Test
    @DisplayName("N4 keeps its partitions, and goes on with the others, while a dead-letter topic is missing")
    void deadLetterTopicMissing() throws Exception {
        String other = broker.topic(1);
        String missing = "missing" + topic;
        Map<String, Object> hasty = broker.consumer("group");
        hasty.put("max.poll.interval.ms", 15_000);
        for (int i = 0; i < 100; i++) {
            broker.send(topic, "k" + i, new byte[0], "bad".getBytes(StandardCharsets.UTF_8));
        }
        broker.flush();
        try (KafkaInbox inbox = KafkaInbox.builder(ledger.once, hasty, Ledger::text)
                .topics(topic, other)
                .id(MessageId.header("message-id"))
                .retries(QUICK)
                .deadLetterTopic(from -> from.equals(topic) ? missing : from + ".dead")
                .transactional((c, body, message) -> Ledger.write(c, body))) {
            inbox.start();
            for (int i = 1; i <= 2; i++) {
                broker.send(other, "k", "good" + i, "good");
                broker.send(other, "k", new byte[0], "bad".getBytes(StandardCharsets.UTF_8));
                broker.flush();
                int sent = i;
                Broker.until(
                        () -> inbox.counts().applied() == sent && inbox.counts().dead() == sent);
                assertThat(owners()).isNotEmpty();
            }
            assertThat(inbox.counts().repeated()).isZero();
            broker.create(missing, 1, Map.of());
            Broker.until(() -> inbox.counts().dead() == 102);
        }
        assertThat(broker.read(missing, 100)).hasSize(100);
    }

    @Test
    @DisplayName("gives up a message as it came, with its place; a body that is too large to be sent stays behind")
    void deadLetters() throws Exception {
        broker.configure(topic + ".dead", Map.of("max.message.bytes", String.valueOf(1 << 20)));
        broker.send(topic, "k", "large", "x".repeat(10 << 20));
        broker.send(topic, "k", "rejected", "rejected");
        broker.flush();
        try (KafkaInbox inbox = builder().transactional((c, text, message) -> {
            throw new PoisonMessage("no such account");
        })) {
            inbox.start();
            List<ConsumerRecord<byte[], byte[]>> dead = dead(2);
            ConsumerRecord<byte[], byte[]> large = dead.get(0);
            ConsumerRecord<byte[], byte[]> rejected = dead.get(1);
            assertThat(large.value()).isEmpty();
            assertThat(Broker.header(large, "onlyonce-dead-body-bytes")).isEqualTo(String.valueOf(10 << 20));
            assertThat(rejected.key()).isEqualTo("k".getBytes(StandardCharsets.UTF_8));
            assertThat(Broker.header(rejected, "onlyonce-dead-topic")).isEqualTo(topic);
            assertThat(Broker.header(rejected, "onlyonce-dead-group")).isEqualTo("group");
            assertThat(Broker.header(rejected, "onlyonce-dead-partition"))
                    .isEqualTo(Broker.header(large, "onlyonce-dead-partition"));
            assertThat(Broker.header(rejected, "onlyonce-dead-offset")).isEqualTo("1");
        }
    }

    @ParameterizedTest
    @ValueSource(classes = {RangeAssignor.class, CooperativeStickyAssignor.class})
    @DisplayName("N4 that loses a partition in mid-batch applies nothing twice")
    void rebalance(Class<?> assignor) throws Exception {
        for (int i = 0; i < 100; i++) {
            broker.send(topic, "key" + i, "id" + i, "body" + i);
        }
        broker.flush();
        CountDownLatch inBatch = new CountDownLatch(1);
        CountDownLatch goOn = new CountDownLatch(1);
        Map<String, Object> first = broker.consumer("group");
        first.put("partition.assignment.strategy", assignor.getName());
        first.put("client.id", "first");
        Map<String, Object> second = broker.consumer("group");
        second.put("partition.assignment.strategy", assignor.getName());
        second.put("client.id", "other");
        try (KafkaInbox slow = KafkaInbox.builder(ledger.once, first, Ledger::text)
                        .topics(topic)
                        .id(MessageId.header("message-id"))
                        .transactional((c, body, message) -> {
                            Ledger.write(c, body);
                            inBatch.countDown();
                            goOn.await();
                        });
                KafkaInbox other = KafkaInbox.builder(ledger.once, second, Ledger::text)
                        .topics(topic)
                        .id(MessageId.header("message-id"))
                        .retries(QUICK)
                        .transactional((c, body, message) -> Ledger.write(c, body))) {
            slow.start();
            inBatch.await();
            // It takes a partition over in the middle of the batch, and meets claims that are not committed.
            other.start();
            Broker.until(() -> owners().contains("other"));
            goOn.countDown();
            Broker.until(() -> slow.counts().applied() + other.counts().applied() >= 100);
            Broker.until(() -> slow.counts().repeated() + other.counts().repeated() > 0
                    || slow.counts().applied() < 100);
            assertThat(slow.counts().applied()).isPositive();
        }
        assertThat(ledger.effects()).hasSize(100).doesNotHaveDuplicates();
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    @DisplayName(
            "N7 keeps its partitions while a handler takes longer than max.poll.interval.ms, and commits what is done")
    void slowHandler(boolean leased) throws Exception {
        Map<String, Object> hasty = broker.consumer("group");
        hasty.put("max.poll.interval.ms", 2000);
        hasty.put("client.id", "slow");
        CountDownLatch goOn = new CountDownLatch(1);
        KafkaInbox.Builder<String> builder = KafkaInbox.builder(ledger.once, hasty, Ledger::text)
                .topics(topic)
                .id(MessageId.header("message-id"));
        for (int i = 0; i < 20; i++) {
            broker.send(topic, "key" + i, "id" + i, i == 19 ? "slow" : "body" + i);
        }
        broker.flush();
        try (KafkaInbox inbox = leased
                ? builder.leased("ship", (claim, body, message) -> waitIfSlow(body, goOn))
                : builder.transactional((c, body, message) -> waitIfSlow(body, goOn))) {
            inbox.start();
            long begun = System.nanoTime();
            // Whoever does not poll for so long is out of the group.
            Broker.until(() -> System.nanoTime() - begun > Duration.ofSeconds(5).toNanos());
            Broker.until(() -> owners().contains("slow"));
            if (leased) {
                Broker.until(() -> inbox.counts().applied() == 19);
                Broker.until(() -> committed() > 0);
            }
            goOn.countDown();
            Broker.until(() -> inbox.counts().applied() == 20);
            Broker.until(() -> committed() == 20);
            assertThat(inbox.counts().repeated()).isZero();
        }
    }

    private static void waitIfSlow(String body, CountDownLatch goOn) throws InterruptedException {
        if (body.equals("slow")) {
            goOn.await();
        }
    }

    /** How many messages lie before the offsets of the group. */
    private long committed() {
        try (Admin admin = Admin.create(Map.of("bootstrap.servers", broker.server.address()))) {
            return admin.listConsumerGroupOffsets("group").partitionsToOffsetAndMetadata().get().entrySet().stream()
                    .filter(entry -> entry.getKey().topic().equals(topic))
                    .mapToLong(entry -> entry.getValue().offset())
                    .sum();
        } catch (InterruptedException | ExecutionException e) {
            throw new IllegalStateException(e);
        }
    }

    @Test
    @DisplayName("N7 goes on with a topic while another one's handlers hang, however many they are")
    void topicHangs() throws Exception {
        String other = broker.topic(2);
        CountDownLatch goOn = new CountDownLatch(1);
        for (int i = 0; i < 50; i++) {
            broker.send(topic, "key" + i, "id" + i, "slow");
        }
        broker.flush();
        try (KafkaInbox inbox = KafkaInbox.builder(ledger.once, broker.consumer("group"), Ledger::text)
                .topics(topic, other)
                .id(MessageId.header("message-id"))
                .concurrency(4)
                .leased("ship", (claim, body, message) -> waitIfSlow(body, goOn))) {
            inbox.start();
            Broker.until(() -> owners().size() == 1);
            for (int i = 0; i < 50; i++) {
                broker.send(other, "key" + i, "id" + i, "quick");
            }
            broker.flush();
            Broker.until(() -> inbox.counts().applied() == 50);
            goOn.countDown();
            Broker.until(() -> inbox.counts().applied() == 100);
        }
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
    @DisplayName("N4 applies records without a key or a value, and none of a transaction that was aborted")
    void tombstones() throws Exception {
        Map<String, Object> config = Map.of("bootstrap.servers", broker.server.address(), "transactional.id", topic);
        try (KafkaProducer<byte[], byte[]> producer =
                new KafkaProducer<>(config, new ByteArraySerializer(), new ByteArraySerializer())) {
            producer.initTransactions();
            producer.beginTransaction();
            producer.send(record("k", "aborted", "aborted")).get();
            producer.abortTransaction();
            producer.beginTransaction();
            producer.send(record("k", "tombstone", null)).get();
            producer.send(record(null, "bare", null)).get();
            producer.send(record("k", "", null)).get();
            producer.send(record(null, "last", "last")).get();
            producer.commitTransaction();
        }
        List<String> seen = new CopyOnWriteArrayList<>();
        try (KafkaInbox inbox = builder()
                .transactional((c, body, message) ->
                        seen.add(message.header("message-id").orElseThrow() + "=" + body))) {
            inbox.start();
            ConsumerRecord<byte[], byte[]> dead = dead(1).get(0);
            assertThat(dead.key()).isEqualTo("k".getBytes(StandardCharsets.UTF_8));
            assertThat(dead.value()).isNull();
            Broker.until(() -> inbox.counts().applied() == 3);
        }
        assertThat(seen).containsExactlyInAnyOrder("tombstone=", "bare=", "last=last");
    }

    private ProducerRecord<byte[], byte[]> record(String key, String id, String body) {
        ProducerRecord<byte[], byte[]> record = new ProducerRecord<>(topic, 0, bytes(key), bytes(body));
        record.headers().add("message-id", bytes(id)).add("odd\u0001name", null);
        return record;
    }

    private static byte[] bytes(String text) {
        return text == null ? null : text.getBytes(StandardCharsets.UTF_8);
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
