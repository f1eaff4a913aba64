package dev.onlyonce.payments.kafka;

import dev.onlyonce.Onlyonce;
import dev.onlyonce.kafka.KafkaRelay;
import dev.onlyonce.payments.books.Bookkeeping;
import dev.onlyonce.payments.db.Database;
import dev.onlyonce.payments.events.EventRelay;
import java.util.Map;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.autoconfigure.condition.ConditionalOnExpression;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** Events go to a broker, and the books are kept by whoever consumes them there. */
@Configuration(proxyBeanMethods = false)
@ConditionalOnExpression("!'${payments.kafka.bootstrap-servers:}'.isBlank()")
class KafkaWiring {
    /** Who publishes, as CloudEvents name it. */
    private static final String SOURCE = "/payments";

    /** Closes the producer after the outbox, which is made later. */
    record Producer(KafkaRelay relay) implements AutoCloseable {
        @Override
        public void close() {
            relay.close();
        }
    }

    @Bean
    Producer kafkaProducer(@Value("${payments.kafka.bootstrap-servers}") String servers) {
        return new Producer(new KafkaRelay(Map.of("bootstrap.servers", servers), SOURCE));
    }

    @Bean
    EventRelay kafkaRelay(Producer producer, @Value("${payments.kafka.bootstrap-servers}") String servers) {
        return new EventRelay(new TopicsFirst(new KafkaTopics(servers), producer.relay()));
    }

    @Bean
    @ConditionalOnProperty(name = "payments.kafka.bookkeeper", matchIfMissing = true)
    Bookkeeper bookkeeper(
            Onlyonce once,
            Database database,
            Bookkeeping books,
            @Value("${payments.kafka.bootstrap-servers}") String servers) {
        return new Bookkeeper(once, new Bookkeeper.Broker(servers, null), database, books);
    }
}
