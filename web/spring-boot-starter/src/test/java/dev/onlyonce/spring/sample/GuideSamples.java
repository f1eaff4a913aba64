package dev.onlyonce.spring.sample;

import dev.onlyonce.Onlyonce;
import dev.onlyonce.Reconciler;
import dev.onlyonce.http.Headers;
import dev.onlyonce.http.HttpAnswer;
import dev.onlyonce.http.StoredResponse;
import dev.onlyonce.redis.CachedStore;
import dev.onlyonce.servlet.TenantResolver;
import dev.onlyonce.spring.Idempotent;
import dev.onlyonce.spring.Reconciles;
import dev.onlyonce.sql.SqlStore;
import dev.onlyonce.store.CacheOptions;
import dev.onlyonce.store.Store;
import java.security.Principal;
import java.util.Optional;
import javax.sql.DataSource;
import org.springframework.context.annotation.Bean;
import org.springframework.transaction.annotation.Transactional;

/** Fragments of the guides, compiled here. Other fragments stand in the tests that run them. */
class GuideSamples {
    private final Books books = new Books();

    /** Stands for the application's own user. */
    interface ShopUser extends Principal {
        String shop();
    }

    /** Stands for a client of the payment provider. */
    interface Provider {
        record Charge(String url, byte[] json) {}

        Optional<Charge> find(String tenant, String key);
    }

    record PaymentMessage(String id) {}

    record Receipt(String id) {}

    private static final class Books {
        Receipt post(PaymentMessage message) {
            return new Receipt(message.id());
        }
    }

    @Idempotent(key = "#message.id")
    @Transactional
    public Receipt apply(PaymentMessage message) {
        return books.post(message);
    }

    @Bean
    TenantResolver tenants() {
        return request -> request.getUserPrincipal() instanceof ShopUser user ? user.shop() : null;
    }

    @Bean
    @Reconciles("POST /payments")
    Reconciler charges(Provider provider) {
        return unknown -> provider.find(unknown.id().tenant(), unknown.id().key())
                .<Reconciler.Finding>map(charge -> new Reconciler.Finding.Found(
                        StoredResponse.of(new HttpAnswer(201, Headers.of("Location", charge.url()), charge.json()))
                                .encode()))
                .orElseGet(() -> new Reconciler.Finding.Absent("the provider knows of no charge"));
    }

    Onlyonce cached(DataSource dataSource) {
        Store store = CachedStore.builder(
                        SqlStore.open(dataSource),
                        new CacheOptions("redis://127.0.0.1:6379", "payments", null, System.getenv("CACHE_SECRET")))
                .build();
        Onlyonce once = Onlyonce.builder(store).build();
        return once;
    }
}
