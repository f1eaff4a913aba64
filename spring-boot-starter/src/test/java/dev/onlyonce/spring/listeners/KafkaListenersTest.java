package dev.onlyonce.spring.listeners;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onlyonce.spring.Idempotent;
import dev.onlyonce.testservers.KafkaServer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.kafka.annotation.EnableKafka;
import org.springframework.kafka.annotation.KafkaListener;
import org.springframework.kafka.config.ConcurrentKafkaListenerContainerFactory;
import org.springframework.kafka.config.TopicBuilder;
import org.springframework.kafka.core.DefaultKafkaConsumerFactory;
import org.springframework.kafka.core.DefaultKafkaProducerFactory;
import org.springframework.kafka.core.KafkaAdmin;
import org.springframework.kafka.core.KafkaTemplate;
import org.springframework.kafka.listener.DeadLetterPublishingRecoverer;
import org.springframework.kafka.listener.DefaultErrorHandler;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.util.backoff.FixedBackOff;

@DisplayName("@Idempotent on @KafkaListener")
class KafkaListenersTest extends ListenersContract {
    private KafkaServer server;
    private KafkaConsumer<String, String> reader;
    private final List<String> dead = new ArrayList<>();

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    @EnableKafka
    static class Listeners {
        final List<String> intercepted = new CopyOnWriteArrayList<>();

        @Bean
        KafkaAdmin.NewTopics topics() {
            return new KafkaAdmin.NewTopics(
                    TopicBuilder.name("charge").partitions(2).build(),
                    TopicBuilder.name("ship").build(),
                    TopicBuilder.name("charge-dlt").build(),
                    TopicBuilder.name("ship-dlt").build());
        }

        @Bean
        KafkaAdmin admin(@Value("${servers}") String servers) {
            return new KafkaAdmin(Map.of("bootstrap.servers", servers));
        }

        @Bean
        KafkaTemplate<String, String> template(@Value("${servers}") String servers) {
            return new KafkaTemplate<>(new DefaultKafkaProducerFactory<>(
                    Map.of("bootstrap.servers", servers), new StringSerializer(), new StringSerializer()));
        }

        @Bean
        ConcurrentKafkaListenerContainerFactory<String, String> kafkaListenerContainerFactory(
                @Value("${servers}") String servers, KafkaTemplate<String, String> template) {
            ConcurrentKafkaListenerContainerFactory<String, String> factory =
                    new ConcurrentKafkaListenerContainerFactory<>();
            factory.setConsumerFactory(new DefaultKafkaConsumerFactory<>(
                    Map.of("bootstrap.servers", servers, "auto.offset.reset", "earliest"),
                    new StringDeserializer(),
                    new StringDeserializer()));
            factory.setCommonErrorHandler(
                    new DefaultErrorHandler(new DeadLetterPublishingRecoverer(template), new FixedBackOff(50, 5)));
            factory.setRecordInterceptor((record, consumer) -> {
                intercepted.add(record.value());
                return record;
            });
            return factory;
        }

        @Bean
        Billing billing(Books books) {
            return new Billing(books);
        }
    }

    static class Billing {
        private final Books books;

        Billing(Books books) {
            this.books = books;
        }

        @KafkaListener(topics = "charge", groupId = "billing")
        @Idempotent
        @Transactional
        public void charge(String body) {
            books.charge(body);
        }

        @KafkaListener(topics = "ship", groupId = "shipping")
        @Idempotent(operation = "ship")
        public void ship(String body) {
            books.ship(body);
        }
    }

    @Override
    Class<?> listeners() {
        return Listeners.class;
    }

    @Override
    Map<String, Object> properties() {
        server = KafkaServer.start();
        return Map.of("servers", server.address());
    }

    @Override
    String name(String topic) {
        return topic;
    }

    @Override
    String group(String topic) {
        return topic.equals("charge") ? "billing" : "shipping";
    }

    @Override
    void send(String topic, String id, String body) throws Exception {
        ProducerRecord<String, String> record = new ProducerRecord<>(topic, body);
        if (id != null) {
            record.headers().add("message-id", id.getBytes(StandardCharsets.UTF_8));
        }
        template().send(record).get();
    }

    @SuppressWarnings("unchecked")
    private KafkaTemplate<String, String> template() {
        return context.getBean(KafkaTemplate.class);
    }

    @Override
    List<String> dead() {
        if (reader == null) {
            Map<String, Object> config = new HashMap<>();
            config.put("bootstrap.servers", server.address());
            reader = new KafkaConsumer<>(config, new StringDeserializer(), new StringDeserializer());
            List<TopicPartition> all = List.of(new TopicPartition("charge-dlt", 0), new TopicPartition("ship-dlt", 0));
            reader.assign(all);
            reader.seekToBeginning(all);
        }
        for (ConsumerRecord<String, String> record : reader.poll(Duration.ofMillis(100))) {
            dead.add(record.value());
        }
        return dead;
    }

    @AfterAll
    void stopServer() {
        if (reader != null) {
            reader.close();
        }
        if (server != null) {
            server.close();
        }
    }

    @Test
    @DisplayName("leaves the application's own interceptor in its place")
    void interceptor() throws Exception {
        send("ship", "intercepted", "intercepted");
        until("it is shipped", () -> books.calls("intercepted").size() == 1);
        assertThat(context.getBean(Listeners.class).intercepted).contains("intercepted");
    }
}
