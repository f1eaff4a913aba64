package dev.onlyonce.spring.outbox;

import dev.onlyonce.Way;
import dev.onlyonce.spring.Delivers;
import dev.onlyonce.spring.operations.HandlerPlan;
import dev.onlyonce.spring.operations.InvalidSettings;
import dev.onlyonce.sql.outbox.DeliveryHandler;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.BiConsumer;
import org.springframework.beans.factory.ListableBeanFactory;

/** The application's {@link DeliveryHandler} beans, by the topics that {@link Delivers} names. */
public final class DeliveryHandlers {
    private final ListableBeanFactory beans;
    private final Map<String, String> byTopic = new TreeMap<>();
    private final List<String> unassigned = new ArrayList<>();

    public DeliveryHandlers(ListableBeanFactory beans) {
        this.beans = beans;
        for (String bean : beans.getBeanNamesForType(DeliveryHandler.class, true, false)) {
            Delivers topics = beans.findAnnotationOnBean(bean, Delivers.class, false);
            if (topics == null) {
                unassigned.add(bean);
            }
            for (String topic : topics == null ? new String[0] : topics.value()) {
                String before = byTopic.put(topic, bean);
                if (before != null) {
                    throw new InvalidSettings(
                            "The beans \"" + before + "\" and \"" + bean + "\" both deliver " + topic,
                            "Name each topic in one @Delivers only.",
                            null);
                }
            }
        }
    }

    /** Hands over all beans; throws {@link InvalidSettings} if one does not say what it is for. */
    void forEach(BiConsumer<String, DeliveryHandler> handlers) {
        if (!unassigned.isEmpty()) {
            throw new InvalidSettings(
                    "Nothing says for which topics these beans of type DeliveryHandler are: " + unassigned,
                    "Annotate their classes, or the methods that make them, with @Delivers(\"POST /payments\").",
                    null);
        }
        byTopic.forEach((topic, bean) -> handlers.accept(topic, beans.getBean(bean, DeliveryHandler.class)));
    }

    Set<String> topics() {
        return byTopic.keySet();
    }

    /** Refuses a queued operation whose calls nobody makes. */
    public void check(String operation, HandlerPlan plan) {
        if (plan.choice().way() == Way.QUEUED && !byTopic.containsKey(plan.topic())) {
            throw new InvalidSettings(
                    operation + " is queued, but nobody makes its calls: no bean delivers \"" + plan.topic() + "\"",
                    "Define a bean of type dev.onlyonce.sql.outbox.DeliveryHandler with @Delivers(\"" + plan.topic()
                            + "\"). There are beans for: " + byTopic.keySet(),
                    null);
        }
    }
}
