package dev.onlyonce.payments.kafka;

import dev.onlyonce.Onlyonce;
import dev.onlyonce.kafka.KafkaInbox;
import dev.onlyonce.messages.DeadLetterReason;
import dev.onlyonce.messages.MessageCounts;
import dev.onlyonce.messages.MessageId;
import dev.onlyonce.messages.PoisonMessage;
import dev.onlyonce.payments.books.Bookkeeping;
import dev.onlyonce.payments.db.Database;
import dev.onlyonce.payments.events.EventOutbox;
import dev.onlyonce.payments.events.PaymentEvent;
import dev.onlyonce.store.Time;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Consumes events and posts each once: its lines and its id commit in one transaction, then its offset. Any number of bookkeepers share the
 * work, and any of them may be killed at any time.
 */
public final class Bookkeeper implements AutoCloseable {
    private static final String GROUP = "bookkeeping";
    /** How long a killed one's partitions wait for it; a broker's shortest by default. */
    private static final int SESSION_MS = 6_000;

    private static final int HEARTBEAT_MS = 1_000;
    /** How long it takes to notice a topic that was made meanwhile. */
    private static final int METADATA_MS = 5_000;

    private static final Duration TOPICS_AGAIN = Duration.ofSeconds(2);
    private static final Logger log = LoggerFactory.getLogger(Bookkeeper.class);

    private final KafkaTopics topics;
    private final Time time;
    private final KafkaInbox inbox;
    private volatile boolean closed;

    /**
     * Where the events are.
     *
     * @param servers the brokers
     * @param name a name of its own in the group, under which it finds its partitions again after a kill; empty for none
     */
    public record Broker(String servers, @Nullable String name) {}

    /** Begins to consume at once; a broker that is down is waited for. */
    public Bookkeeper(Onlyonce once, Broker broker, Database database, Bookkeeping books) {
        this.topics = new KafkaTopics(broker.servers);
        this.time = once.registry().time();
        Map<String, Object> config = new HashMap<>(Map.of(
                "bootstrap.servers",
                broker.servers,
                "group.id",
                GROUP,
                "session.timeout.ms",
                SESSION_MS,
                "heartbeat.interval.ms",
                HEARTBEAT_MS,
                "metadata.max.age.ms",
                METADATA_MS,
                // A broker would make it with one partition, for all bookkeepers together.
                "allow.auto.create.topics",
                false));
        if (broker.name != null) {
            config.put("group.instance.id", broker.name);
        }
        inbox = KafkaInbox.builder(once, config, message -> PaymentEvent.read(message.body()))
                .topics(EventOutbox.DESTINATION)
                .id(MessageId.cloudEvent())
                .transactional((transaction, event, message) -> {
                    try {
                        books.post(database.on(transaction), event);
                    } catch (Bookkeeping.AlreadyPosted e) {
                        // A dead letter at once: those behind it, as old perhaps, do not wait until its tries are used
                        // up.
                        throw new PoisonMessage(DeadLetterReason.REJECTED, String.valueOf(e.getMessage()), e);
                    }
                });
        time.schedule(Duration.ZERO, this::createTopics);
        inbox.start();
    }

    private void createTopics() {
        if (!closed && !topics.create()) {
            time.schedule(TOPICS_AGAIN, this::createTopics);
        }
    }

    /** How many events went which way. */
    public MessageCounts counts() {
        return inbox.counts();
    }

    @Override
    public void close() {
        closed = true;
        inbox.close();
        log.info("Bookkeeping ended: {}", inbox.counts());
    }
}
