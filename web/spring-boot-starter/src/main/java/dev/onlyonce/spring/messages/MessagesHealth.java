package dev.onlyonce.spring.messages;

import dev.onlyonce.messages.MessageConsumer;
import dev.onlyonce.spring.operations.HealthLook;
import java.util.Map;
import java.util.TreeMap;
import org.springframework.beans.factory.ObjectProvider;

/**
 * Handlers of consumers and listeners that take longer than they may. The rest of the application is well, so it is not down for them.
 */
final class MessagesHealth implements HealthLook {
    private final ObjectProvider<MessageConsumer> consumers;
    private final ListenerCalls listeners;

    MessagesHealth(ObjectProvider<MessageConsumer> consumers, ListenerCalls listeners) {
        this.consumers = consumers;
        this.listeners = listeners;
    }

    @Override
    public Report check() {
        Map<String, Integer> hung = new TreeMap<>(listeners.hung());
        consumers.forEach(
                consumer -> consumer.hung().forEach((topic, handlers) -> hung.merge(topic, handlers, Integer::sum)));
        return new Report(Map.of("hung", hung), null);
    }
}
