package dev.onlyonce.spring;

import dev.onlyonce.Onlyonce;
import dev.onlyonce.store.Store;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.actuate.autoconfigure.endpoint.condition.ConditionalOnAvailableEndpoint;
import org.springframework.boot.actuate.endpoint.annotation.Endpoint;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.Environment;

/** Endpoint and health, if the application has Spring Boot's actuator. */
@AutoConfiguration(
        after = {
            OnlyonceAutoConfiguration.class,
            OnlyonceWebAutoConfiguration.class,
            OnlyonceWebFluxAutoConfiguration.class
        })
@ConditionalOnClass(Endpoint.class)
@ConditionalOnBean(Onlyonce.class)
public class OnlyonceActuatorAutoConfiguration {

    @Bean
    @ConditionalOnMissingBean
    @ConditionalOnAvailableEndpoint
    OnlyonceEndpoint onlyonceEndpoint(
            Onlyonce once,
            ObjectProvider<WebProtection> web,
            ObjectProvider<ListenerCoverage> listeners,
            Downgrades downgrades,
            Reconcilers reconcilers,
            Environment environment) {
        return new OnlyonceEndpoint(
                once,
                () -> {
                    Map<String, Object> found = new LinkedHashMap<>();
                    found.put("leasedThoughTransactional", downgrades.all());
                    found.put("reconcilers", reconcilers.describe());
                    web.ifAvailable(it -> found.put("coverage", it.operations().coverage()));
                    listeners.ifAvailable(it -> found.put("listenerCoverage", it.coverage()));
                    return found;
                },
                console(environment));
    }

    /** On the application's port, which need not be the actuator's. */
    private static @Nullable String console(Environment environment) {
        if (!environment.getProperty("onlyonce.console.enabled", Boolean.class, false)) {
            return null;
        }
        String servlet = environment.getProperty("spring.mvc.servlet.path", "/");
        return environment.getProperty("server.servlet.context-path", "")
                + (servlet.equals("/") ? "" : servlet)
                + environment.getProperty("onlyonce.console.path", OnlyonceProperties.CONSOLE_PATH)
                + "/";
    }

    /** Spring Boot 4 has moved health; on 3.5 there is no indicator. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(name = "org.springframework.boot.health.contributor.HealthIndicator")
    static class WithHealth {
        @Bean
        @ConditionalOnMissingBean(name = "onlyonceHealthIndicator")
        HealthIndicator onlyonceHealthIndicator(Onlyonce once, ObjectProvider<Store> store) {
            return new OnlyonceHealth(once, store.getIfUnique());
        }
    }
}
