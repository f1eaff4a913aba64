package dev.onlyonce.spring;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.context.annotation.Bean;
import org.springframework.kafka.annotation.KafkaListener;
import org.springframework.kafka.config.AbstractKafkaListenerContainerFactory;
import org.springframework.kafka.config.KafkaListenerEndpointRegistry;

/** {@link Idempotent} on {@code @KafkaListener} methods. */
@AutoConfiguration(after = {OnlyonceListenersAutoConfiguration.class, OnlyonceMethodsAutoConfiguration.class})
@ConditionalOnClass(KafkaListenerEndpointRegistry.class)
@ConditionalOnBean(ListenerCalls.class)
public class OnlyonceKafkaAutoConfiguration {

    @Bean
    KafkaListeners onlyonceKafkaListeners(
            ObjectProvider<KafkaListenerEndpointRegistry> registries, ObjectProvider<Json> json) {
        return new KafkaListeners(registries, json.getIfAvailable(Json::standard));
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
