package dev.onlyonce.payments.kafka;

import static java.util.Objects.requireNonNull;

import dev.onlyonce.payments.events.EventOutbox;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.locks.ReentrantLock;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.KafkaFuture;
import org.apache.kafka.common.errors.TopicExistsException;
import org.apache.kafka.common.errors.UnknownTopicOrPartitionException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Makes the topics that are missing. Nothing may be published before: a broker that makes a topic by itself makes it with one partition,
 * which all bookkeepers but one would watch idly. Thread-safe.
 */
final class KafkaTopics {
    /** As many bookkeepers can share the work. */
    private static final int PARTITIONS = 6;

    private static final List<NewTopic> TOPICS =
            List.of(topic(EventOutbox.DESTINATION, PARTITIONS), topic(EventOutbox.DESTINATION + ".dead", 1));

    private static final int REQUEST_MAX_MS = 5_000;
    private static final Logger log = LoggerFactory.getLogger(KafkaTopics.class);

    private final String servers;
    private final ReentrantLock looking = new ReentrantLock();
    private volatile boolean there;

    KafkaTopics(String servers) {
        this.servers = servers;
    }

    /** Returns whether they are there now. If the broker does not answer, or somebody else is just looking, ask again later. */
    boolean create() {
        if (!there && looking.tryLock()) {
            try {
                there = there || createMissing();
            } finally {
                looking.unlock();
            }
        }
        return there;
    }

    private boolean createMissing() {
        Map<String, Object> config = Map.of(
                "bootstrap.servers",
                servers,
                "default.api.timeout.ms",
                REQUEST_MAX_MS,
                "request.timeout.ms",
                REQUEST_MAX_MS);
        try (Admin admin = Admin.create(config)) {
            for (NewTopic topic : missing(admin)) {
                create(admin, topic);
            }
            return true;
        } catch (ExecutionException | KafkaException e) {
            log.warn(
                    "No events are published yet: the topics {} cannot be looked up or made at {}, which is tried again: {}",
                    TOPICS.stream().map(NewTopic::name).toList(),
                    servers,
                    e.toString());
            return false;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    /** First a look: who may not make topics can use those that an administrator has made. */
    private static List<NewTopic> missing(Admin admin) throws ExecutionException, InterruptedException {
        Map<String, ? extends KafkaFuture<?>> found = admin.describeTopics(
                        TOPICS.stream().map(NewTopic::name).toList())
                .topicNameValues();
        List<NewTopic> missing = new ArrayList<>();
        for (NewTopic topic : TOPICS) {
            try {
                requireNonNull(found.get(topic.name())).get();
            } catch (ExecutionException e) {
                if (!(e.getCause() instanceof UnknownTopicOrPartitionException)) {
                    throw e;
                }
                missing.add(topic);
            }
        }
        return missing;
    }

    private static NewTopic topic(String name, int partitions) {
        // As many replicas as the brokers' own default.
        return new NewTopic(name, Optional.of(partitions), Optional.empty());
    }

    private static void create(Admin admin, NewTopic topic) throws ExecutionException, InterruptedException {
        try {
            admin.createTopics(List.of(topic)).all().get();
        } catch (ExecutionException e) {
            if (!(e.getCause() instanceof TopicExistsException)) {
                throw e;
            }
        }
    }
}
