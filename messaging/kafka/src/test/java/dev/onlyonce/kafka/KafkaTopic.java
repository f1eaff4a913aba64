package dev.onlyonce.kafka;

import dev.onlyonce.messages.MessageId;
import dev.onlyonce.messages.PoisonMessage;
import dev.onlyonce.messages.RetryLimits;
import dev.onlyonce.testkit.messages.ConsumedTopic;
import dev.onlyonce.testkit.messages.ConsumerSetup;
import dev.onlyonce.testkit.messages.DeadMessage;
import dev.onlyonce.testkit.messages.RunningConsumer;
import dev.onlyonce.testkit.messages.SentMessage;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.GroupNotEmptyException;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/** A topic of Kafka for the contract of consumers: two partitions, and a consumer group of its own. */
final class KafkaTopic implements ConsumedTopic {
    private final Broker broker;
    private final String topic;
    private final KafkaConsumer<byte[], byte[]> reader;
    private final List<DeadMessage> dead = new ArrayList<>();

    KafkaTopic(Broker broker) throws Exception {
        this.broker = broker;
        this.topic = broker.topic(2);
        this.reader = new KafkaConsumer<>(
                Map.of("bootstrap.servers", broker.server.address()),
                new ByteArrayDeserializer(),
                new ByteArrayDeserializer());
        List<TopicPartition> all = List.of(new TopicPartition(topic + ".dead", 0));
        reader.assign(all);
        reader.seekToBeginning(all);
    }

    @Override
    public void send(List<SentMessage> messages) {
        messages.forEach(message -> broker.send(topic, message.key(), message.id(), message.body()));
        broker.flush();
    }

    /** A group without offsets begins at the oldest message. */
    @Override
    public void redeliver(List<SentMessage> messages) {
        try (Admin admin = Admin.create(Map.of("bootstrap.servers", broker.server.address()))) {
            Broker.until(() -> isDeleted(admin));
        }
    }

    private boolean isDeleted(Admin admin) {
        try {
            admin.deleteConsumerGroups(List.of(topic)).all().get();
            return true;
        } catch (ExecutionException e) {
            if (e.getCause() instanceof GroupNotEmptyException) {
                return false;
            }
            throw new IllegalStateException(e);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    @Override
    public RunningConsumer start(ConsumerSetup setup) {
        KafkaInbox.Builder<String> builder = KafkaInbox.builder(
                        setup.once(), broker.consumer(topic), message -> ConsumerSetup.decode(message.body()))
                .topics(topic)
                .id(MessageId.header("message-id"))
                .bodyBytesMax(ConsumerSetup.BODY_BYTES_MAX)
                .handlerMax(setup.handlerMax())
                .retries(new RetryLimits(
                        setup.triesMax(),
                        ConsumerSetup.PAUSE_FIRST,
                        ConsumerSetup.PAUSE_LONGEST,
                        ConsumerSetup.BLOCK_MAX));
        KafkaInbox inbox = setup.leased()
                ? builder.leased(
                        ConsumerSetup.OPERATION,
                        (claim, body, message) -> setup.effect().apply(null, body))
                : builder.transactional(
                        (transaction, body, message) -> setup.effect().apply(transaction, body));
        inbox.start();
        return new Running(inbox);
    }

    private record Running(KafkaInbox inbox) implements RunningConsumer {
        @Override
        public long applied() {
            return inbox.counts().applied();
        }

        @Override
        public long repeated() {
            return inbox.counts().repeated();
        }

        @Override
        public long retried() {
            return inbox.counts().retried();
        }

        @Override
        public long dead() {
            return inbox.counts().dead();
        }

        @Override
        public void close() {
            inbox.close();
        }
    }

    @Override
    public List<DeadMessage> dead() {
        reader.poll(Duration.ofMillis(100)).forEach(record -> dead.add(dead(record)));
        return List.copyOf(dead);
    }

    private static DeadMessage dead(ConsumerRecord<byte[], byte[]> record) {
        Map<String, String> headers = new HashMap<>();
        record.headers()
                .forEach(header -> headers.put(header.key(), new String(header.value(), StandardCharsets.UTF_8)));
        return new DeadMessage(headers, record.value());
    }

    @Override
    public RuntimeException poison(String why) {
        return new PoisonMessage(why);
    }

    @Override
    public void close() {
        reader.close();
    }
}
