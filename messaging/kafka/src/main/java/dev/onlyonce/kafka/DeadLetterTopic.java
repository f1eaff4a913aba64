package dev.onlyonce.kafka;

import static java.util.Objects.requireNonNull;
import static java.util.stream.Collectors.toSet;

import dev.onlyonce.messages.PoisonMessage;
import dev.onlyonce.messages.adapter.DeadLetterHeaders;
import dev.onlyonce.messages.adapter.DeadLetters;
import dev.onlyonce.messages.adapter.PendingMessage;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import org.apache.kafka.clients.CommonClientConfigs;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.errors.RecordTooLargeException;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.Headers;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The topics of messages that are given up. */
final class DeadLetterTopic implements DeadLetters<ConsumerRecord<byte[], byte[]>> {
    /** The thread that sends must go on polling, or its consumer loses its partitions: so long for all, however many they are. */
    private static final Duration SEND_MAX = Duration.ofSeconds(10);
    /** A send waits for this long if the topic is missing or nobody leads it, and other partitions wait with it. */
    private static final Duration BLOCK_MAX = Duration.ofSeconds(3);

    /** What a producer's buffer holds. Whether a message is too large is the topic's to say: its body would be left behind. */
    private static final int REQUEST_BYTES_MAX = 32 << 20;

    private static final Logger log = LoggerFactory.getLogger(DeadLetterTopic.class);

    private final Producer<byte[], byte[]> producer;
    private final UnaryOperator<String> names;
    private final String group;
    /** Topics that could not be written the last time. Theirs go last: one that is missing must not keep the others waiting. */
    private final Set<String> failing = new HashSet<>();

    DeadLetterTopic(Map<String, Object> config, UnaryOperator<String> names, String group) {
        this.producer = new KafkaProducer<>(config, new ByteArraySerializer(), new ByteArraySerializer());
        this.names = names;
        this.group = group;
    }

    /** The settings of a producer that reaches the same brokers as a consumer with these settings. */
    static Map<String, Object> producerConfig(Map<String, Object> consumerConfig) {
        Map<String, Object> config = new HashMap<>();
        Set<String> known = ProducerConfig.configNames();
        consumerConfig.forEach((name, value) -> {
            if (known.contains(name) && !name.equals(CommonClientConfigs.CLIENT_ID_CONFIG)) {
                config.put(name, value);
            }
        });
        config.putIfAbsent(ProducerConfig.MAX_REQUEST_SIZE_CONFIG, REQUEST_BYTES_MAX);
        config.put(ProducerConfig.ACKS_CONFIG, "all");
        config.put(ProducerConfig.ENABLE_IDEMPOTENCE_CONFIG, true);
        config.put(ProducerConfig.MAX_BLOCK_MS_CONFIG, BLOCK_MAX.toMillis());
        config.put(ProducerConfig.REQUEST_TIMEOUT_MS_CONFIG, (int) SEND_MAX.toMillis() / 2);
        config.put(ProducerConfig.DELIVERY_TIMEOUT_MS_CONFIG, (int) SEND_MAX.toMillis());
        return config;
    }

    /** What became of a message. */
    private enum Answer {
        THERE,
        TOO_LARGE,
        FAILED
    }

    @Override
    public Set<PendingMessage<ConsumerRecord<byte[], byte[]>>> send(
            Map<PendingMessage<ConsumerRecord<byte[], byte[]>>, PoisonMessage> messages) {
        List<PendingMessage<ConsumerRecord<byte[], byte[]>>> inTurn = new ArrayList<>(messages.keySet());
        inTurn.sort(Comparator.comparing(pending -> failing.contains(topic(pending))));
        failing.clear();
        Map<PendingMessage<ConsumerRecord<byte[], byte[]>>, Answer> answers =
                send(inTurn, pending -> whole(pending, requireNonNull(messages.get(pending))));
        List<PendingMessage<ConsumerRecord<byte[], byte[]>>> tooLarge = inTurn.stream()
                .filter(pending -> answers.get(pending) == Answer.TOO_LARGE)
                .toList();
        if (!tooLarge.isEmpty()) {
            answers.putAll(send(tooLarge, pending -> withoutBody(pending, requireNonNull(messages.get(pending)))));
        }
        return answers.entrySet().stream()
                .filter(answer -> answer.getValue() == Answer.THERE)
                .map(Map.Entry::getKey)
                .collect(toSet());
    }

    /** Sends them together and waits for the answers. Those of a topic that cannot be written are not all tried. */
    private Map<PendingMessage<ConsumerRecord<byte[], byte[]>>, Answer> send(
            List<PendingMessage<ConsumerRecord<byte[], byte[]>>> messages,
            Function<PendingMessage<ConsumerRecord<byte[], byte[]>>, ProducerRecord<byte[], byte[]>> form) {
        long begun = System.nanoTime();
        Map<PendingMessage<ConsumerRecord<byte[], byte[]>>, Future<RecordMetadata>> sent = new LinkedHashMap<>();
        for (PendingMessage<ConsumerRecord<byte[], byte[]>> pending : messages) {
            long before = System.nanoTime();
            if (failing.contains(topic(pending)) || before - begun > SEND_MAX.toNanos()) {
                continue;
            }
            try {
                sent.put(pending, producer.send(form.apply(pending)));
            } catch (KafkaException e) {
                sent.put(pending, CompletableFuture.failedFuture(e));
            }
            if (System.nanoTime() - before >= BLOCK_MAX.toNanos()) {
                // The others would wait for the same.
                failing.add(topic(pending));
            }
        }
        producer.flush();
        Map<PendingMessage<ConsumerRecord<byte[], byte[]>>, Answer> answers = new HashMap<>();
        sent.forEach((pending, answer) -> answers.put(pending, answer(pending, answer)));
        if (sent.size() < messages.size()) {
            log.error("{} more dead letters wait for topics that cannot be written", messages.size() - sent.size());
        }
        return answers;
    }

    private Answer answer(PendingMessage<ConsumerRecord<byte[], byte[]>> pending, Future<RecordMetadata> sent) {
        try {
            sent.get();
            return Answer.THERE;
        } catch (ExecutionException e) {
            if (e.getCause() instanceof RecordTooLargeException) {
                return Answer.TOO_LARGE;
            }
            log.error(
                    "The dead letter of {} {} could not be sent to {} and is tried again",
                    pending.message().topic(),
                    pending.message().coordinates(),
                    topic(pending),
                    e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        return Answer.FAILED;
    }

    private String topic(PendingMessage<ConsumerRecord<byte[], byte[]>> pending) {
        return names.apply(pending.record().topic());
    }

    /** Its coordinates still lead to the body, for as long as the topic keeps it. */
    private ProducerRecord<byte[], byte[]> withoutBody(
            PendingMessage<ConsumerRecord<byte[], byte[]>> pending, PoisonMessage why) {
        ProducerRecord<byte[], byte[]> stub = new ProducerRecord<>(topic(pending), new byte[0]);
        describe(stub.headers(), pending, why);
        put(
                stub.headers(),
                DeadLetterHeaders.PREFIX + "body-bytes",
                String.valueOf(pending.message().body().length));
        return stub;
    }

    private ProducerRecord<byte[], byte[]> whole(
            PendingMessage<ConsumerRecord<byte[], byte[]>> pending, PoisonMessage why) {
        ConsumerRecord<byte[], byte[]> record = pending.record();
        ProducerRecord<byte[], byte[]> dead = new ProducerRecord<>(topic(pending), record.key(), record.value());
        for (Header header : record.headers()) {
            dead.headers().add(header);
        }
        describe(dead.headers(), pending, why);
        return dead;
    }

    private void describe(Headers headers, PendingMessage<ConsumerRecord<byte[], byte[]>> pending, PoisonMessage why) {
        ConsumerRecord<byte[], byte[]> record = pending.record();
        DeadLetterHeaders.of(pending, why, group).forEach((name, text) -> put(headers, name, text));
        put(headers, DeadLetterHeaders.PREFIX + "partition", String.valueOf(record.partition()));
        put(headers, DeadLetterHeaders.PREFIX + "offset", String.valueOf(record.offset()));
    }

    private static void put(Headers headers, String name, String text) {
        headers.remove(name).add(name, text.getBytes(StandardCharsets.UTF_8));
    }

    @Override
    public void close() {
        producer.close(SEND_MAX);
    }
}
