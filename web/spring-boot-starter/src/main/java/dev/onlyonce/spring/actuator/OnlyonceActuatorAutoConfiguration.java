package dev.onlyonce.spring.actuator;

import dev.onlyonce.Onlyonce;
import dev.onlyonce.micrometer.Backlog;
import dev.onlyonce.micrometer.Meters;
import dev.onlyonce.spring.OnlyonceProperties;
import dev.onlyonce.spring.messages.ListenerCoverage;
import dev.onlyonce.spring.messages.OnlyonceListenersAutoConfiguration;
import dev.onlyonce.spring.operations.Boot4Health;
import dev.onlyonce.spring.outbox.OnlyonceOutboxAutoConfiguration;
import dev.onlyonce.spring.store.OnlyonceAutoConfiguration;
import dev.onlyonce.spring.store.Reconcilers;
import dev.onlyonce.spring.transactions.Downgrades;
import dev.onlyonce.spring.web.OnlyonceWebAutoConfiguration;
import dev.onlyonce.spring.web.WebProtection;
import dev.onlyonce.spring.webflux.OnlyonceWebFluxAutoConfiguration;
import dev.onlyonce.sql.SqlStore;
import dev.onlyonce.store.OutboxCounts;
import dev.onlyonce.store.Store;
import io.micrometer.core.instrument.MeterRegistry;
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
import org.springframework.context.annotation.Import;
import org.springframework.core.env.Environment;

/** What operators see: meters if the application has a registry, endpoint and health if it has Spring Boot's actuator. */
@AutoConfiguration(
        after = {
            OnlyonceAutoConfiguration.class,
            OnlyonceWebAutoConfiguration.class,
            OnlyonceWebFluxAutoConfiguration.class,
            OnlyonceOutboxAutoConfiguration.class,
            OnlyonceListenersAutoConfiguration.class
        },
        afterName = {
            "org.springframework.boot.micrometer.metrics.autoconfigure.CompositeMeterRegistryAutoConfiguration",
            "org.springframework.boot.actuate.autoconfigure.metrics.CompositeMeterRegistryAutoConfiguration"
        })
@ConditionalOnBean(Onlyonce.class)
@Import(Boot3Health.class)
public class OnlyonceActuatorAutoConfiguration {
    /** The endpoint. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(Endpoint.class)
    static class WithEndpoint {
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
                        web.ifAvailable(
                                it -> found.put("coverage", it.operations().coverage()));
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
    }

    @Bean
    OnlyonceHealth onlyonceHealth(Onlyonce once, ObjectProvider<Store> store) {
        return new OnlyonceHealth(once, store.getIfUnique());
    }

    /** Spring Boot 4. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(name = "org.springframework.boot.health.contributor.HealthIndicator")
    static class WithHealth {
        @Bean
        @ConditionalOnMissingBean(name = "onlyonceHealthIndicator")
        HealthIndicator onlyonceHealthIndicator(OnlyonceHealth check) {
            return Boot4Health.of(check);
        }
    }

    /** Meters, if the application has a registry; and gauges of unknown entries, the outbox and dead letters. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(MeterRegistry.class)
    @ConditionalOnBean(MeterRegistry.class)
    static class WithMeters {
        /** What a time series database takes without complaint. */
        private static final int TENANTS_MAX = 100;

        @Bean
        @ConditionalOnMissingBean
        Meters onlyonceMeters(MeterRegistry registry) {
            return new Meters(registry, TENANTS_MAX);
        }

        @Bean(destroyMethod = "close")
        Backlog onlyonceBacklog(Meters meters, Onlyonce once, Store store) {
            return Backlog.watch(
                    meters,
                    once,
                    () -> store.origin() instanceof SqlStore sql
                            ? sql.countOutbox(Backlog.COUNT_MAX)
                            : OutboxCounts.NONE);
        }
    }
}
