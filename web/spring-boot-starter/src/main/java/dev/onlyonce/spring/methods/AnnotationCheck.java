package dev.onlyonce.spring.methods;

import dev.onlyonce.Way;
import dev.onlyonce.http.Operation;
import dev.onlyonce.spring.Idempotent;
import dev.onlyonce.spring.OnlyonceProperties;
import dev.onlyonce.spring.operations.IdempotentPointcut;
import dev.onlyonce.spring.operations.InvalidSettings;
import dev.onlyonce.spring.operations.ListenerMethods;
import dev.onlyonce.spring.operations.OperationFactory;
import dev.onlyonce.spring.outbox.DeliveryHandlers;
import dev.onlyonce.spring.store.Reconcilers;
import dev.onlyonce.spring.transactions.KnownOperations;
import dev.onlyonce.spring.web.WebProtection;
import dev.onlyonce.store.Store;
import java.lang.reflect.Method;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.core.annotation.MergedAnnotations;
import org.springframework.core.annotation.MergedAnnotations.SearchStrategy;
import org.springframework.stereotype.Controller;
import org.springframework.util.ClassUtils;

/**
 * Finds at start-up what would fail or be ignored later: annotations that nothing acts upon, methods with settings that
 * cannot work, and settings of operations that do not exist. Looks at the types of all beans, also of those that are made
 * when they are needed.
 */
final class AnnotationCheck implements SmartInitializingSingleton {
    private static final Logger log = LoggerFactory.getLogger(AnnotationCheck.class);
    /** What Spring WebFlux calls the bean that handles requests. */
    private static final String WEBFLUX = "webHandler";

    private static final String MAPPING = "org.springframework.web.bind.annotation.RequestMapping";

    private final ListableBeanFactory beans;
    private final OperationFactory factory;
    private final OnlyonceProperties properties;
    private final Executing executing;

    /**
     * How and what is executed.
     *
     * @param known how methods run
     * @param reconcilers whose operations must exist
     * @param deliveries who makes the calls of queued operations
     */
    record Executing(
            @Nullable WebProtection web, KnownOperations known, Reconcilers reconcilers, DeliveryHandlers deliveries) {}

    AnnotationCheck(
            ListableBeanFactory beans, OperationFactory factory, OnlyonceProperties properties, Executing executing) {
        this.beans = beans;
        this.factory = factory;
        this.properties = properties;
        this.executing = executing;
    }

    @Override
    public void afterSingletonsInstantiated() {
        Set<String> names = new TreeSet<>();
        WebProtection web = executing.web;
        StartUpLine line = new StartUpLine(web);
        if (web != null) {
            web.operations().all().forEach(operation -> names.add(operation.name()));
            web.operations().plans().forEach(executing.deliveries::check);
        }
        for (String bean : beans.getBeanDefinitionNames()) {
            Class<?> type = beans.getType(bean, false);
            if (type != null) {
                check(ClassUtils.getUserClass(type), names, line);
            }
        }
        warnOfReconcilers(names);
        Set<String> unknown = new TreeSet<>(properties.operations().keySet());
        unknown.removeAll(names);
        if (!unknown.isEmpty()) {
            throw new InvalidSettings(
                    "onlyonce.operations has settings for " + unknown + ", but there is no such operation",
                    "Write the name as it is, in brackets: onlyonce.operations.[POST\\ /payments].lease in a"
                            + " properties file, \"[POST /payments]\": in YAML. There are: " + names,
                    null);
        }
        line.log(beans.getBeanProvider(Store.class).getIfUnique(), executing.reconcilers);
    }

    /** No error: an application can execute operations by itself that nobody here knows of. */
    private void warnOfReconcilers(Set<String> names) {
        Set<String> others = new TreeSet<>(executing.reconcilers.operations());
        others.removeAll(names);
        beans.getBeanProvider(Operation.class).forEach(operation -> others.remove(operation.name()));
        if (!others.isEmpty()) {
            log.warn(
                    "@Reconciles names {}, which no handler, method or Operation bean is called; there are: {}",
                    others,
                    names);
        }
    }

    private void check(Class<?> type, Set<String> names, StartUpLine line) {
        boolean controller = AnnotatedElementUtils.hasAnnotation(type, Controller.class);
        Map<Method, Idempotent> methods = IdempotentPointcut.annotated(type);
        methods.forEach((method, annotation) -> {
            if (controller) {
                checkHandler(type, method);
            } else {
                String name = IdempotentPointcut.operation(annotation, type, method);
                names.add(name);
                Way way = executing.known.choose(annotation, method, type, name).way();
                MethodPlans.check(type, method, way);
                boolean listener = ListenerMethods.takesIdOfMessage(annotation, method);
                executing.known.declare(name, factory.policy(annotation, name, listener), way);
                line.count(way);
            }
        });
    }

    private void checkHandler(Class<?> type, Method method) {
        String name = type.getSimpleName() + "." + method.getName();
        if (!MergedAnnotations.from(method, SearchStrategy.TYPE_HIERARCHY).isPresent(MAPPING)) {
            throw new InvalidSettings(
                    name + " is @Idempotent in a controller, but it handles no requests, so nothing protects it",
                    "Move it to a bean that is no controller.",
                    null);
        }
        if (executing.web == null && beans.containsBean(WEBFLUX)) {
            throw new InvalidSettings(
                    name + " is @Idempotent, but Spring WebFlux handles the requests without our filter",
                    "Leave OnlyonceWebFluxAutoConfiguration in, use Spring MVC, or put @Idempotent with a key on the bean that"
                            + " it calls.",
                    null);
        }
    }
}
