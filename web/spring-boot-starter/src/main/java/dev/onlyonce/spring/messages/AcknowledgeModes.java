package dev.onlyonce.spring.messages;

import dev.onlyonce.spring.operations.IdempotentPointcut;
import dev.onlyonce.spring.operations.InvalidSettings;
import dev.onlyonce.spring.operations.ListenerMethods;
import java.lang.annotation.Annotation;
import java.lang.reflect.Method;
import java.util.Locale;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.core.annotation.MergedAnnotation;
import org.springframework.core.annotation.MergedAnnotation.Adapt;
import org.springframework.core.annotation.MergedAnnotations;
import org.springframework.core.annotation.MergedAnnotations.SearchStrategy;
import org.springframework.util.ClassUtils;

/**
 * Refuses, at start-up, {@code @Idempotent} listeners in containers that leave it to them to acknowledge messages: a listener is not called
 * for a repeated message, so nobody would acknowledge it.
 */
final class AcknowledgeModes implements SmartInitializingSingleton {
    private final ConfigurableListableBeanFactory beans;
    private final Listeners listeners;

    /**
     * The listeners of a broker.
     *
     * @param annotation the full name of their annotation, whose attribute {@code ackMode} overrides the mode of the factory
     * @param factory the name of the bean that makes their containers, unless the annotation names another
     * @param mode of the containers that this bean makes; null if it is not known
     * @param remedy what to do instead
     */
    record Listeners(String annotation, String factory, Function<Object, @Nullable Enum<?>> mode, String remedy) {}

    AcknowledgeModes(ConfigurableListableBeanFactory beans, Listeners listeners) {
        this.beans = beans;
        this.listeners = listeners;
    }

    @Override
    public void afterSingletonsInstantiated() {
        for (String bean : beans.getBeanDefinitionNames()) {
            Class<?> found = beans.getType(bean, false);
            if (found != null) {
                Class<?> type = ClassUtils.getUserClass(found);
                IdempotentPointcut.annotated(type).keySet().forEach(method -> check(type, method));
            }
        }
    }

    private void check(Class<?> type, Method method) {
        if (!ListenerMethods.isListener(method)) {
            return;
        }
        String mode = annotations(type, method)
                .map(this::mode)
                .filter(each -> each.startsWith("MANUAL"))
                .findFirst()
                .orElse(null);
        if (mode != null) {
            throw new InvalidSettings(
                    type.getSimpleName() + "." + method.getName() + " is an @Idempotent listener with acknowledge mode "
                            + mode + ", but it is not called for a repeated message, which nobody would acknowledge",
                    listeners.remedy,
                    null);
        }
    }

    /** Those of the method, and those of the class for methods that handle its messages. */
    private Stream<MergedAnnotation<Annotation>> annotations(Class<?> type, Method method) {
        return Stream.of(method, type)
                .flatMap(each -> MergedAnnotations.from(each, SearchStrategy.TYPE_HIERARCHY).stream())
                .filter(each -> each.getType().getName().equals(listeners.annotation));
    }

    private String mode(MergedAnnotation<?> listener) {
        String own = attribute(listener, "ackMode");
        if (!own.isEmpty()) {
            return own.toUpperCase(Locale.ROOT);
        }
        String named = attribute(listener, "containerFactory");
        String factory = named.isEmpty() ? listeners.factory : named;
        Enum<?> mode = beans.containsBean(factory) ? listeners.mode.apply(beans.getBean(factory)) : null;
        return mode == null ? "" : mode.name();
    }

    /** Empty if the annotation of this version does not have it. */
    private String attribute(MergedAnnotation<?> listener, String name) {
        Object value = listener.asMap(Adapt.values()).get(name);
        String resolved = value instanceof String text ? beans.resolveEmbeddedValue(text) : null;
        return resolved == null ? "" : resolved;
    }
}
