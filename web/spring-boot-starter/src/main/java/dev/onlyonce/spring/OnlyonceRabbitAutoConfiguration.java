package dev.onlyonce.spring;

import org.jspecify.annotations.Nullable;
import org.springframework.amqp.core.AcknowledgeMode;
import org.springframework.amqp.rabbit.annotation.RabbitListener;
import org.springframework.amqp.rabbit.config.AbstractRabbitListenerContainerFactory;
import org.springframework.amqp.rabbit.config.BaseRabbitListenerContainerFactory;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
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

    @Bean
    static AcknowledgeModes onlyonceRabbitAcknowledgeModes(ConfigurableListableBeanFactory beans) {
        return new AcknowledgeModes(
                beans,
                new AcknowledgeModes.Listeners(
                        RabbitListener.class.getName(),
                        "rabbitListenerContainerFactory",
                        OnlyonceRabbitAutoConfiguration::mode,
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
