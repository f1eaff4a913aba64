package dev.onlyonce.spring.outbox;

import dev.onlyonce.Onlyonce;
import dev.onlyonce.spring.OnlyonceProperties;
import dev.onlyonce.spring.operations.Boot4Health;
import dev.onlyonce.spring.operations.InvalidSettings;
import dev.onlyonce.spring.operations.JsonMapping;
import dev.onlyonce.spring.store.OnlyonceAutoConfiguration;
import dev.onlyonce.spring.transactions.EntryTransactions;
import dev.onlyonce.spring.transactions.OnlyonceTransactionsAutoConfiguration;
import dev.onlyonce.sql.SqlStore;
import dev.onlyonce.sql.outbox.DeliveryHandler;
import dev.onlyonce.sql.outbox.Outbox;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** The outbox with the application's {@link DeliveryHandler} beans: built, started, watched and stopped with the application. */
@AutoConfiguration(after = {OnlyonceAutoConfiguration.class, OnlyonceTransactionsAutoConfiguration.class})
@ConditionalOnBean({Onlyonce.class, DeliveryHandler.class})
public class OnlyonceOutboxAutoConfiguration {

    @Bean(destroyMethod = "close")
    @ConditionalOnMissingBean
    Outbox onlyonceOutbox(Onlyonce once, DeliveryHandlers handlers, OnlyonceProperties properties) {
        if (!(once.registry().store() instanceof SqlStore)) {
            throw new InvalidSettings(
                    "There are beans of type DeliveryHandler, but the entries are not in an SQL database, where an"
                            + " outbox is",
                    "Keep the entries in the application's DataSource (no Store bean of another kind), or remove "
                            + handlers.topics() + ".",
                    null);
        }
        try {
            OnlyonceProperties.OutboxSettings settings = properties.outbox();
            Outbox.Builder builder = Outbox.builder(once)
                    .pendingMax(settings.pendingMax())
                    .triesMax(settings.triesMax())
                    .backoff(settings.backoffFirst(), settings.backoffLongest())
                    .parkFor(settings.parkFor())
                    .concurrency(settings.concurrency())
                    .rowsMax(settings.rowsMax())
                    .pollEvery(settings.pollEvery())
                    .closeWaitMax(settings.closeWaitMax())
                    .payloadBytesMax(settings.payloadBytesMax());
            handlers.forEach(builder::handler);
            return builder.build();
        } catch (IllegalArgumentException e) {
            throw new InvalidSettings(
                    "The outbox cannot work as configured: " + e.getMessage(), "Change onlyonce.outbox.*.", e);
        }
    }

    @Bean
    OutboxLifecycle onlyonceOutboxLifecycle(Outbox outbox) {
        return new OutboxLifecycle(outbox);
    }

    /** None if the entries are not in the application's database: then nothing can be queued in its transactions. */
    @Bean
    @Nullable
    QueuedWay onlyonceQueuedWay(
            ObjectProvider<EntryTransactions> transactions, Outbox outbox, ObjectProvider<JsonMapping> json) {
        EntryTransactions available = transactions.getIfAvailable();
        return available == null ? null : new QueuedWay(available, outbox, json.getIfAvailable(JsonMapping::standard));
    }

    @Bean
    OutboxHealth onlyonceOutboxHealth(Outbox outbox) {
        return new OutboxHealth(outbox);
    }

    /** Spring Boot 4; on 3.5 the actuator's part registers an indicator. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(name = "org.springframework.boot.health.contributor.HealthIndicator")
    static class WithHealth {
        @Bean
        @ConditionalOnMissingBean(name = "onlyonceOutboxHealthIndicator")
        HealthIndicator onlyonceOutboxHealthIndicator(OutboxHealth check) {
            return Boot4Health.of(check);
        }
    }
}
