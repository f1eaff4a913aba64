package dev.onlyonce.spring;

import dev.onlyonce.Onlyonce;
import dev.onlyonce.store.Store;
import java.util.LinkedHashMap;
import java.util.Map;
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

/** Endpoint and health, if the application has Spring Boot's actuator. */
@AutoConfiguration(after = {OnlyonceAutoConfiguration.class, OnlyonceWebAutoConfiguration.class})
@ConditionalOnClass(Endpoint.class)
@ConditionalOnBean(Onlyonce.class)
public class OnlyonceActuatorAutoConfiguration {

    @Bean
    @ConditionalOnMissingBean
    @ConditionalOnAvailableEndpoint
    OnlyonceEndpoint onlyonceEndpoint(
            Onlyonce once,
            ObjectProvider<OnlyonceWeb> web,
            ObjectProvider<ListenerCoverage> listeners,
            Downgrades downgrades,
            Reconcilers reconcilers) {
        Map<String, Coverage> coverage = new LinkedHashMap<>();
        web.ifAvailable(it -> coverage.put("coverage", it.operations().coverage()));
        listeners.ifAvailable(it -> coverage.put("listenerCoverage", it.coverage()));
        return new OnlyonceEndpoint(once, coverage, downgrades, reconcilers);
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
