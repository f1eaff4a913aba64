package dev.onlyonce.kafka;

import dev.onlyonce.testservers.KafkaServer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.UUID;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AlterConfigOp;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/** A broker with a client for tests: makes topics, sends, and reads. */
final class Broker implements AutoCloseable {
    private static final Duration PATIENCE = Duration.ofMinutes(2);
    private static final int LARGE = 16 << 20;

    private static final class Shared {
        private static final Broker BROKER = new Broker();
    }

    final KafkaServer server;
    private final KafkaProducer<byte[], byte[]> producer;
    private final Queue<Future<RecordMetadata>> sent = new ConcurrentLinkedQueue<>();

    Broker() {
        // The tests make their topics: what is missing stays so.
        server = KafkaServer.start(
                "message.max.bytes=" + LARGE, "replica.fetch.max.bytes=" + LARGE, "auto.create.topics.enable=false");
        producer = new KafkaProducer<>(
                Map.of(
                        "bootstrap.servers",
                        server.address(),
                        "max.request.size",
                        LARGE,
                        "buffer.memory",
                        4L * LARGE,
                        // A broker that does not lead a new topic yet refuses the first batch and may take the second.
                        "max.in.flight.requests.per.connection",
                        1),
                new ByteArraySerializer(),
                new ByteArraySerializer());
    }

    /** The one broker of this JVM; nobody kills it. */
    static Broker shared() {
        return Shared.BROKER;
    }

    String topic(int partitions) throws Exception {
        return topic(partitions, Map.of());
    }

    String topic(int partitions, Map<String, String> settings) throws Exception {
        String topic = "t" + UUID.randomUUID();
        create(topic, partitions, settings);
        create(topic + ".dead", 1, Map.of());
        return topic;
    }

    void create(String topic, int partitions, Map<String, String> settings) throws Exception {
        try (Admin admin = Admin.create(Map.of("bootstrap.servers", server.address()))) {
            admin.createTopics(List.of(new NewTopic(topic, partitions, (short) 1).configs(settings)))
                    .all()
                    .get();
        }
    }

    void configure(String topic, Map<String, String> settings) throws Exception {
        List<AlterConfigOp> changes = settings.entrySet().stream()
                .map(setting -> new AlterConfigOp(
                        new ConfigEntry(setting.getKey(), setting.getValue()), AlterConfigOp.OpType.SET))
                .toList();
        try (Admin admin = Admin.create(Map.of("bootstrap.servers", server.address()))) {
            admin.incrementalAlterConfigs(Map.of(new ConfigResource(ConfigResource.Type.TOPIC, topic), changes))
                    .all()
                    .get();
        }
    }

    /** The settings of a consumer in a group. */
    Map<String, Object> consumer(String group) {
        Map<String, Object> config = new HashMap<>();
        config.put("bootstrap.servers", server.address());
        config.put("group.id", group);
        config.put("session.timeout.ms", 6000);
        config.put("heartbeat.interval.ms", 500);
        return config;
    }

    void send(String topic, String key, String id, String body) {
        send(topic, key, id.getBytes(StandardCharsets.UTF_8), body.getBytes(StandardCharsets.UTF_8));
    }

    void send(String topic, String key, byte[] id, byte[] body) {
        ProducerRecord<byte[], byte[]> record =
                new ProducerRecord<>(topic, key == null ? null : key.getBytes(StandardCharsets.UTF_8), body);
        if (id != null) {
            record.headers().add("message-id", id);
        }
        sent.add(producer.send(record));
    }

    /** Sends a record again as it is. */
    void resend(ConsumerRecord<byte[], byte[]> record) {
        sent.add(producer.send(
                new ProducerRecord<>(record.topic(), null, record.key(), record.value(), record.headers())));
    }

    /** Waits until all that was sent is there. */
    void flush() {
        producer.flush();
        for (Future<RecordMetadata> answer = sent.poll(); answer != null; answer = sent.poll()) {
            try {
                answer.get();
            } catch (InterruptedException | ExecutionException e) {
                throw new IllegalStateException(e);
            }
        }
    }

    /** Reads this many records of a topic with one partition from its beginning. */
    List<ConsumerRecord<byte[], byte[]>> read(String topic, int records) {
        try (KafkaConsumer<byte[], byte[]> reader = new KafkaConsumer<>(
                Map.of("bootstrap.servers", server.address()),
                new ByteArrayDeserializer(),
                new ByteArrayDeserializer())) {
            List<TopicPartition> all = List.of(new TopicPartition(topic, 0));
            reader.assign(all);
            reader.seekToBeginning(all);
            List<ConsumerRecord<byte[], byte[]>> found = new ArrayList<>();
            until(() -> {
                reader.poll(Duration.ofMillis(100)).forEach(found::add);
                return found.size() >= records;
            });
            return found;
        }
    }

    /** How many records a topic with one partition has. */
    int size(String topic) {
        try (KafkaConsumer<byte[], byte[]> reader = new KafkaConsumer<>(
                Map.of("bootstrap.servers", server.address()),
                new ByteArrayDeserializer(),
                new ByteArrayDeserializer())) {
            TopicPartition only = new TopicPartition(topic, 0);
            return reader.endOffsets(List.of(only)).get(only).intValue();
        }
    }

    static String header(ConsumerRecord<byte[], byte[]> record, String name) {
        Header header = record.headers().lastHeader(name);
        return header == null ? null : new String(header.value(), StandardCharsets.UTF_8);
    }

    static void until(BooleanSupplier condition) {
        long begun = System.nanoTime();
        while (!condition.getAsBoolean()) {
            if (System.nanoTime() - begun > PATIENCE.toNanos()) {
                throw new AssertionError("not within " + PATIENCE);
            }
            LockSupport.parkNanos(10_000_000);
        }
    }

    @Override
    public void close() {
        producer.close(Duration.ZERO);
        server.close();
    }
}
