package dev.onlyonce.spring;

import dev.onlyonce.Onlyonce;
import dev.onlyonce.messages.MessageId;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;
import org.springframework.messaging.converter.MessageConversionException;

/** {@link Idempotent} on listeners of messages, if the application has a library with such. */
@AutoConfiguration(after = OnlyonceAutoConfiguration.class)
@ConditionalOnClass(MessageConversionException.class)
@ConditionalOnBean(Onlyonce.class)
public class OnlyonceListenersAutoConfiguration {

    @Bean
    ListenerCalls onlyonceListenerCalls(Onlyonce once, MessageId ids) {
        return new ListenerCalls(once, ids);
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
}
