package dev.onlyonce.spring;

import dev.onlyonce.Onlyonce;
import dev.onlyonce.messages.MessageConsumer;
import dev.onlyonce.messages.MessageId;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.messaging.converter.MessageConversionException;

/** {@link Idempotent} on listeners of messages, if the application has a library with such. */
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

    /** Spring Boot 4 has moved health; on 3.5 there is no indicator. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(name = "org.springframework.boot.health.contributor.HealthIndicator")
    static class WithHealth {
        @Bean
        @ConditionalOnMissingBean(name = "onlyonceMessagesHealthIndicator")
        HealthIndicator onlyonceMessagesHealthIndicator(
                ObjectProvider<MessageConsumer> consumers, ListenerCalls listeners) {
            return new MessagesHealth(consumers, listeners);
        }
    }
}
