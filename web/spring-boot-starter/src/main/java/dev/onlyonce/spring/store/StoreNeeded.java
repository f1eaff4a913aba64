package dev.onlyonce.spring.store;

import dev.onlyonce.store.Store;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.autoconfigure.condition.ConditionMessage;
import org.springframework.boot.autoconfigure.condition.ConditionOutcome;
import org.springframework.boot.autoconfigure.condition.SpringBootCondition;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.context.annotation.ConditionContext;
import org.springframework.context.annotation.ConfigurationCondition;
import org.springframework.core.type.AnnotatedTypeMetadata;
import org.springframework.util.ClassUtils;

/**
 * Whether there is anything to do. An application that protects nothing, and has nowhere to keep entries, starts without a store:
 * it may have the starter from a parent or a platform. As soon as something is annotated, a missing store is an error again.
 */
final class StoreNeeded extends SpringBootCondition implements ConfigurationCondition {
    private static final String ROUTES = "org.springframework.web.reactive.function.server.RouterFunction";

    @Override
    public ConfigurationPhase getConfigurationPhase() {
        return ConfigurationPhase.REGISTER_BEAN;
    }

    @Override
    public ConditionOutcome getMatchOutcome(ConditionContext context, AnnotatedTypeMetadata metadata) {
        ConditionMessage.Builder message = ConditionMessage.forCondition("onlyonce");
        ConfigurableListableBeanFactory beans = context.getBeanFactory();
        if (beans == null || hasStore(context, beans)) {
            return ConditionOutcome.match(message.because("there is somewhere to keep entries"));
        }
        if (hasBean(beans, ROUTES, context.getClassLoader())
                || !DisabledConfiguration.bare(beans).isEmpty()) {
            return ConditionOutcome.match(message.because("something may be protected"));
        }
        return ConditionOutcome.noMatch(message.because("nothing is protected, and there is no store"));
    }

    private static boolean hasStore(ConditionContext context, ConfigurableListableBeanFactory beans) {
        return ClassUtils.isPresent(EngineConfiguration.SQLITE_DRIVER, context.getClassLoader())
                || Binder.get(context.getEnvironment())
                        .bind("onlyonce.store", Bindable.of(Object.class))
                        .isBound()
                || has(beans, DataSource.class)
                || has(beans, Store.class);
    }

    private static boolean has(ConfigurableListableBeanFactory beans, Class<?> type) {
        return beans.getBeanNamesForType(type, true, false).length > 0;
    }

    private static boolean hasBean(ConfigurableListableBeanFactory beans, String type, @Nullable ClassLoader classes) {
        return ClassUtils.isPresent(type, classes) && has(beans, ClassUtils.resolveClassName(type, classes));
    }
}
