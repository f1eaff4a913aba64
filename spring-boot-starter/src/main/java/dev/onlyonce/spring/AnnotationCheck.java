package dev.onlyonce.spring;

import java.lang.reflect.Method;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
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
    private static final String MAPPING = "org.springframework.web.bind.annotation.RequestMapping";
    /** What Spring WebFlux calls the bean that handles requests. */
    private static final String WEBFLUX = "webHandler";

    private final ListableBeanFactory beans;
    private final OperationFactory factory;
    private final OnlyonceProperties properties;
    private final @Nullable OnlyonceWeb web;

    AnnotationCheck(
            ListableBeanFactory beans,
            OperationFactory factory,
            OnlyonceProperties properties,
            @Nullable OnlyonceWeb web) {
        this.beans = beans;
        this.factory = factory;
        this.properties = properties;
        this.web = web;
    }

    @Override
    public void afterSingletonsInstantiated() {
        Set<String> names = new TreeSet<>();
        if (web != null) {
            web.operations().all().forEach(operation -> names.add(operation.name()));
        }
        for (String bean : beans.getBeanDefinitionNames()) {
            Class<?> type = beans.getType(bean, false);
            if (type != null) {
                check(ClassUtils.getUserClass(type), names);
            }
        }
        Set<String> unknown = new TreeSet<>(properties.operations().keySet());
        unknown.removeAll(names);
        if (!unknown.isEmpty()) {
            throw new InvalidSettings(
                    "onlyonce.operations has settings for " + unknown + ", but there is no such operation",
                    "Write the name as it is, in brackets: onlyonce.operations.[POST\\ /payments].lease in a properties file,"
                            + " \"[POST /payments]\": in YAML. There are: " + names,
                    null);
        }
    }

    private void check(Class<?> type, Set<String> names) {
        boolean controller = AnnotatedElementUtils.hasAnnotation(type, Controller.class);
        Map<Method, Idempotent> methods = IdempotentPointcut.annotated(type);
        methods.forEach((method, annotation) -> {
            if (controller) {
                checkHandler(type, method);
            } else {
                String name = IdempotentPointcut.operation(annotation, type, method);
                factory.policy(annotation, name);
                names.add(name);
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
        if (web == null && beans.containsBean(WEBFLUX)) {
            throw new InvalidSettings(
                    name + " is @Idempotent, but Spring WebFlux handles the requests, which nothing protects",
                    "Use Spring MVC (spring-boot-starter-webmvc), or put @Idempotent with a key on the bean that it calls.",
                    null);
        }
    }
}
