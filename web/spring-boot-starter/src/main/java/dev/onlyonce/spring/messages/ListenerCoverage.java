package dev.onlyonce.spring.messages;

import dev.onlyonce.spring.Coverage;
import dev.onlyonce.spring.Idempotent;
import dev.onlyonce.spring.Unprotected;
import dev.onlyonce.spring.operations.IdempotentPointcut;
import dev.onlyonce.spring.operations.InvalidSettings;
import dev.onlyonce.spring.operations.ListenerMethods;
import java.lang.reflect.Method;
import java.util.ArrayList;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.util.ClassUtils;

/** Finds at start-up which listeners of messages are protected, and says which are not. */
public final class ListenerCoverage implements SmartInitializingSingleton {
    private static final Logger log = LoggerFactory.getLogger(ListenerCoverage.class);

    private final ListableBeanFactory beans;
    private final Coverage.Mode mode;
    private final Coverage coverage = new Coverage(new ArrayList<>(), new ArrayList<>(), new ArrayList<>());

    ListenerCoverage(ListableBeanFactory beans, Coverage.Mode mode) {
        this.beans = beans;
        this.mode = mode;
    }

    /** Which listeners are protected. */
    public Coverage coverage() {
        return coverage;
    }

    @Override
    public void afterSingletonsInstantiated() {
        for (String bean : beans.getBeanDefinitionNames()) {
            Class<?> found = beans.getType(bean, false);
            if (found != null) {
                Class<?> type = ClassUtils.getUserClass(found);
                ListenerMethods.of(type).forEach(method -> sort(type, method));
            }
        }
        if (coverage.unprotectedHandlers().isEmpty() || mode == Coverage.Mode.OFF) {
            return;
        }
        String missing = String.join(", ", coverage.unprotectedHandlers());
        if (mode == Coverage.Mode.REQUIRED) {
            throw new InvalidSettings(
                    "These listeners get messages, possibly more than once, and are not protected: " + missing,
                    "Annotate them with @Idempotent, or with @Unprotected and the reason, or set"
                            + " onlyonce.coverage=report.",
                    null);
        }
        log.warn("These listeners get messages, possibly more than once, and are not protected: {}", missing);
    }

    private void sort(Class<?> type, Method method) {
        String name = type.getSimpleName() + "." + method.getName();
        Idempotent annotation = AnnotatedElementUtils.findMergedAnnotation(method, Idempotent.class);
        Unprotected reason = AnnotatedElementUtils.findMergedAnnotation(method, Unprotected.class);
        if (reason == null) {
            reason = AnnotatedElementUtils.findMergedAnnotation(type, Unprotected.class);
        }
        if (annotation != null) {
            coverage.protectedHandlers().add(IdempotentPointcut.operation(annotation, type, method));
        } else if (reason == null) {
            coverage.unprotectedHandlers().add(name);
        } else {
            coverage.exempt().add(name + ": " + reason.value());
        }
    }
}
