package dev.onlyonce.payments;

import dev.onlyonce.payments.db.Database;
import dev.onlyonce.payments.db.Dialect;
import dev.onlyonce.payments.domain.ApiKeys;
import dev.onlyonce.payments.domain.Orders;
import dev.onlyonce.payments.domain.Payments;
import dev.onlyonce.payments.domain.ProviderClient;
import dev.onlyonce.payments.domain.Refunds;
import dev.onlyonce.payments.domain.Transfers;
import java.time.Clock;
import java.time.InstantSource;
import javax.sql.DataSource;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** The parts of the application that do not know of Spring. */
@Configuration(proxyBeanMethods = false)
class Wiring {
    @Bean
    InstantSource clock() {
        return Clock.systemUTC();
    }

    @Bean
    Database database(DataSource source, @Value("${spring.datasource.url}") String url) {
        Database database = new Database(source, Dialect.of(url));
        database.createTables();
        return database;
    }

    @Bean
    Payments payments(InstantSource clock) {
        return new Payments(clock);
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
    WebhookSignature webhookSignature(PaymentsProperties properties) {
        return new WebhookSignature(properties.webhookSecret());
    }
}
