package dev.onlyonce.kafka;

import static java.util.Objects.requireNonNull;

import dev.onlyonce.Onlyonce;
import dev.onlyonce.messages.MessageDecoder;
import dev.onlyonce.messages.adapter.ConsumerThread;
import dev.onlyonce.messages.adapter.DeadLetters;
import dev.onlyonce.messages.adapter.InboxBuilder;
import dev.onlyonce.messages.adapter.MessageDispatcher;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Consumes topics of Kafka, and applies each message once for its consumer group. Any number of nodes consume in one group.
 *
 * <p>Each has a thread and a consumer of its own from {@link #start} to {@link #close}; for more threads, build more. A consumer that
 * breaks is replaced. Safe for any number of threads.
 */
public final class KafkaInbox extends ConsumerThread {
    /** Between two consumers, when one broke. */
    private static final Duration REPLACE_PAUSE = Duration.ofSeconds(1);

    private static final Logger log = LoggerFactory.getLogger(KafkaInbox.class);

    private final Map<String, Object> config;
    private final List<String> topics;
    private final MessageDispatcher<ConsumerRecord<byte[], byte[]>> dispatcher;
    private @Nullable Consumer<byte[], byte[]> consumer;

    private KafkaInbox(
            Map<String, Object> config,
            List<String> topics,
            MessageDispatcher.Rules rules,
            DeadLetters<ConsumerRecord<byte[], byte[]>> deadLetters) {
        this(config, topics, rules.group(), new MessageDispatcher<>(rules, deadLetters));
    }

    private KafkaInbox(
            Map<String, Object> config,
            List<String> topics,
            String group,
            MessageDispatcher<ConsumerRecord<byte[], byte[]>> dispatcher) {
        super("onlyonce-kafka-" + group, dispatcher);
        this.config = config;
        this.topics = topics;
        this.dispatcher = dispatcher;
    }

    /**
     * Starts to build one.
     *
     * @param config Kafka's settings of a consumer; {@code bootstrap.servers} and {@code group.id} are required. A group without offsets
     *     begins with the oldest message, and sees committed messages only, unless these settings say otherwise
     * @throws IllegalArgumentException if there is no group, or offsets are to be committed by Kafka's own timer
     */
    public static <T> Builder<T> builder(Onlyonce once, Map<String, Object> config, MessageDecoder<T> decoder) {
        return new Builder<>(once, config, decoder);
    }

    @Override
    protected void consume() {
        while (!isClosing()) {
            try (Consumer<byte[], byte[]> own =
                    new KafkaConsumer<>(config, new ByteArrayDeserializer(), new ByteArrayDeserializer())) {
                use(own);
                new PollLoop(own, dispatcher).run(topics, () -> !isClosing());
            } catch (RuntimeException | Error e) {
                log.error("The consumer of {} broke and is replaced in {}", topics, REPLACE_PAUSE, e);
                pause(REPLACE_PAUSE);
            } finally {
                use(null);
            }
        }
    }

    private synchronized void use(@Nullable Consumer<byte[], byte[]> used) {
        consumer = used;
        if (used != null && isClosing()) {
            used.wakeup();
        }
    }

    @Override
    protected synchronized void wake() {
        if (consumer != null) {
            consumer.wakeup();
        }
    }

    /**
     * Builds a {@link KafkaInbox}.
     *
     * @param <T> the messages' values
     */
    public static final class Builder<T> extends InboxBuilder<T, Builder<T>, KafkaInbox> {
        private final Map<String, Object> config;
        private List<String> topics = List.of();
        private UnaryOperator<String> deadLetterTopic = topic -> topic + ".dead";

        private Builder(Onlyonce once, Map<String, Object> config, MessageDecoder<T> decoder) {
            super(once, decoder);
            this.config = new HashMap<>(Map.of(
                    ConsumerConfig.AUTO_OFFSET_RESET_CONFIG, "earliest",
                    ConsumerConfig.ISOLATION_LEVEL_CONFIG, "read_committed"));
            this.config.putAll(config);
            if (config.get(ConsumerConfig.GROUP_ID_CONFIG) == null) {
                throw new IllegalArgumentException("group.id is missing: messages are applied once for each group");
            }
            Object auto = this.config.put(ConsumerConfig.ENABLE_AUTO_COMMIT_CONFIG, false);
            if (auto != null && Boolean.parseBoolean(auto.toString())) {
                throw new IllegalArgumentException(
                        "enable.auto.commit must be false: an offset is committed after the messages before it are applied");
            }
        }

        /** What to consume. */
        public Builder<T> topics(String... topics) {
            this.topics = List.of(topics);
            return this;
        }

        /** The dead-letter topic of a topic; {@code <topic>.dead} by default. */
        public Builder<T> deadLetterTopic(UnaryOperator<String> deadLetterTopic) {
            this.deadLetterTopic = deadLetterTopic;
            return this;
        }

        @Override
        protected Builder<T> self() {
            return this;
        }

        @Override
        protected String group() {
            if (topics.isEmpty()) {
                throw new IllegalArgumentException("topics must be given");
            }
            return requireNonNull(config.get(ConsumerConfig.GROUP_ID_CONFIG)).toString();
        }

        @Override
        protected KafkaInbox build(MessageDispatcher.Rules rules) {
            return new KafkaInbox(
                    config,
                    topics,
                    rules,
                    new DeadLetterTopic(DeadLetterTopic.producerConfig(config), deadLetterTopic, rules.group()));
        }
    }
}
