package dev.onlyonce.kafka;

import dev.onlyonce.messages.PoisonMessage;
import dev.onlyonce.messages.adapter.DeadLetterHeaders;
import dev.onlyonce.messages.adapter.DeadLetters;
import dev.onlyonce.messages.adapter.Letter;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
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
    /** The thread that sends must go on polling, or its consumer loses its partitions. */
    private static final Duration SEND_MAX = Duration.ofSeconds(10);

    private static final Logger log = LoggerFactory.getLogger(DeadLetterTopic.class);

    private final Producer<byte[], byte[]> producer;
    private final UnaryOperator<String> names;
    private final String group;

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
        config.put(ProducerConfig.ACKS_CONFIG, "all");
        config.put(ProducerConfig.ENABLE_IDEMPOTENCE_CONFIG, true);
        config.put(ProducerConfig.MAX_BLOCK_MS_CONFIG, SEND_MAX.toMillis());
        config.put(ProducerConfig.REQUEST_TIMEOUT_MS_CONFIG, (int) SEND_MAX.toMillis() / 2);
        config.put(ProducerConfig.DELIVERY_TIMEOUT_MS_CONFIG, (int) SEND_MAX.toMillis());
        return config;
    }

    @Override
    public Set<Letter<ConsumerRecord<byte[], byte[]>>> send(
            Map<Letter<ConsumerRecord<byte[], byte[]>>, PoisonMessage> letters) {
        Map<Letter<?>, Future<RecordMetadata>> sent = new HashMap<>();
        letters.forEach((letter, why) -> {
            try {
                sent.put(letter, producer.send(whole(letter, why)));
            } catch (KafkaException e) {
                log.error(
                        "The dead letter of {} could not be sent and is tried again",
                        letter.message().coordinates(),
                        e);
            }
        });
        producer.flush();
        Set<Letter<ConsumerRecord<byte[], byte[]>>> there = new HashSet<>();
        letters.forEach((letter, why) -> {
            Future<RecordMetadata> answer = sent.get(letter);
            if (answer != null && isThere(letter, why, answer)) {
                there.add(letter);
            }
        });
        return there;
    }

    private boolean isThere(
            Letter<ConsumerRecord<byte[], byte[]>> letter, PoisonMessage why, Future<RecordMetadata> answer) {
        try {
            answer.get();
            return true;
        } catch (ExecutionException e) {
            if (e.getCause() instanceof RecordTooLargeException) {
                return isSentWithoutBody(letter, why);
            }
            log.error(
                    "The dead letter of {} could not be sent and is tried again",
                    letter.message().coordinates(),
                    e);
            return false;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    /** Its coordinates still lead to the body, for as long as the topic keeps it. */
    private boolean isSentWithoutBody(Letter<ConsumerRecord<byte[], byte[]>> letter, PoisonMessage why) {
        ProducerRecord<byte[], byte[]> stub =
                new ProducerRecord<>(names.apply(letter.record().topic()), new byte[0]);
        describe(stub.headers(), letter, why);
        put(
                stub.headers(),
                DeadLetterHeaders.PREFIX + "body-bytes",
                String.valueOf(letter.message().body().length));
        try {
            producer.send(stub).get();
            return true;
        } catch (ExecutionException | KafkaException e) {
            log.error(
                    "The dead letter of {} could not be sent and is tried again",
                    letter.message().coordinates(),
                    e);
            return false;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    private ProducerRecord<byte[], byte[]> whole(Letter<ConsumerRecord<byte[], byte[]>> letter, PoisonMessage why) {
        ConsumerRecord<byte[], byte[]> record = letter.record();
        ProducerRecord<byte[], byte[]> dead =
                new ProducerRecord<>(names.apply(record.topic()), record.key(), record.value());
        for (Header header : record.headers()) {
            dead.headers().add(header);
        }
        describe(dead.headers(), letter, why);
        return dead;
    }

    private void describe(Headers headers, Letter<ConsumerRecord<byte[], byte[]>> letter, PoisonMessage why) {
        ConsumerRecord<byte[], byte[]> record = letter.record();
        DeadLetterHeaders.of(letter, why, group).forEach((name, text) -> put(headers, name, text));
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
