package dev.onlyonce.spring.messages;

import dev.onlyonce.messages.MessageHeader;
import dev.onlyonce.messages.ReceivedMessage;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.aopalliance.aop.Advice;
import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.springframework.amqp.core.Message;
import org.springframework.amqp.core.MessageProperties;
import org.springframework.amqp.rabbit.config.BaseRabbitListenerContainerFactory;
import org.springframework.beans.factory.config.BeanPostProcessor;

/**
 * Each container is to say which message its thread is just handing to a listener. Outermost: an advice of the application's that tries
 * again calls the listener again, and not the advices within.
 */
final class RabbitListeners implements BeanPostProcessor {
    @Override
    public Object postProcessAfterInitialization(Object bean, String name) {
        if (bean instanceof BaseRabbitListenerContainerFactory<?> factory) {
            Advice[] own = factory.getAdviceChain();
            List<Advice> all = new ArrayList<>(List.of(new Watch()));
            all.addAll(own == null ? List.of() : Arrays.asList(own));
            factory.setAdviceChain(all.toArray(Advice[]::new));
        }
        return bean;
    }

    /** Around a container's call of its listener: a channel, and a message or a list of them. */
    private static final class Watch implements MethodInterceptor {
        @Override
        public @Nullable Object invoke(MethodInvocation invocation) throws Throwable {
            for (Object argument : invocation.getArguments()) {
                if (argument instanceof Message message) {
                    String queue = String.valueOf(message.getMessageProperties().getConsumerQueue());
                    CurrentMessage.set(new CurrentMessage.Delivered(queue, queue, () -> message(queue, message)));
                }
            }
            try {
                return invocation.proceed();
            } finally {
                CurrentMessage.clear();
            }
        }
    }

    /** Its own coordinates are empty: a delivery tag belongs to a channel, and not to a message. */
    private static ReceivedMessage message(String queue, Message message) {
        MessageProperties properties = message.getMessageProperties();
        List<MessageHeader> headers = new ArrayList<>();
        add(headers, "message-id", properties.getMessageId());
        add(headers, "content-type", properties.getContentType());
        add(headers, "type", properties.getType());
        properties.getHeaders().forEach((name, value) -> add(headers, name, value));
        return new ReceivedMessage(queue, "", headers, message.getBody());
    }

    private static void add(List<MessageHeader> headers, String name, @Nullable Object value) {
        if (value instanceof byte[] bytes) {
            headers.add(new MessageHeader(name, bytes));
        } else if (value != null) {
            headers.add(new MessageHeader(name, value.toString().getBytes(StandardCharsets.UTF_8)));
        }
    }
}
