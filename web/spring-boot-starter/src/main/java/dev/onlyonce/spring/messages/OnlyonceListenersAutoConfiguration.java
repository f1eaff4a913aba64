package dev.onlyonce.spring.messages;

import dev.onlyonce.Onlyonce;
import dev.onlyonce.messages.MessageConsumer;
import dev.onlyonce.messages.MessageId;
import dev.onlyonce.spring.OnlyonceProperties;
import dev.onlyonce.spring.operations.Boot4Health;
import dev.onlyonce.spring.operations.JsonMapping;
import dev.onlyonce.spring.store.OnlyonceAutoConfiguration;
import io.awspring.cloud.sqs.config.SqsListenerConfigurer;
import org.jspecify.annotations.Nullable;
import org.springframework.amqp.core.AcknowledgeMode;
import org.springframework.amqp.rabbit.annotation.RabbitListener;
import org.springframework.amqp.rabbit.config.AbstractRabbitListenerContainerFactory;
import org.springframework.amqp.rabbit.config.BaseRabbitListenerContainerFactory;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.kafka.annotation.KafkaListener;
import org.springframework.kafka.config.AbstractKafkaListenerContainerFactory;
import org.springframework.kafka.config.KafkaListenerEndpointRegistry;
import org.springframework.messaging.converter.MessageConversionException;

/** {@code @Idempotent} on listeners of messages, if the application has a library with such. */
@AutoConfiguration(after = OnlyonceAutoConfiguration.class)
@ConditionalOnClass(MessageConversionException.class)
@ConditionalOnBean(Onlyonce.class)
public class OnlyonceListenersAutoConfiguration {

    @Bean
    ListenerCalls onlyonceListenerCalls(Onlyonce once, MessageId ids, OnlyonceProperties properties) {
        return new ListenerCalls(once, ids, properties.messages().handlerMax());
    }

    @Bean
    @ConditionalOnMissingBean
    MessageId onlyonceMessageId(OnlyonceProperties properties) {
        return MessageIds.parse(properties.messages().id());
    }

    @Bean
    ListenerCoverage onlyonceListenerCoverage(ListableBeanFactory beans, OnlyonceProperties properties) {
        return new ListenerCoverage(beans, properties.coverage());
    }

    @Bean
    MessagesHealth onlyonceMessagesHealth(ObjectProvider<MessageConsumer> consumers, ListenerCalls listeners) {
        return new MessagesHealth(consumers, listeners);
    }

    /** Spring Boot 4; on 3.5 the actuator's part registers an indicator. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(name = "org.springframework.boot.health.contributor.HealthIndicator")
    static class WithHealth {
        @Bean
        @ConditionalOnMissingBean(name = "onlyonceMessagesHealthIndicator")
        HealthIndicator onlyonceMessagesHealthIndicator(MessagesHealth check) {
            return Boot4Health.of(check);
        }
    }

    /** {@code @Idempotent} on {@code @KafkaListener} methods. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(KafkaListenerEndpointRegistry.class)
    static class WithKafka {
        @Bean
        KafkaListeners onlyonceKafkaListeners(
                ObjectProvider<KafkaListenerEndpointRegistry> registries, ObjectProvider<JsonMapping> json) {
            return new KafkaListeners(registries, json.getIfAvailable(JsonMapping::standard));
        }

        @Bean
        static AcknowledgeModes onlyonceKafkaAcknowledgeModes(ConfigurableListableBeanFactory beans) {
            return new AcknowledgeModes(
                    beans,
                    new AcknowledgeModes.Listeners(
                            KafkaListener.class.getName(),
                            "kafkaListenerContainerFactory",
                            factory -> factory instanceof AbstractKafkaListenerContainerFactory<?, ?, ?> known
                                    ? known.getContainerProperties().getAckMode()
                                    : null,
                            "Let the container commit: spring.kafka.listener.ack-mode=record or batch."));
        }
    }

    /** {@code @Idempotent} on {@code @RabbitListener} methods. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(BaseRabbitListenerContainerFactory.class)
    static class WithRabbit {
        @Bean
        static RabbitListeners onlyonceRabbitListeners() {
            return new RabbitListeners();
        }

        @Bean
        static AcknowledgeModes onlyonceRabbitAcknowledgeModes(ConfigurableListableBeanFactory beans) {
            return new AcknowledgeModes(
                    beans,
                    new AcknowledgeModes.Listeners(
                            RabbitListener.class.getName(),
                            "rabbitListenerContainerFactory",
                            WithRabbit::mode,
                            "Let the container acknowledge: spring.rabbitmq.listener.simple.acknowledge-mode=auto, or"
                                    + " @RabbitListener(ackMode = \"AUTO\")."));
        }

        /** The factory does not say; a container of it, which nobody starts, does. */
        private static @Nullable AcknowledgeMode mode(Object factory) {
            return factory instanceof AbstractRabbitListenerContainerFactory<?> known
                    ? known.createListenerContainer().getAcknowledgeMode()
                    : null;
        }
    }

    /** {@code @Idempotent} on {@code @SqsListener} methods. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(SqsListenerConfigurer.class)
    static class WithSqs {
        @Bean
        SqsListenerConfigurer onlyonceSqsListeners() {
            return registrar -> registrar.setMessageHandlerMethodFactory(
                    new SqsListeners(registrar.getMessageHandlerMethodFactory()));
        }
    }
}
