package dev.onlyonce.spring.messages;

import static java.util.Objects.requireNonNullElse;

import dev.onlyonce.messages.MessageHeader;
import dev.onlyonce.messages.ReceivedMessage;
import dev.onlyonce.spring.operations.JsonMapping;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.header.Header;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.context.SmartLifecycle;
import org.springframework.kafka.config.KafkaListenerEndpointRegistry;
import org.springframework.kafka.listener.AbstractMessageListenerContainer;
import org.springframework.kafka.listener.MessageListenerContainer;
import org.springframework.kafka.listener.RecordInterceptor;
import org.springframework.kafka.support.KafkaUtils;

/** Before the containers start: each is to say which record its thread is just handing to a listener. */
final class KafkaListeners implements SmartLifecycle {
    private static final byte[] NOTHING = {};

    private final ObjectProvider<KafkaListenerEndpointRegistry> registries;
    private final JsonMapping json;
    private volatile boolean running;

    KafkaListeners(ObjectProvider<KafkaListenerEndpointRegistry> registries, JsonMapping json) {
        this.registries = registries;
        this.json = json;
    }

    @Override
    public int getPhase() {
        return Integer.MIN_VALUE;
    }

    @Override
    public void start() {
        registries.forEach(registry -> registry.getAllListenerContainers().forEach(this::watch));
        running = true;
    }

    @Override
    public void stop() {
        running = false;
    }

    @Override
    public boolean isRunning() {
        return running;
    }

    private void watch(MessageListenerContainer container) {
        if (container instanceof AbstractMessageListenerContainer<?, ?> watched) {
            watchRecords(watched);
        }
    }

    private <K, V> void watchRecords(AbstractMessageListenerContainer<K, V> container) {
        RecordInterceptor<K, V> other = container.getRecordInterceptor();
        if (other instanceof Watch) {
            return;
        }
        container.setRecordInterceptor(new Watch<>(other, json));
    }

    /** Calls the application's own interceptor, if there is one, and remembers the record that goes to the listener. */
    private record Watch<K, V>(@Nullable RecordInterceptor<K, V> other, JsonMapping json)
            implements RecordInterceptor<K, V> {
        @Override
        public @Nullable ConsumerRecord<K, V> intercept(ConsumerRecord<K, V> record, Consumer<K, V> consumer) {
            ConsumerRecord<K, V> passed = other == null ? record : other.intercept(record, consumer);
            if (passed != null) {
                String group = requireNonNullElse(KafkaUtils.getConsumerGroupId(), "");
                CurrentMessage.set(new CurrentMessage.Delivered(group, passed.topic(), () -> message(passed, json)));
            }
            return passed;
        }

        @Override
        public void success(ConsumerRecord<K, V> record, Consumer<K, V> consumer) {
            if (other != null) {
                other.success(record, consumer);
            }
        }

        @Override
        public void failure(ConsumerRecord<K, V> record, Exception exception, Consumer<K, V> consumer) {
            if (other != null) {
                other.failure(record, exception, consumer);
            }
        }

        @Override
        public void afterRecord(ConsumerRecord<K, V> record, Consumer<K, V> consumer) {
            CurrentMessage.clear();
            if (other != null) {
                other.afterRecord(record, consumer);
            }
        }

        @Override
        public void setupThreadState(Consumer<?, ?> consumer) {
            if (other != null) {
                other.setupThreadState(consumer);
            }
        }

        @Override
        public void clearThreadState(Consumer<?, ?> consumer) {
            CurrentMessage.clear();
            if (other != null) {
                other.clearThreadState(consumer);
            }
        }
    }

    /** The deserialised value stands for the body: the same bytes make the same value. */
    private static ReceivedMessage message(ConsumerRecord<?, ?> record, JsonMapping json) {
        List<MessageHeader> headers = new ArrayList<>();
        for (Header header : record.headers()) {
            headers.add(new MessageHeader(header.key(), requireNonNullElse(header.value(), NOTHING)));
        }
        // With its time, as for a KafkaInbox: offsets come again when a topic is deleted and made again.
        String coordinates = record.partition() + "-" + record.offset() + "-" + record.timestamp();
        return new ReceivedMessage(record.topic(), coordinates, headers, body(record.value(), json));
    }

    private static byte[] body(@Nullable Object value, JsonMapping json) {
        if (value == null) {
            return NOTHING;
        }
        if (value instanceof byte[] bytes) {
            return bytes;
        }
        return value instanceof CharSequence text
                ? text.toString().getBytes(StandardCharsets.UTF_8)
                : written(value, json);
    }

    /** Records of Avro and messages of Protobuf cannot be written as JSON by everybody; their text says what they contain. */
    private static byte[] written(Object value, JsonMapping json) {
        try {
            return json.write(value);
        } catch (RuntimeException | StackOverflowError e) {
            if (!hasText(value.getClass())) {
                throw new IllegalStateException(
                        "Messages of " + value.getClass() + " cannot be compared: it has neither a JSON form nor a"
                                + " toString of its own",
                        e);
            }
            return value.toString().getBytes(StandardCharsets.UTF_8);
        }
    }

    private static boolean hasText(Class<?> type) {
        try {
            return type.getMethod("toString").getDeclaringClass() != Object.class;
        } catch (NoSuchMethodException e) {
            throw new IllegalStateException(e);
        }
    }
}
