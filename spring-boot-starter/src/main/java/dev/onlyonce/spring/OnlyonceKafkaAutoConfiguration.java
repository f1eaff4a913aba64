package dev.onlyonce.spring;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.context.annotation.Bean;
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
}
