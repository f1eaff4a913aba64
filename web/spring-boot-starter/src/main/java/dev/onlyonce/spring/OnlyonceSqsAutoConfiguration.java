package dev.onlyonce.spring;

import io.awspring.cloud.sqs.config.SqsListenerConfigurer;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.context.annotation.Bean;

/** {@link Idempotent} on {@code @SqsListener} methods. */
@AutoConfiguration(after = {OnlyonceListenersAutoConfiguration.class, OnlyonceMethodsAutoConfiguration.class})
@ConditionalOnClass(SqsListenerConfigurer.class)
@ConditionalOnBean(ListenerCalls.class)
public class OnlyonceSqsAutoConfiguration {

    @Bean
    SqsListenerConfigurer onlyonceSqsListeners() {
        return registrar ->
                registrar.setMessageHandlerMethodFactory(new SqsListeners(registrar.getMessageHandlerMethodFactory()));
    }
}
