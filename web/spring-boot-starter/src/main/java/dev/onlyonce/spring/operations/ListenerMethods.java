package dev.onlyonce.spring.operations;

import dev.onlyonce.Way;
import dev.onlyonce.spring.Idempotent;
import java.lang.annotation.Annotation;
import java.lang.reflect.Method;
import java.lang.reflect.Parameter;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.springframework.core.MethodIntrospector;
import org.springframework.core.annotation.MergedAnnotations;
import org.springframework.core.annotation.MergedAnnotations.SearchStrategy;

/** Methods to which a broker's messages are delivered. Known by name: an application has some of these libraries, or none. */
public final class ListenerMethods {
    private static final List<String> LISTENERS = List.of(
            "org.springframework.kafka.annotation.KafkaListener",
            "org.springframework.kafka.annotation.KafkaHandler",
            "org.springframework.amqp.rabbit.annotation.RabbitListener",
            "org.springframework.amqp.rabbit.annotation.RabbitHandler",
            "io.awspring.cloud.sqs.annotation.SqsListener",
            "io.awspring.cloud.sqs.annotation.SqsHandler");
    private static final String RETRYABLE_TOPIC = "org.springframework.kafka.annotation.RetryableTopic";
    private static final Set<String> HEADERS = Set.of(
            "org.springframework.messaging.handler.annotation.Header",
            "org.springframework.messaging.handler.annotation.Headers");

    /** What a listener takes to acknowledge its messages, and what to do instead. */
    private static final Map<String, String> ACKNOWLEDGING = Map.of(
            "io.awspring.cloud.sqs.listener.acknowledgement.Acknowledgement",
            "Remove the Acknowledgement, and let the container acknowledge: mode ON_SUCCESS.",
            "org.springframework.kafka.support.Acknowledgment",
            "Remove the Acknowledgment, and let the container commit: spring.kafka.listener.ack-mode=record or batch.",
            "com.rabbitmq.client.Channel",
            "Remove the Channel, and let the container acknowledge: ackMode = \"AUTO\". To publish, use a"
                    + " RabbitTemplate or the outbox.");

    private ListenerMethods() {}

    public static boolean isListener(Method method) {
        MergedAnnotations annotations = MergedAnnotations.from(method, SearchStrategy.TYPE_HIERARCHY);
        return LISTENERS.stream().anyMatch(annotations::isPresent);
    }

    /** Whether a method's key is its message's id. */
    public static boolean takesIdOfMessage(Idempotent annotation, Method method) {
        return annotation.key().isEmpty() && isListener(method);
    }

    /** The listeners of a class, its own and inherited ones. */
    public static Set<Method> of(Class<?> type) {
        return MethodIntrospector.selectMethods(type, ListenerMethods::isListener);
    }

    /** Refuses a listener that would look protected and not be. */
    static void check(Class<?> type, Method method, Idempotent annotation) {
        String name = type.getSimpleName() + "." + method.getName();
        if (Arrays.stream(method.getParameters()).anyMatch(ListenerMethods::isBatch)) {
            throw new InvalidSettings(
                    name + " is an @Idempotent listener and takes a list, but a batch of messages has no single id",
                    "Take one message at a time. For batches use KafkaInbox, AmqpInbox or SqsInbox, which claim a"
                            + " batch in one statement. If the list is the payload of one message, give it a key:"
                            + " @Idempotent(key = \"...\").",
                    null);
        }
        if (!annotation.tenant().isEmpty()) {
            throw new InvalidSettings(
                    name + " is an @Idempotent listener with a tenant, but ids of messages belong to their producer and"
                            + " the consumer group",
                    "Remove the tenant, or give it a key too: @Idempotent(key = \"...\", tenant = \"...\").",
                    null);
        }
        if (Arrays.stream(annotation.way()).anyMatch(way -> way == Way.STEPPED || way == Way.QUEUED)) {
            throw new InvalidSettings(
                    name + " is an @Idempotent listener, which runs transactional or leased",
                    "Use another way, or call a bean with an @Idempotent method of this way.",
                    null);
        }
        if (MergedAnnotations.from(method, SearchStrategy.TYPE_HIERARCHY).isPresent(RETRYABLE_TOPIC)
                || MergedAnnotations.from(type, SearchStrategy.TYPE_HIERARCHY).isPresent(RETRYABLE_TOPIC)) {
            throw new InvalidSettings(
                    name
                            + " is an @Idempotent listener and has @RetryableTopic, which sends a failed message to"
                            + " another topic and group, where nobody would recognise it",
                    "Let the container's error handler try again: DefaultErrorHandler with a backoff.",
                    null);
        }
    }

    /** Refuses a listener, also one with a key of its own, that acknowledges its messages. */
    static void checkAcknowledging(Class<?> type, Method method) {
        for (Class<?> taken : method.getParameterTypes()) {
            String remedy = ACKNOWLEDGING.get(taken.getName());
            if (remedy != null && isListener(method)) {
                throw new InvalidSettings(
                        type.getSimpleName() + "." + method.getName()
                                + " is an @Idempotent listener and acknowledges its messages, but it is not called for a"
                                + " repeated one, and its effect commits after it has returned",
                        remedy,
                        null);
            }
        }
    }

    private static boolean isBatch(Parameter parameter) {
        for (Annotation annotation : parameter.getAnnotations()) {
            if (HEADERS.contains(annotation.annotationType().getName())) {
                return false;
            }
        }
        Class<?> type = parameter.getType();
        return Iterable.class.isAssignableFrom(type) || (type.isArray() && type != byte[].class);
    }
}
