package dev.onlyonce.payments.kafka;

import dev.onlyonce.payments.events.EventOutbox;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.errors.TopicExistsException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Makes the topics that are missing. */
final class KafkaTopics {
    /** As many bookkeepers can share the work. */
    private static final int PARTITIONS = 6;

    private static final int REQUEST_MAX_MS = 5_000;
    private static final Logger log = LoggerFactory.getLogger(KafkaTopics.class);

    private KafkaTopics() {}

    /** Returns whether they are there now. If the broker does not answer, it is asked again later. */
    static boolean create(String servers) {
        Map<String, Object> config = Map.of(
                "bootstrap.servers",
                servers,
                "default.api.timeout.ms",
                REQUEST_MAX_MS,
                "request.timeout.ms",
                REQUEST_MAX_MS);
        try (Admin admin = Admin.create(config)) {
            for (NewTopic topic :
                    List.of(topic(EventOutbox.DESTINATION, PARTITIONS), topic(EventOutbox.DESTINATION + ".dead", 1))) {
                create(admin, topic);
            }
            return true;
        } catch (ExecutionException | KafkaException e) {
            log.warn("The topics cannot be made now, which is tried again: {}", e.toString());
            return false;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
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
