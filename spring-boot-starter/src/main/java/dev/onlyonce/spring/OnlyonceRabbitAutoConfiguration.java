package dev.onlyonce.spring;

import org.springframework.amqp.rabbit.config.BaseRabbitListenerContainerFactory;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.context.annotation.Bean;

/** {@link Idempotent} on {@code @RabbitListener} methods. */
@AutoConfiguration(after = {OnlyonceListenersAutoConfiguration.class, OnlyonceMethodsAutoConfiguration.class})
@ConditionalOnClass(BaseRabbitListenerContainerFactory.class)
@ConditionalOnBean(ListenerCalls.class)
public class OnlyonceRabbitAutoConfiguration {

    @Bean
    static RabbitListeners onlyonceRabbitListeners() {
        return new RabbitListeners();
    }
}
