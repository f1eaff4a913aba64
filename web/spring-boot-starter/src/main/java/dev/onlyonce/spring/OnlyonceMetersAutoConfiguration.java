package dev.onlyonce.spring;

import dev.onlyonce.micrometer.Meters;
import io.micrometer.core.instrument.MeterRegistry;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;

/** Meters, if the application has a registry. Before the engine, which wants to know its listeners. */
@AutoConfiguration(
        before = OnlyonceAutoConfiguration.class,
        afterName = {
            "org.springframework.boot.micrometer.metrics.autoconfigure.CompositeMeterRegistryAutoConfiguration",
            "org.springframework.boot.actuate.autoconfigure.metrics.CompositeMeterRegistryAutoConfiguration"
        })
@ConditionalOnClass(MeterRegistry.class)
@ConditionalOnBean(MeterRegistry.class)
public class OnlyonceMetersAutoConfiguration {
    /** What a time series database takes without complaint. */
    private static final int TENANTS_MAX = 100;

    @Bean
    @ConditionalOnMissingBean
    Meters onlyonceMeters(MeterRegistry registry) {
        return new Meters(registry, TENANTS_MAX);
    }
}
