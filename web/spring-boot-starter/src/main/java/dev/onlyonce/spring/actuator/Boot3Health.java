package dev.onlyonce.spring.actuator;

import dev.onlyonce.spring.operations.HealthLook;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Proxy;
import java.util.Map;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.beans.factory.support.BeanDefinitionRegistry;
import org.springframework.beans.factory.support.BeanNameGenerator;
import org.springframework.beans.factory.support.RootBeanDefinition;
import org.springframework.context.annotation.ImportBeanDefinitionRegistrar;
import org.springframework.core.type.AnnotationMetadata;
import org.springframework.util.ClassUtils;

/**
 * The health indicators of Spring Boot 3.5: a bean for each {@link HealthLook}, whose type is known by name alone, since this jar is
 * compiled against Spring Boot 4.
 */
final class Boot3Health implements ImportBeanDefinitionRegistrar {
    private static final String INDICATOR = "org.springframework.boot.actuate.health.HealthIndicator";
    private static final String BUILDER = "org.springframework.boot.actuate.health.Health$Builder";

    private final ConfigurableListableBeanFactory beans;

    Boot3Health(BeanFactory beans) {
        this.beans = (ConfigurableListableBeanFactory) beans;
    }

    @Override
    public void registerBeanDefinitions(
            AnnotationMetadata metadata, BeanDefinitionRegistry registry, BeanNameGenerator names) {
        if (!ClassUtils.isPresent(INDICATOR, beans.getBeanClassLoader())) {
            return;
        }
        Class<?> type = ClassUtils.resolveClassName(INDICATOR, beans.getBeanClassLoader());
        for (String name : beans.getBeanNamesForType(HealthLook.class, true, false)) {
            String indicator = name + "Indicator";
            if (!registry.containsBeanDefinition(indicator)) {
                registry.registerBeanDefinition(indicator, definition(type, name));
            }
        }
    }

    private <T> RootBeanDefinition definition(Class<T> type, String check) {
        InvocationHandler handler = (proxy, method, arguments) -> {
            if (method.isDefault()) {
                return InvocationHandler.invokeDefault(proxy, method, arguments);
            }
            return switch (method.getName()) {
                case "health" -> health(beans.getBean(check, HealthLook.class));
                case "hashCode" -> System.identityHashCode(proxy);
                case "equals" -> proxy == arguments[0];
                default -> check;
            };
        };
        return new RootBeanDefinition(
                type, () -> type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, handler)));
    }

    /** A {@code Health}; Spring Boot logs nothing of it, so trouble is a detail, as in Spring Boot 4. */
    private Object health(HealthLook check) throws ReflectiveOperationException {
        HealthLook.Report report = report(check);
        Class<?> type = ClassUtils.resolveClassName(BUILDER, beans.getBeanClassLoader());
        Object builder = type.getConstructor().newInstance();
        type.getMethod("up").invoke(builder);
        type.getMethod("withDetails", Map.class).invoke(builder, report.details());
        if (report.trouble() != null) {
            type.getMethod("down", Throwable.class).invoke(builder, report.trouble());
        }
        return type.getMethod("build").invoke(builder);
    }

    private static HealthLook.Report report(HealthLook check) {
        try {
            return check.check();
        } catch (RuntimeException e) {
            return new HealthLook.Report(Map.of(), e);
        }
    }
}
