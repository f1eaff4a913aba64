package dev.onlyonce.spring.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onlyonce.spring.Idempotent;
import dev.onlyonce.spring.operations.JsonMapping;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Instant;
import java.util.Objects;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Import;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RestController;

/** What the starter finds in different packages on Spring Boot 3 and 4. This class is compiled and run on both. */
@DisplayName("The starter, on whichever Spring Boot")
class BootTest {
    @TempDir
    Path folder;

    private ConfigurableApplicationContext context;

    @SpringBootConfiguration
    @EnableAutoConfiguration(
            excludeName = {
                "org.springframework.boot.jetty.autoconfigure.servlet.JettyServletWebServerAutoConfiguration",
                "org.springframework.boot.security.autoconfigure.web.servlet.ServletWebSecurityAutoConfiguration",
                "org.springframework.boot.security.autoconfigure.actuate.web.servlet.ManagementWebSecurityAutoConfiguration",
                "org.springframework.boot.autoconfigure.security.servlet.SecurityAutoConfiguration",
                "org.springframework.boot.actuate.autoconfigure.security.servlet.ManagementWebSecurityAutoConfiguration"
            })
    @Import({Orders.class, Bookings.class})
    static class App {}

    @RestController
    static class Orders {
        private final AtomicInteger runs = new AtomicInteger();

        public int runs() {
            return runs.get();
        }

        @Idempotent
        @PostMapping("/leased")
        public String leased() {
            return "run " + runs.incrementAndGet();
        }

        @Idempotent
        @Transactional
        @PostMapping("/transactional")
        public String transactional() {
            return "run " + runs.incrementAndGet();
        }
    }

    record Booking(String bookedFor, Instant bookedAt) {}

    static class Bookings {
        @Idempotent(key = "#id")
        public Booking book(String id) {
            return new Booking(id, Instant.EPOCH);
        }
    }

    @BeforeEach
    void start() {
        context = new SpringApplication(App.class)
                .run(
                        "--server.port=0",
                        "--spring.main.banner-mode=off",
                        "--logging.level.root=WARN",
                        "--spring.datasource.url=jdbc:sqlite:" + folder.resolve("app.db") + "?synchronous=FULL",
                        "--spring.jackson.property-naming-strategy=SNAKE_CASE",
                        "--onlyonce.anonymous-tenant=everybody",
                        "--management.endpoint.health.show-details=always",
                        "--management.endpoints.web.exposure.include=*");
    }

    @AfterEach
    void stop() {
        context.close();
    }

    private HttpResponse<String> send(String method, String path, String key) throws Exception {
        int port = context.getEnvironment().getRequiredProperty("local.server.port", Integer.class);
        return HttpClient.newHttpClient()
                .send(
                        HttpRequest.newBuilder(URI.create("http://localhost:" + port + path))
                                .method(method, HttpRequest.BodyPublishers.noBody())
                                .header("Idempotency-Key", key)
                                .build(),
                        HttpResponse.BodyHandlers.ofString());
    }

    @Test
    @DisplayName(
            "W1 replays what handlers have answered, also in a transaction; and says how it is, in health and actuator")
    void works() throws Exception {
        for (String path : new String[] {"/leased", "/transactional"}) {
            String key = UUID.randomUUID().toString();
            HttpResponse<String> first = send("POST", path, key);
            HttpResponse<String> second = send("POST", path, key);
            assertThat(first.statusCode()).as(first.body()).isEqualTo(200);
            assertThat(second.body()).isEqualTo(first.body());
            assertThat(second.headers().firstValue("Idempotent-Replayed")).contains("true");
        }
        assertThat(context.getBean(Orders.class).runs()).isEqualTo(2);
        assertThat(send("GET", "/actuator/health/onlyonce", "any").body())
                .contains("\"status\":\"UP\"", "\"liveClaims\":0");
        assertThat(send("GET", "/actuator/onlyonce", "any").body()).contains("POST /leased");
        assertThat(send("GET", "/actuator/metrics/api.idempotency.reserve.replay", "any")
                        .body())
                .contains("\"value\":2.0");
    }

    @Test
    @DisplayName("records results of bean methods as the application's own mapper writes them")
    void mapper() {
        Booking booked = context.getBean(Bookings.class).book("bob");
        assertThat(context.getBean(Bookings.class).book("bob")).isEqualTo(booked);
        byte[] json = context.getBean(JsonMapping.class).write(Objects.requireNonNull(booked));
        assertThat(new String(json, StandardCharsets.UTF_8)).contains("\"booked_for\":\"bob\"");
    }
}
