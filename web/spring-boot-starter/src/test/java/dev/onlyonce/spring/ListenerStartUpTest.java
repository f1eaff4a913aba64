package dev.onlyonce.spring;

import static org.assertj.core.api.Assertions.assertThat;

import com.rabbitmq.client.Channel;
import dev.onlyonce.Way;
import dev.onlyonce.spring.messages.ListenerCoverage;
import dev.onlyonce.spring.messages.OnlyonceListenersAutoConfiguration;
import io.awspring.cloud.sqs.annotation.SqsListener;
import io.awspring.cloud.sqs.listener.acknowledgement.Acknowledgement;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.springframework.amqp.core.AcknowledgeMode;
import org.springframework.amqp.rabbit.annotation.EnableRabbit;
import org.springframework.amqp.rabbit.annotation.RabbitListener;
import org.springframework.amqp.rabbit.config.SimpleRabbitListenerContainerFactory;
import org.springframework.amqp.rabbit.connection.CachingConnectionFactory;
import org.springframework.amqp.support.AmqpHeaders;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.WebApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.kafka.annotation.EnableKafka;
import org.springframework.kafka.annotation.KafkaHandler;
import org.springframework.kafka.annotation.KafkaListener;
import org.springframework.kafka.annotation.RetryableTopic;
import org.springframework.kafka.config.ConcurrentKafkaListenerContainerFactory;
import org.springframework.kafka.core.DefaultKafkaConsumerFactory;
import org.springframework.kafka.listener.ContainerProperties;
import org.springframework.kafka.support.Acknowledgment;
import org.springframework.messaging.handler.annotation.Header;

@DisplayName("Listeners at start-up")
class ListenerStartUpTest extends StartUp {
    private final WebApplicationContextRunner listening = inMemory.withConfiguration(
                    AutoConfigurations.of(OnlyonceListenersAutoConfiguration.class))
            .withUserConfiguration(Kafka.class);

    /** Containers that nobody starts. */
    @Configuration(proxyBeanMethods = false)
    @EnableKafka
    static class Kafka {
        @Bean
        ConcurrentKafkaListenerContainerFactory<Object, Object> kafkaListenerContainerFactory() {
            ConcurrentKafkaListenerContainerFactory<Object, Object> factory =
                    new ConcurrentKafkaListenerContainerFactory<>();
            factory.setConsumerFactory(new DefaultKafkaConsumerFactory<>(Map.of()));
            factory.setAutoStartup(false);
            return factory;
        }

        @Bean
        ConcurrentKafkaListenerContainerFactory<Object, Object> manual() {
            ConcurrentKafkaListenerContainerFactory<Object, Object> factory = kafkaListenerContainerFactory();
            factory.getContainerProperties().setAckMode(ContainerProperties.AckMode.MANUAL);
            return factory;
        }
    }

    static class Mixed {
        @KafkaListener(topics = "orders", groupId = "billing")
        @Idempotent
        public void charge(ConsumerRecord<String, String> order) {}

        @KafkaListener(topics = "orders", groupId = "shipping")
        public void ship(String order) {}

        @KafkaListener(topics = "orders", groupId = "log")
        @Unprotected("it only logs")
        public void log(String order) {}
    }

    static class Batch {
        @KafkaListener(topics = "orders", groupId = "billing")
        @Idempotent
        public void charge(List<String> orders) {}
    }

    static class Keyed {
        @KafkaListener(topics = "orders", groupId = "billing")
        @Idempotent(key = "#orders[0]")
        public void charge(List<String> orders) {}
    }

    static class WithTenant {
        @KafkaListener(topics = "orders", groupId = "billing")
        @Idempotent(tenant = "#order")
        public void charge(String order) {}
    }

    static class Stepped {
        @KafkaListener(topics = "orders", groupId = "billing")
        @Idempotent(way = Way.STEPPED)
        public void charge(String order) {}
    }

    static class RetryTopic {
        @RetryableTopic
        @KafkaListener(topics = "orders", groupId = "billing")
        @Idempotent
        public void charge(String order) {}
    }

    static class Later {
        @SqsListener("orders")
        @Idempotent
        public CompletableFuture<Void> charge(String order) {
            return CompletableFuture.completedFuture(null);
        }
    }

    static class SqsBatch {
        @SqsListener("orders")
        @Idempotent
        public void charge(List<String> orders) {}
    }

    static class Acknowledging {
        @SqsListener("orders")
        @Idempotent
        public void charge(String order, Acknowledgement acknowledgement) {}
    }

    static class KafkaAcknowledging {
        @KafkaListener(topics = "orders", groupId = "billing")
        @Idempotent
        public void charge(String order, Acknowledgment acknowledgment) {}
    }

    static class KeyedAcknowledging {
        @KafkaListener(topics = "orders", groupId = "billing")
        @Idempotent(key = "#order")
        public void charge(String order, Acknowledgment acknowledgment) {}
    }

    static class KafkaManual {
        @KafkaListener(topics = "orders", groupId = "billing", containerFactory = "${listeners}")
        @Idempotent
        public void charge(String order) {}
    }

    @KafkaListener(topics = "orders", groupId = "billing", ackMode = "MANUAL_IMMEDIATE")
    static class KafkaManualClass {
        @KafkaHandler
        @Idempotent
        public void charge(String order) {}
    }

    static class KafkaManualUnprotected {
        @KafkaListener(topics = "orders", groupId = "billing", containerFactory = "manual")
        @Unprotected("it only logs")
        public void log(String order, Acknowledgment acknowledgment) {}
    }

    /** Containers that nobody starts. */
    @Configuration(proxyBeanMethods = false)
    @EnableRabbit
    static class Rabbit {
        @Bean
        SimpleRabbitListenerContainerFactory rabbitListenerContainerFactory() {
            return factory(AcknowledgeMode.AUTO);
        }

        @Bean
        SimpleRabbitListenerContainerFactory manual() {
            return factory(AcknowledgeMode.MANUAL);
        }

        private static SimpleRabbitListenerContainerFactory factory(AcknowledgeMode mode) {
            SimpleRabbitListenerContainerFactory factory = new SimpleRabbitListenerContainerFactory();
            factory.setConnectionFactory(new CachingConnectionFactory("localhost", 1));
            factory.setAutoStartup(false);
            factory.setAcknowledgeMode(mode);
            return factory;
        }
    }

    static class RabbitAuto {
        @RabbitListener(queues = "orders")
        @Idempotent
        public void charge(String order) {}
    }

    static class RabbitAcknowledging {
        @RabbitListener(queues = "orders")
        @Idempotent
        public void charge(String order, Channel channel, @Header(AmqpHeaders.DELIVERY_TAG) long tag) {}
    }

    static class RabbitManual {
        @RabbitListener(queues = "orders", ackMode = "MANUAL")
        @Idempotent
        public void charge(String order) {}
    }

    static class RabbitManualFactory {
        @RabbitListener(queues = "orders", containerFactory = "manual")
        @Idempotent
        public void charge(String order) {}
    }

    static class RabbitAutoInManualFactory {
        @RabbitListener(queues = "orders", containerFactory = "manual", ackMode = "AUTO")
        @Idempotent
        public void charge(String order) {}
    }

    @Test
    @DisplayName("W7 every listener that is not protected is listed, and coverage=required refuses to start")
    void coverage() {
        listening.withBean(Mixed.class).run(context -> {
            Coverage coverage = context.getBean(ListenerCoverage.class).coverage();
            assertThat(coverage.protectedHandlers()).containsExactly("Mixed.charge");
            assertThat(coverage.unprotectedHandlers()).containsExactly("Mixed.ship");
            assertThat(coverage.exempt()).containsExactly("Mixed.log: it only logs");
        });
        refuses(
                listening.withBean(Mixed.class).withPropertyValues("onlyonce.coverage=required"),
                "Mixed.ship",
                "@Unprotected");
    }

    @Test
    @DisplayName("a listener that cannot be protected is refused: batches, tenants, steps, retry topics")
    void refused() {
        refuses(listening.withBean(Batch.class), "Batch.charge", "KafkaInbox");
        refuses(listening.withBean(WithTenant.class), "WithTenant.charge", "Remove the tenant");
        refuses(listening.withBean(Stepped.class), "Stepped.charge", "another way");
        refuses(listening.withBean(RetryTopic.class), "@RetryableTopic", "DefaultErrorHandler");
        listening.withBean(Keyed.class).run(context -> assertThat(context).hasNotFailed());
    }

    @Test
    @DisplayName("a listener of SQS that cannot be protected is refused: futures, batches, acknowledgements of its own")
    void refusedForSqs() {
        refuses(listening.withBean(Later.class), "Later.charge", "Return the value itself");
        refuses(listening.withBean(SqsBatch.class), "SqsBatch.charge", "SqsInbox");
        refuses(listening.withBean(Acknowledging.class), "Acknowledging.charge", "ON_SUCCESS");
    }

    @Test
    @DisplayName("a listener of Kafka that acknowledges its messages itself is refused, also one with a key")
    void refusedForKafka() {
        refuses(listening.withBean(KafkaAcknowledging.class), "KafkaAcknowledging.charge", "ack-mode=record");
        refuses(listening.withBean(KeyedAcknowledging.class), "KeyedAcknowledging.charge", "ack-mode=record");
        refuses(
                listening.withBean(KafkaManual.class).withPropertyValues("listeners=manual"),
                "KafkaManual.charge is an @Idempotent listener with acknowledge mode MANUAL",
                "ack-mode=record");
        refuses(listening.withBean(KafkaManualClass.class), "mode MANUAL_IMMEDIATE", "ack-mode=record");
        listening
                .withBean(KafkaManualUnprotected.class)
                .run(context -> assertThat(context).hasNotFailed());
        listening
                .withBean(KafkaManual.class)
                .withPropertyValues("listeners=kafkaListenerContainerFactory")
                .run(context -> assertThat(context).hasNotFailed());
    }

    @Test
    @DisplayName("a listener of RabbitMQ that acknowledges its messages itself is refused")
    void refusedForRabbit() {
        WebApplicationContextRunner rabbit = inMemory.withConfiguration(
                        AutoConfigurations.of(OnlyonceListenersAutoConfiguration.class))
                .withUserConfiguration(Rabbit.class);
        refuses(rabbit.withBean(RabbitAcknowledging.class), "RabbitAcknowledging.charge", "RabbitTemplate");
        refuses(rabbit.withBean(RabbitManual.class), "mode MANUAL", "acknowledge-mode=auto");
        refuses(rabbit.withBean(RabbitManualFactory.class), "mode MANUAL", "acknowledge-mode=auto");
        rabbit.withBean(RabbitAuto.class).run(context -> assertThat(context).hasNotFailed());
        rabbit.withBean(RabbitAutoInManualFactory.class)
                .run(context -> assertThat(context).hasNotFailed());
    }

    @Test
    @DisplayName("ids of messages come from configured sources, and a wrong source is refused")
    void ids() {
        listening
                .withPropertyValues("onlyonce.messages.id=json:/id,coordinates")
                .run(context -> assertThat(context).hasNotFailed());
        refuses(listening.withPropertyValues("onlyonce.messages.id=heather:x"), "heather:x", "header:message-id");
        refuses(listening.withPropertyValues("onlyonce.messages.id=json:id"), "json:id", "json:/order/id");
    }
}
