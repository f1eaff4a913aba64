package dev.onlyonce.payments;

import com.zaxxer.hikari.HikariDataSource;
import dev.onlyonce.Listener;
import dev.onlyonce.Onlyonce;
import dev.onlyonce.http.WebhookReceiver;
import dev.onlyonce.payments.books.Bookkeeping;
import dev.onlyonce.payments.books.LocalBooks;
import dev.onlyonce.payments.db.DataSources;
import dev.onlyonce.payments.db.Database;
import dev.onlyonce.payments.db.Dialect;
import dev.onlyonce.payments.domain.Announcements;
import dev.onlyonce.payments.domain.ApiKeys;
import dev.onlyonce.payments.domain.ChargeReconciler;
import dev.onlyonce.payments.domain.Charging;
import dev.onlyonce.payments.domain.ForgottenRefunds;
import dev.onlyonce.payments.domain.LedgerCheck;
import dev.onlyonce.payments.domain.Orders;
import dev.onlyonce.payments.domain.Payments;
import dev.onlyonce.payments.domain.ProviderClient;
import dev.onlyonce.payments.domain.ProviderEvents;
import dev.onlyonce.payments.domain.Refunding;
import dev.onlyonce.payments.domain.Refunds;
import dev.onlyonce.payments.domain.Transfers;
import dev.onlyonce.payments.events.EventOutbox;
import dev.onlyonce.payments.events.EventRelay;
import dev.onlyonce.payments.provider.Webhooks;
import dev.onlyonce.spring.WebhookEndpoint;
import dev.onlyonce.sql.outbox.Outbox;
import dev.onlyonce.store.Time;
import java.time.Duration;
import java.time.InstantSource;
import javax.sql.DataSource;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Lazy;
import org.springframework.scheduling.annotation.EnableScheduling;
import org.springframework.scheduling.annotation.SchedulingConfigurer;

/** The parts of the application that do not know of Spring. The starter makes the rest: store, engine, outbox and filter. */
@Configuration(proxyBeanMethods = false)
@EnableScheduling
class Wiring {
    private static final Duration LEDGER_EVERY = Duration.ofHours(1);

    /** A refund is left alone while its owner may be at work. */
    private static final int QUIET_LEASES = 3;

    @Bean
    InstantSource clock(Time time) {
        return time::now;
    }

    @Bean
    HikariDataSource dataSource(PaymentsProperties properties) {
        return DataSources.open(properties.db());
    }

    @Bean
    Database database(DataSource source, PaymentsProperties properties) {
        Database database = new Database(source, Dialect.of(properties.db()));
        database.createTables();
        return database;
    }

    @Bean
    Bookkeeping bookkeeping(InstantSource clock) {
        return new Bookkeeping(clock);
    }

    /** Without a broker, events stay in the database and are posted from there; see KafkaWiring. */
    @Bean
    EventOutbox eventOutbox(Onlyonce once, ObjectProvider<EventRelay> broker, Database database, Bookkeeping books) {
        return new EventOutbox(once, broker.getIfAvailable(() -> new EventRelay(new LocalBooks(database, books))));
    }

    /** The outbox needs the engine, and the engine the reconciler, which looks into the payments: hence late. */
    @Bean
    Payments payments(InstantSource clock, @Lazy Announcements events) {
        return new Payments(clock, events);
    }

    @Bean
    Refunds refunds(InstantSource clock) {
        return new Refunds(clock);
    }

    @Bean
    Orders orders(InstantSource clock) {
        return new Orders(clock);
    }

    @Bean
    Transfers transfers(InstantSource clock) {
        return new Transfers(clock);
    }

    @Bean
    ApiKeys apiKeys(Database database, Transfers transfers, PaymentsProperties properties) {
        ApiKeys keys = new ApiKeys(database);
        if (properties.demo()) {
            DemoData.create(database, keys, transfers);
        }
        return keys;
    }

    @Bean
    ProviderClient provider(PaymentsProperties properties) {
        return new ProviderClient(
                properties.provider().url(), properties.provider().timeout());
    }

    @Bean
    Charging charging(Database database, Payments payments, ProviderClient provider, PaymentsProperties properties) {
        return new Charging(database, payments, provider, properties.provider().keyLifetime());
    }

    @Bean
    Refunding.Tables refundTables(Payments payments, Refunds refunds, Announcements events) {
        return new Refunding.Tables(payments, refunds, events);
    }

    @Bean
    Refunding refunding(
            Database database,
            Refunding.Tables tables,
            ProviderClient provider,
            PaymentsProperties properties,
            InstantSource clock) {
        return new Refunding(
                database,
                tables,
                provider,
                new Refunding.Limits(
                        properties.provider().keyLifetime(),
                        properties.provider().absentAfter()),
                clock);
    }

    @Bean
    ForgottenRefunds forgottenRefunds(
            Database database,
            Refunding.Tables tables,
            ProviderClient provider,
            PaymentsProperties properties,
            InstantSource clock) {
        return new ForgottenRefunds(
                database, tables, provider, properties.lease().multipliedBy(QUIET_LEASES), clock);
    }

    @Bean
    LedgerCheck ledgerCheck(
            Database database,
            Refunding.Tables tables,
            ProviderClient provider,
            InstantSource clock,
            ObjectProvider<Listener> listeners) {
        return new LedgerCheck(
                database, tables, provider, clock, listeners.orderedStream().toList());
    }

    @Bean
    SchedulingConfigurer schedule(ForgottenRefunds forgotten, LedgerCheck ledger, PaymentsProperties properties) {
        return tasks -> {
            tasks.addFixedDelayTask(forgotten::run, properties.lease());
            tasks.addFixedDelayTask(ledger::run, LEDGER_EVERY);
        };
    }

    @Bean
    ChargeReconciler chargeReconciler(
            ObjectProvider<Outbox> outbox,
            Database database,
            Payments payments,
            ProviderClient provider,
            PaymentsProperties properties) {
        return new ChargeReconciler(
                outbox::getObject,
                database,
                payments,
                provider,
                properties.provider().absentAfter());
    }

    /** What the provider says by itself: believed only with its signature, and applied once. */
    @Bean
    WebhookEndpoint providerWebhooks(
            Onlyonce once, PaymentsProperties properties, Database database, Payments payments) {
        ProviderEvents events = new ProviderEvents(database, payments);
        return new WebhookEndpoint(
                "/webhooks/provider",
                WebhookReceiver.builder(once, "provider", Webhooks.scheme(properties.webhookSecret())),
                webhook -> events.apply(webhook.body()));
    }
}
