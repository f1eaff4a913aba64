package dev.onlyonce.kafka;

import static java.util.Objects.requireNonNull;
import static java.util.stream.Collectors.toSet;

import dev.onlyonce.messages.PoisonMessage;
import dev.onlyonce.messages.adapter.DeadLetterHeaders;
import dev.onlyonce.messages.adapter.DeadLetters;
import dev.onlyonce.messages.adapter.Letter;
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

    /** What became of a letter. */
    private enum Answer {
        THERE,
        TOO_LARGE,
        FAILED
    }

    @Override
    public Set<Letter<ConsumerRecord<byte[], byte[]>>> send(
            Map<Letter<ConsumerRecord<byte[], byte[]>>, PoisonMessage> letters) {
        List<Letter<ConsumerRecord<byte[], byte[]>>> inTurn = new ArrayList<>(letters.keySet());
        inTurn.sort(Comparator.comparing(letter -> failing.contains(topic(letter))));
        failing.clear();
        Map<Letter<ConsumerRecord<byte[], byte[]>>, Answer> answers =
                send(inTurn, letter -> whole(letter, requireNonNull(letters.get(letter))));
        List<Letter<ConsumerRecord<byte[], byte[]>>> tooLarge = inTurn.stream()
                .filter(letter -> answers.get(letter) == Answer.TOO_LARGE)
                .toList();
        if (!tooLarge.isEmpty()) {
            answers.putAll(send(tooLarge, letter -> withoutBody(letter, requireNonNull(letters.get(letter)))));
        }
        return answers.entrySet().stream()
                .filter(answer -> answer.getValue() == Answer.THERE)
                .map(Map.Entry::getKey)
                .collect(toSet());
    }

    /** Sends them together and waits for the answers. Those of a topic that cannot be written are not all tried. */
    private Map<Letter<ConsumerRecord<byte[], byte[]>>, Answer> send(
            List<Letter<ConsumerRecord<byte[], byte[]>>> letters,
            Function<Letter<ConsumerRecord<byte[], byte[]>>, ProducerRecord<byte[], byte[]>> form) {
        long begun = System.nanoTime();
        Map<Letter<ConsumerRecord<byte[], byte[]>>, Future<RecordMetadata>> sent = new LinkedHashMap<>();
        for (Letter<ConsumerRecord<byte[], byte[]>> letter : letters) {
            long before = System.nanoTime();
            if (failing.contains(topic(letter)) || before - begun > SEND_MAX.toNanos()) {
                continue;
            }
            try {
                sent.put(letter, producer.send(form.apply(letter)));
            } catch (KafkaException e) {
                sent.put(letter, CompletableFuture.failedFuture(e));
            }
            if (System.nanoTime() - before >= BLOCK_MAX.toNanos()) {
                // The others would wait for the same.
                failing.add(topic(letter));
            }
        }
        producer.flush();
        Map<Letter<ConsumerRecord<byte[], byte[]>>, Answer> answers = new HashMap<>();
        sent.forEach((letter, answer) -> answers.put(letter, answer(letter, answer)));
        if (sent.size() < letters.size()) {
            log.error("{} more dead letters wait for topics that cannot be written", letters.size() - sent.size());
        }
        return answers;
    }

    private Answer answer(Letter<ConsumerRecord<byte[], byte[]>> letter, Future<RecordMetadata> sent) {
        try {
            sent.get();
            return Answer.THERE;
        } catch (ExecutionException e) {
            if (e.getCause() instanceof RecordTooLargeException) {
                return Answer.TOO_LARGE;
            }
            log.error(
                    "The dead letter of {} {} could not be sent to {} and is tried again",
                    letter.message().topic(),
                    letter.message().coordinates(),
                    topic(letter),
                    e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        return Answer.FAILED;
    }

    private String topic(Letter<ConsumerRecord<byte[], byte[]>> letter) {
        return names.apply(letter.record().topic());
    }

    /** Its coordinates still lead to the body, for as long as the topic keeps it. */
    private ProducerRecord<byte[], byte[]> withoutBody(
            Letter<ConsumerRecord<byte[], byte[]>> letter, PoisonMessage why) {
        ProducerRecord<byte[], byte[]> stub = new ProducerRecord<>(topic(letter), new byte[0]);
        describe(stub.headers(), letter, why);
        put(
                stub.headers(),
                DeadLetterHeaders.PREFIX + "body-bytes",
                String.valueOf(letter.message().body().length));
        return stub;
    }

    private ProducerRecord<byte[], byte[]> whole(Letter<ConsumerRecord<byte[], byte[]>> letter, PoisonMessage why) {
        ConsumerRecord<byte[], byte[]> record = letter.record();
        ProducerRecord<byte[], byte[]> dead = new ProducerRecord<>(topic(letter), record.key(), record.value());
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
