package dev.onlyonce.spring.store;

import dev.onlyonce.Way;
import dev.onlyonce.spring.Idempotent;
import dev.onlyonce.spring.operations.IdempotentPointcut;
import dev.onlyonce.spring.operations.InvalidSettings;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.boot.actuate.autoconfigure.endpoint.condition.ConditionalOnAvailableEndpoint;
import org.springframework.boot.actuate.endpoint.annotation.Endpoint;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.util.ClassUtils;

/** Says that nothing is protected, if {@code onlyonce.enabled} is false: nobody must believe otherwise. */
@Configuration(proxyBeanMethods = false)
@ConditionalOnProperty(name = "onlyonce.enabled", havingValue = "false")
class DisabledConfiguration {
    private static final Logger log = LoggerFactory.getLogger(DisabledConfiguration.class);

    @Bean
    SmartInitializingSingleton onlyonceDisabledReport(ListableBeanFactory beans) {
        return () -> {
            refuseImpossible(beans);
            List<String> bare = bare(beans);
            if (!bare.isEmpty()) {
                log.warn("onlyonce.enabled=false: these are @Idempotent, and nothing protects them: {}", bare);
            }
        };
    }

    /** Everything that is annotated. */
    static List<String> bare(ListableBeanFactory beans) {
        return annotated(beans, any -> true);
    }

    /** What runs bare does its work. A queued method would say so and nobody would make its call; a stepped one has no steps. */
    private static void refuseImpossible(ListableBeanFactory beans) {
        List<String> impossible = annotated(
                beans,
                annotation -> Arrays.stream(annotation.way()).anyMatch(way -> way == Way.QUEUED || way == Way.STEPPED));
        if (!impossible.isEmpty()) {
            throw new InvalidSettings(
                    "onlyonce.enabled=false, but these run queued or in steps, which nothing else can do: "
                            + impossible,
                    "Remove onlyonce.enabled=false, or leave these beans out.",
                    null);
        }
    }

    private static List<String> annotated(ListableBeanFactory beans, Predicate<Idempotent> which) {
        TreeSet<String> names = new TreeSet<>();
        for (String bean : beans.getBeanDefinitionNames()) {
            Class<?> found = beans.getType(bean, false);
            if (found != null) {
                Class<?> type = ClassUtils.getUserClass(found);
                Idempotent whole = AnnotatedElementUtils.findMergedAnnotation(type, Idempotent.class);
                if (whole != null && which.test(whole)) {
                    names.add(type.getSimpleName());
                }
                IdempotentPointcut.annotated(type).forEach((method, annotation) -> {
                    if (which.test(annotation)) {
                        names.add(type.getSimpleName() + "." + method.getName());
                    }
                });
            }
        }
        return List.copyOf(names);
    }

    /** With Spring Boot's actuator. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(Endpoint.class)
    static class WithActuator {
        @Bean
        @ConditionalOnAvailableEndpoint
        DisabledEndpoint onlyonceEndpoint(ListableBeanFactory beans) {
            return new DisabledEndpoint(() -> bare(beans));
        }
    }

    /** Stands where {@code OnlyonceEndpoint} would. */
    @Endpoint(id = "onlyonce")
    public static class DisabledEndpoint {
        private final Supplier<List<String>> bare;

        DisabledEndpoint(Supplier<List<String>> bare) {
            this.bare = bare;
        }

        /** That nothing is protected, and what would be. */
        @ReadOperation
        public Map<String, Object> disabled() {
            return Map.of("enabled", false, "bare", bare.get());
        }
    }
}
