package dev.onlyonce.spring;

import dev.onlyonce.Onlyonce;
import dev.onlyonce.micrometer.Backlog;
import dev.onlyonce.micrometer.Meters;
import dev.onlyonce.sql.SqlStore;
import dev.onlyonce.store.OutboxCounts;
import dev.onlyonce.store.Store;
import io.micrometer.core.instrument.MeterRegistry;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.context.annotation.Bean;

/** Gauges of unknown entries, the outbox and dead letters, which need the engine that the other meters come before. */
@AutoConfiguration(after = {OnlyonceAutoConfiguration.class, OnlyonceMetersAutoConfiguration.class})
@ConditionalOnClass(MeterRegistry.class)
@ConditionalOnBean({Meters.class, Onlyonce.class})
public class OnlyonceBacklogAutoConfiguration {

    @Bean(destroyMethod = "close")
    Backlog onlyonceBacklog(Meters meters, Onlyonce once, Store store) {
        return Backlog.watch(
                meters,
                once,
                () -> store.origin() instanceof SqlStore sql ? sql.countOutbox(Backlog.COUNT_MAX) : OutboxCounts.NONE);
    }
}
