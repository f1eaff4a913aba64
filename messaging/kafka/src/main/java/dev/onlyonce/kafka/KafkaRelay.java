package dev.onlyonce.kafka;

import dev.onlyonce.Codec;
import dev.onlyonce.messages.OutgoingMessage;
import dev.onlyonce.messages.adapter.CloudEvent;
import dev.onlyonce.sql.inbox.Inbox;
import dev.onlyonce.sql.outbox.Delivery;
import dev.onlyonce.sql.outbox.DeliveryHandler;
import dev.onlyonce.sql.outbox.OutboxRow;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/**
 * Publishes messages from the outbox: {@code Outbox.builder(once).handler(KafkaRelay.TOPIC, relay)}. A message leaves when, and only
 * when, the transaction that accepted it commits. It may leave more than once; each time it has the same CloudEvents id, by which a
 * {@link KafkaInbox} applies it once. Its result is its place in the topic, as a JSON string.
 */
public final class KafkaRelay implements DeliveryHandler, AutoCloseable {
    /** The outbox's topic, whose handler this is. Kafka's topic is the destination of the {@link OutgoingMessage}. */
    public static final String TOPIC = "kafka";

    private static final Duration DELIVERY_MAX = Duration.ofSeconds(20);
    private static final Duration REQUEST_MAX = Duration.ofSeconds(5);

    private final Producer<byte[], byte[]> producer;
    private final String source;

    /**
     * With a producer of its own.
     *
     * @param config Kafka's settings of a producer; {@code bootstrap.servers} is required. All replicas acknowledge, and Kafka's own
     *     retries make no duplicates, whatever these settings say
     * @param source who publishes, as CloudEvents name it; ids are unique within it
     */
    public KafkaRelay(Map<String, Object> config, String source) {
        this.source = CloudEvent.source(source);
        Map<String, Object> all = new HashMap<>();
        // A worker's thread waits for it, and the lease of its row should outlast that.
        all.put(ProducerConfig.DELIVERY_TIMEOUT_MS_CONFIG, (int) DELIVERY_MAX.toMillis());
        all.put(ProducerConfig.REQUEST_TIMEOUT_MS_CONFIG, (int) REQUEST_MAX.toMillis());
        all.put(ProducerConfig.MAX_BLOCK_MS_CONFIG, REQUEST_MAX.toMillis());
        all.putAll(config);
        all.put(ProducerConfig.ACKS_CONFIG, "all");
        all.put(ProducerConfig.ENABLE_IDEMPOTENCE_CONFIG, true);
        this.producer = new KafkaProducer<>(all, new ByteArraySerializer(), new ByteArraySerializer());
    }

    @Override
    public Delivery deliver(OutboxRow row) throws Exception {
        OutgoingMessage outgoing = OutgoingMessage.of(row.payload());
        ProducerRecord<byte[], byte[]> record =
                new ProducerRecord<>(outgoing.destination(), outgoing.key(), outgoing.body());
        header(record, "content-type", outgoing.contentType());
        CloudEvent.attributes(outgoing, row, source).forEach((name, text) -> header(record, "ce_" + name, text));
        try {
            RecordMetadata there = producer.send(record).get();
            String place = there.topic() + "-" + there.partition() + "-" + there.offset();
            return new Delivery.Delivered(place, Codec.json(String.class).encode(place));
        } catch (ExecutionException e) {
            // Even if it was refused for good: the outbox would forget what is proven not to have been sent.
            return new Delivery.Ambiguous(String.valueOf(e.getCause()));
        }
    }

    private static void header(ProducerRecord<byte[], byte[]> record, String name, String text) {
        record.headers().add(name, text.getBytes(StandardCharsets.UTF_8));
    }

    /** Consumers remember ids for this long, so a message may be published again without harm. */
    @Override
    public Duration keyLifetime() {
        return Inbox.RETENTION;
    }

    /** Closes the producer. Close the outbox first. */
    @Override
    public void close() {
        producer.close(DELIVERY_MAX);
    }
}
