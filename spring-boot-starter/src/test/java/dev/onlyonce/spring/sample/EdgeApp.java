package dev.onlyonce.spring.sample;

import dev.onlyonce.Reconciler;
import dev.onlyonce.http.Headers;
import dev.onlyonce.http.HttpAnswer;
import dev.onlyonce.http.StoredResponse;
import dev.onlyonce.servlet.TenantResolver;
import dev.onlyonce.spring.Idempotent;
import dev.onlyonce.spring.Reconciles;
import dev.onlyonce.store.MemoryStore;
import dev.onlyonce.store.Store;
import dev.onlyonce.store.Time;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;
import org.springframework.http.ResponseEntity;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.web.bind.annotation.CrossOrigin;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.cors.CorsConfiguration;
import org.springframework.web.cors.UrlBasedCorsConfigurationSource;
import org.springframework.web.filter.CorsFilter;

/** An application that is not at the root, whose pages come from elsewhere, and whose entries are not in its database. */
@SpringBootConfiguration
@EnableAutoConfiguration(
        excludeName = {
            "org.springframework.boot.jetty.autoconfigure.servlet.JettyServletWebServerAutoConfiguration",
            "org.springframework.boot.security.autoconfigure.SecurityAutoConfiguration",
            "org.springframework.boot.security.autoconfigure.UserDetailsServiceAutoConfiguration",
            "org.springframework.boot.security.autoconfigure.web.servlet.ServletWebSecurityAutoConfiguration",
            "org.springframework.boot.security.autoconfigure.actuate.web.servlet.ManagementWebSecurityAutoConfiguration"
        })
@Import(EdgeApp.Handlers.class)
class EdgeApp {
    static final String ORIGIN = "https://shop.example";
    static final String OTHER_ORIGIN = "https://branch.example";

    final AtomicInteger runs = new AtomicInteger();
    final CountDownLatch entered = new CountDownLatch(1);
    final CountDownLatch mayGo = new CountDownLatch(1);

    @Bean
    TenantResolver tenants() {
        return request -> "acme";
    }

    @Bean
    Store store(Time time) {
        return new MemoryStore(time);
    }

    /** Looks, as one would at a provider. */
    @Bean
    @Reconciles("POST /failing")
    Reconciler charges() {
        return unknown -> new Reconciler.Finding.Found(StoredResponse.of(new HttpAnswer(
                        201, Headers.of("Content-Type", "text/plain"), "found".getBytes(StandardCharsets.UTF_8)))
                .encode());
    }

    @Bean
    @ConditionalOnProperty("edge.filter")
    CorsFilter corsFilter() {
        CorsConfiguration allowed = new CorsConfiguration();
        allowed.setAllowedOrigins(List.of(ORIGIN, OTHER_ORIGIN));
        allowed.setAllowedMethods(List.of("POST"));
        UrlBasedCorsConfigurationSource source = new UrlBasedCorsConfigurationSource();
        source.registerCorsConfiguration("/**", allowed);
        return new CorsFilter(source);
    }

    @RestController
    static class Handlers {
        private final EdgeApp app;

        Handlers(EdgeApp app) {
            this.app = app;
        }

        @Idempotent
        @CrossOrigin({ORIGIN, OTHER_ORIGIN})
        @PostMapping("/orders")
        ResponseEntity<String> order() {
            return ResponseEntity.status(201).header("Vary", "Accept").body("order " + app.runs.incrementAndGet());
        }

        @Idempotent
        @PostMapping("/plain")
        ResponseEntity<String> plain() {
            return ResponseEntity.status(201).body("order " + app.runs.incrementAndGet());
        }

        @Idempotent
        @PostMapping("/slow")
        String slow() throws InterruptedException {
            app.entered.countDown();
            app.mayGo.await();
            return "done";
        }

        @Idempotent
        @PostMapping("/failing")
        String failing() {
            throw new IllegalStateException("who knows " + app.runs.incrementAndGet());
        }

        @Idempotent
        @Transactional
        @PostMapping("/booked")
        String booked() {
            return "booked, but not with its entry";
        }
    }
}
