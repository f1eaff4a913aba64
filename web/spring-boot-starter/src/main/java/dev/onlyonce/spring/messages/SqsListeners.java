package dev.onlyonce.spring.messages;

import dev.onlyonce.messages.MessageHeader;
import dev.onlyonce.messages.ReceivedMessage;
import io.awspring.cloud.sqs.listener.SqsHeaders;
import java.lang.reflect.Method;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.messaging.handler.annotation.support.DefaultMessageHandlerMethodFactory;
import org.springframework.messaging.handler.annotation.support.MessageHandlerMethodFactory;
import org.springframework.messaging.handler.invocation.HandlerMethodArgumentResolver;
import org.springframework.messaging.handler.invocation.InvocableHandlerMethod;
import software.amazon.awssdk.core.SdkBytes;
import software.amazon.awssdk.services.sqs.model.Message;
import software.amazon.awssdk.services.sqs.model.MessageAttributeValue;
import software.amazon.awssdk.services.sqs.model.MessageSystemAttributeName;

/**
 * Each listener is to say which message it is called with. Not by an interceptor of the container: that may run on another thread than the
 * listener. Spring Cloud AWS configures only a {@link DefaultMessageHandlerMethodFactory}; this one is the front of another.
 */
final class SqsListeners extends DefaultMessageHandlerMethodFactory {
    private final MessageHandlerMethodFactory other;

    SqsListeners(MessageHandlerMethodFactory other) {
        this.other = other;
    }

    @Override
    public void setArgumentResolvers(@Nullable List<HandlerMethodArgumentResolver> resolvers) {
        if (other instanceof DefaultMessageHandlerMethodFactory factory) {
            factory.setArgumentResolvers(resolvers);
        }
    }

    @Override
    public void afterPropertiesSet() {
        if (other instanceof DefaultMessageHandlerMethodFactory factory) {
            factory.afterPropertiesSet();
        }
    }

    @Override
    public InvocableHandlerMethod createInvocableHandlerMethod(Object bean, Method method) {
        return new Watch(other.createInvocableHandlerMethod(bean, method));
    }

    private static final class Watch extends InvocableHandlerMethod {
        private final InvocableHandlerMethod listener;

        Watch(InvocableHandlerMethod listener) {
            super(listener.getBean(), listener.getMethod());
            this.listener = listener;
        }

        @Override
        public @Nullable Object invoke(org.springframework.messaging.Message<?> message, Object... arguments)
                throws Exception {
            if (message.getHeaders().get(SqsHeaders.SQS_SOURCE_DATA_HEADER) instanceof Message received) {
                String queue = String.valueOf(message.getHeaders().get(SqsHeaders.SQS_QUEUE_NAME_HEADER));
                CurrentMessage.set(new CurrentMessage.Delivered(queue, queue, () -> message(queue, received)));
            }
            try {
                return listener.invoke(message, arguments);
            } finally {
                CurrentMessage.clear();
            }
        }
    }

    /** Its attributes are headers; what FIFO queues know about it too, under the names of SQS. */
    private static ReceivedMessage message(String queue, Message received) {
        List<MessageHeader> headers = new ArrayList<>();
        received.messageAttributes().forEach((name, value) -> headers.add(new MessageHeader(name, bytes(value))));
        add(headers, received, MessageSystemAttributeName.MESSAGE_GROUP_ID);
        add(headers, received, MessageSystemAttributeName.MESSAGE_DEDUPLICATION_ID);
        return new ReceivedMessage(
                queue, received.messageId(), headers, received.body().getBytes(StandardCharsets.UTF_8));
    }

    private static void add(List<MessageHeader> headers, Message received, MessageSystemAttributeName name) {
        String value = received.attributes().get(name);
        if (value != null) {
            headers.add(new MessageHeader(name.toString(), value.getBytes(StandardCharsets.UTF_8)));
        }
    }

    private static byte[] bytes(MessageAttributeValue value) {
        SdkBytes binary = value.binaryValue();
        return binary != null
                ? binary.asByteArray()
                : String.valueOf(value.stringValue()).getBytes(StandardCharsets.UTF_8);
    }
}
