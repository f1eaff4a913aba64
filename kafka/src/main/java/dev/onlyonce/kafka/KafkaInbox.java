package dev.onlyonce.kafka;

import static java.util.Objects.requireNonNull;

import dev.onlyonce.Onlyonce;
import dev.onlyonce.messages.MessageId;
import dev.onlyonce.messages.RetryLimits;
import dev.onlyonce.sql.inbox.Inbox;
import dev.onlyonce.store.Time;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.UnaryOperator;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerConfig;
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
public final class KafkaInbox implements AutoCloseable {
    /** The largest body unless configured otherwise; also Kafka's own. */
    private static final int BODY_BYTES_MAX = 1 << 20;

    private static final int CONCURRENCY = 16;
    /** Between two consumers, when one broke. */
    private static final Duration REPLACE_PAUSE = Duration.ofSeconds(1);

    private static final Duration CLOSE_MAX = Duration.ofSeconds(30);

    private static final Logger log = LoggerFactory.getLogger(KafkaInbox.class);

    private final Map<String, Object> config;
    private final List<String> topics;
    private final PollLoop.Parts parts;
    private final CompletableFuture<Void> closing = new CompletableFuture<>();

    private @Nullable Thread thread;
    private @Nullable Consumer<byte[], byte[]> consumer;

    private KafkaInbox(Map<String, Object> config, List<String> topics, PollLoop.Parts parts) {
        this.config = config;
        this.topics = topics;
        this.parts = parts;
    }

    /**
     * How many messages went which way since the start.
     *
     * @param applied took effect now
     * @param repeated were recognised, and left alone; with a leased handler, also those whose outcome is unknown
     * @param retried failures that were followed by another try
     * @param dead became dead letters
     */
    public record Counts(long applied, long repeated, long retried, long dead) {}

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

    /** Starts to consume. */
    public synchronized void start() {
        if (closing.isDone()) {
            throw new IllegalStateException("it is closed");
        }
        if (thread == null) {
            Thread started = new Thread(
                    this::consume, "onlyonce-kafka-" + parts.reading().group());
            started.start();
            thread = started;
        }
    }

    private void consume() {
        while (!closing.isDone()) {
            try (Consumer<byte[], byte[]> own =
                    new KafkaConsumer<>(config, new ByteArrayDeserializer(), new ByteArrayDeserializer())) {
                use(own);
                new PollLoop(own, parts).run(topics, () -> !closing.isDone());
            } catch (RuntimeException e) {
                log.error("The consumer of {} broke and is replaced in {}", topics, REPLACE_PAUSE, e);
                pause();
            } finally {
                use(null);
            }
        }
    }

    private synchronized void use(@Nullable Consumer<byte[], byte[]> used) {
        consumer = used;
        if (used != null && closing.isDone()) {
            used.wakeup();
        }
    }

    private void pause() {
        try {
            parts.time().await(closing, REPLACE_PAUSE);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** How many messages went which way. */
    public Counts counts() {
        return parts.counters().counts();
    }

    /** Ends after the batch that is running, commits its offsets, and leaves the group. Waits for that, within a bound. */
    @Override
    public void close() {
        Thread started;
        synchronized (this) {
            closing.complete(null);
            if (consumer != null) {
                consumer.wakeup();
            }
            started = thread;
        }
        try {
            if (started != null) {
                started.join(CLOSE_MAX.toMillis());
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        parts.application().close();
        parts.deadLetters().close();
    }

    /**
     * Builds a {@link KafkaInbox}.
     *
     * @param <T> the messages' values
     */
    public static final class Builder<T> {
        private final Onlyonce once;
        private final Map<String, Object> config;
        private final MessageDecoder<T> decoder;
        private List<String> topics = List.of();
        private MessageId ids = MessageId.cloudEvent();
        private RetryLimits retries = RetryLimits.STANDARD;
        private UnaryOperator<String> deadLetterTopic = topic -> topic + ".dead";
        private int bodyBytesMax = BODY_BYTES_MAX;
        private int concurrency = CONCURRENCY;

        private Builder(Onlyonce once, Map<String, Object> config, MessageDecoder<T> decoder) {
            this.once = once;
            this.decoder = decoder;
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

        /** Where ids come from; CloudEvents by default. A message without an id becomes a dead letter. */
        public Builder<T> id(MessageId ids) {
            this.ids = ids;
            return this;
        }

        /** How often and for how long a message that fails is tried again. */
        public Builder<T> retries(RetryLimits retries) {
            this.retries = retries;
            return this;
        }

        /** The dead-letter topic of a topic; {@code <topic>.dead} by default. */
        public Builder<T> deadLetterTopic(UnaryOperator<String> deadLetterTopic) {
            this.deadLetterTopic = deadLetterTopic;
            return this;
        }

        /** The largest body that is applied; 1 MiB by default. */
        public Builder<T> bodyBytesMax(int bodyBytesMax) {
            this.bodyBytesMax = bodyBytesMax;
            return this;
        }

        /** How many messages a leased handler applies at once; 16 by default. */
        public Builder<T> concurrency(int concurrency) {
            this.concurrency = concurrency;
            return this;
        }

        /**
         * Applies messages in transactions of the database with the entries.
         *
         * @throws IllegalArgumentException if a setting is wrong, or the {@link Onlyonce} is not built on a SQL store
         */
        public KafkaInbox transactional(TransactionalHandler<T> handler) {
            Reading<T> reading = reading();
            return build(reading, new TransactionalApplication<>(Inbox.of(once), reading, handler));
        }

        /**
         * Applies messages whose effects are outside the database, under leases, on any store.
         *
         * @param operation its policy has the lease, the retention and the reconciler
         * @throws IllegalArgumentException if a setting is wrong
         */
        public KafkaInbox leased(String operation, LeasedHandler<T> handler) {
            Reading<T> reading = reading();
            if (concurrency < 1) {
                throw new IllegalArgumentException("concurrency must be at least 1: " + concurrency);
            }
            return build(
                    reading,
                    new LeasedApplication<>(
                            once, new LeasedApplication.Leasing<>(operation, handler, concurrency), reading));
        }

        private Reading<T> reading() {
            if (topics.isEmpty() || bodyBytesMax < 0) {
                throw new IllegalArgumentException("topics must be given, and bodyBytesMax must not be negative");
            }
            String group =
                    requireNonNull(config.get(ConsumerConfig.GROUP_ID_CONFIG)).toString();
            return new Reading<>(group, ids, decoder, bodyBytesMax);
        }

        private KafkaInbox build(Reading<T> reading, Application application) {
            Time time = once.registry().time();
            DeadLetterTopic deadLetters =
                    new DeadLetterTopic(DeadLetterTopic.producerConfig(config), deadLetterTopic, reading.group());
            return new KafkaInbox(
                    config,
                    topics,
                    new PollLoop.Parts(application, reading, deadLetters, retries, new Counters(), time));
        }
    }
}
