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
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.kafka.annotation.EnableKafka;
import org.springframework.kafka.annotation.KafkaHandler;
import org.springframework.kafka.annotation.KafkaListener;
import org.springframework.kafka.config.ConcurrentKafkaListenerContainerFactory;
import org.springframework.kafka.config.TopicBuilder;
import org.springframework.kafka.core.DefaultKafkaConsumerFactory;
import org.springframework.kafka.core.DefaultKafkaProducerFactory;
import org.springframework.kafka.core.KafkaAdmin;
import org.springframework.kafka.core.KafkaTemplate;
import org.springframework.kafka.listener.DeadLetterPublishingRecoverer;
import org.springframework.kafka.listener.DefaultErrorHandler;
import org.springframework.messaging.Message;
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
                    TopicBuilder.name("handled").build(),
                    TopicBuilder.name("record").build(),
                    TopicBuilder.name("record-too").build(),
                    TopicBuilder.name("message").build(),
                    TopicBuilder.name("binary").build(),
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
        ConcurrentKafkaListenerContainerFactory<String, Binary> binaryFactory(@Value("${servers}") String servers) {
            ConcurrentKafkaListenerContainerFactory<String, Binary> factory =
                    new ConcurrentKafkaListenerContainerFactory<>();
            factory.setConsumerFactory(new DefaultKafkaConsumerFactory<>(
                    Map.of("bootstrap.servers", servers, "auto.offset.reset", "earliest"),
                    new StringDeserializer(),
                    (topic, bytes) -> new Binary(new String(bytes, StandardCharsets.UTF_8))));
            return factory;
        }

        @Bean
        Billing billing(Books books) {
            return new Billing(books);
        }

        @Bean
        Handling handling(Books books) {
            return new Handling(books);
        }
    }

    /** Cannot be written as JSON, like a record of Avro. */
    static final class Binary {
        private final String text;

        Binary(String text) {
            this.text = text;
        }

        public Binary getSelf() {
            return this;
        }

        @Override
        public String toString() {
            return text;
        }
    }

    @KafkaListener(topics = "handled", groupId = "billing")
    static class Handling {
        private final Books books;

        Handling(Books books) {
            this.books = books;
        }

        @KafkaHandler
        @Idempotent
        @Transactional
        public void handle(String body) {
            books.charge(body);
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

        @KafkaListener(topics = "record", groupId = "billing")
        @KafkaListener(topics = "record-too", groupId = "billing")
        @Idempotent
        @Transactional
        public void record(ConsumerRecord<String, String> record) {
            books.charge(record.value());
        }

        @KafkaListener(topics = "message", groupId = "billing")
        @Idempotent
        @Transactional
        public void message(Message<String> message) {
            books.charge(message.getPayload());
        }

        @KafkaListener(topics = "binary", groupId = "billing", containerFactory = "binaryFactory")
        @Idempotent
        @Transactional
        public void binary(Binary value) {
            books.charge(value.toString());
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

    @ParameterizedTest
    @ValueSource(strings = {"handled", "record", "record-too", "message", "binary"})
    @DisplayName(
            "N4 a listener of any form applies each message once: a method of a class, records, messages, any type")
    void forms(String topic) throws Exception {
        send(topic, "1", topic + " first");
        send(topic, "1", topic + " first");
        send(topic, "1", topic + " other");
        send(topic, "2", topic + " last");
        until("the last is charged", () -> books.calls(topic + " last").size() == 1);
        assertThat(books.calls(topic + " first")).hasSize(1);
        assertThat(books.calls(topic + " other")).isEmpty();
    }

    @Test
    @DisplayName("leaves the application's own interceptor in its place")
    void interceptor() throws Exception {
        send("ship", "intercepted", "intercepted");
        until("it is shipped", () -> books.calls("intercepted").size() == 1);
        assertThat(context.getBean(Listeners.class).intercepted).contains("intercepted");
    }
}
