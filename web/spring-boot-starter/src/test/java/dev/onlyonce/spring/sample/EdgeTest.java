package dev.onlyonce.spring.sample;

import static dev.onlyonce.spring.sample.RunningSample.isReplay;
import static org.assertj.core.api.Assertions.assertThat;

import dev.onlyonce.Onlyonce;
import dev.onlyonce.Reconciler;
import dev.onlyonce.http.Headers;
import dev.onlyonce.http.HttpAnswer;
import dev.onlyonce.http.StoredResponse;
import dev.onlyonce.servlet.TenantResolver;
import dev.onlyonce.spring.Idempotent;
import dev.onlyonce.spring.Reconciles;
import dev.onlyonce.store.EntryQuery;
import dev.onlyonce.store.MemoryStore;
import dev.onlyonce.store.Store;
import dev.onlyonce.store.Time;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
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

@DisplayName("An application under a context path and a servlet path")
class EdgeTest {
    private static final String BASE = "/shop/api";
    private static final String ALLOWED = "Access-Control-Allow-Origin";

    @TempDir
    static Path folder;

    private static RunningSample app;

    private final String key = UUID.randomUUID().toString();

    @BeforeAll
    static void start() {
        app = new RunningSample(
                EdgeApp.class,
                "jdbc:sqlite:" + folder.resolve("application.db"),
                "--server.servlet.context-path=/shop",
                "--spring.mvc.servlet.path=/api",
                "--onlyonce.node=edge",
                "--onlyonce.operations.[POST /slow].when-running=accepted");
    }

    @AfterAll
    static void stop() {
        app.close();
    }

    private static String header(HttpResponse<String> response, String name) {
        return response.headers().firstValue(name).orElse(null);
    }

    @Test
    @DisplayName("C3 K3 clients are told paths as they must ask for them: Location, status path, operations")
    void paths() throws InterruptedException {
        HttpResponse<String> specification = app.get(BASE + "/.well-known/idempotency", key);
        assertThat(specification.statusCode()).isEqualTo(200);
        assertThat(specification.body())
                .contains("\"statusPath\":\"/shop/api/.well-known/idempotency/status\"")
                .contains("\"path\":\"/shop/api/orders\"")
                .contains("\"name\":\"POST /orders\"");
        CompletableFuture<HttpResponse<String>> first = app.begin(BASE + "/slow", key, "{}");
        app.bean(EdgeApp.class).entered.await();
        HttpResponse<String> duplicate = app.post(BASE + "/slow", key, "{}");
        assertThat(duplicate.statusCode()).isEqualTo(202);
        assertThat(header(duplicate, "Location"))
                .isEqualTo(BASE + "/.well-known/idempotency/status?operation=POST%20%2Fslow");
        HttpResponse<String> status = app.get(header(duplicate, "Location"), key);
        assertThat(status.statusCode()).isEqualTo(200);
        assertThat(status.body()).contains("\"state\":\"processing\"");
        app.bean(EdgeApp.class).mayGo.countDown();
        assertThat(first.join().statusCode()).isEqualTo(200);
    }

    private void assertReadable(RunningSample of, String path) {
        HttpResponse<String> first = of.post(path, key, "{}", "Origin", EdgeApp.ORIGIN);
        assertThat(first.statusCode()).isEqualTo(201);
        assertThat(first.headers().allValues(ALLOWED)).containsExactly(EdgeApp.ORIGIN);
        HttpResponse<String> replay = of.post(path, key, "{}", "Origin", EdgeApp.OTHER_ORIGIN);
        assertThat(isReplay(replay)).isTrue();
        assertThat(replay.headers().allValues(ALLOWED)).containsExactly(EdgeApp.OTHER_ORIGIN);
        assertThat(replay.headers().allValues("Vary").toString()).contains("Origin");
        HttpResponse<String> refused = of.post(path, key, "{\"other\":1}", "Origin", EdgeApp.ORIGIN);
        assertThat(refused.statusCode()).isEqualTo(422);
        assertThat(refused.headers().allValues(ALLOWED)).containsExactly(EdgeApp.ORIGIN);
        HttpResponse<String> sameOrigin = of.post(path, key, "{}");
        assertThat(isReplay(sameOrigin)).isTrue();
        assertThat(sameOrigin.headers().allValues(ALLOWED)).isEmpty();
    }

    @Test
    @DisplayName(
            "R4 with @CrossOrigin a replay and a refusal can be read by the page that asked, whichever origin it has")
    void annotated() {
        assertReadable(app, BASE + "/orders");
        HttpResponse<String> replay = app.post(BASE + "/orders", key, "{}");
        assertThat(replay.headers().allValues("Vary").toString()).contains("Accept");
        assertThat(app.post(BASE + "/orders", key + "-x", "{}", "Origin", "https://elsewhere.example")
                        .statusCode())
                .isEqualTo(403);
    }

    @Test
    @DisplayName("R4 a CorsFilter of the application's stands before the filter, wherever it was put")
    void filter() {
        try (RunningSample filtered = new RunningSample(
                EdgeApp.class, "jdbc:sqlite:" + folder.resolve("filtered.db"), "--edge.filter=true")) {
            assertReadable(filtered, "/plain");
        }
    }

    @Test
    @DisplayName("D6 a Reconciler bean settles what its operation left unknown, and the actuator shows it")
    void reconciler() {
        assertThat(app.post(BASE + "/failing", key, "{}").statusCode()).isEqualTo(500);
        app.bean(Onlyonce.class).operator().reconcile();
        HttpResponse<String> retry = app.post(BASE + "/failing", key, "{}");
        assertThat(retry.statusCode()).isEqualTo(201);
        assertThat(retry.body()).isEqualTo("found");
        assertThat(isReplay(retry)).isTrue();
        assertThat(app.send("GET", BASE + "/actuator/onlyonce", "").body())
                .contains("\"POST /failing\":{\"bean\":\"charges\",\"failed\":0,\"resolved\":1,\"scheduled\":1}");
    }

    @Test
    @DisplayName("W7 a transactional handler whose entry is elsewhere runs leased, and the actuator says so")
    void downgraded() {
        assertThat(app.post(BASE + "/booked", key, "{}").statusCode()).isEqualTo(200);
        assertThat(app.send("GET", BASE + "/actuator/onlyonce", "").body())
                .contains("\"enabled\":true")
                .contains("\"leasedThoughTransactional\":[\"POST /booked: the entries are not in the application's");
    }

    @Test
    @DisplayName("R1 the page for sendError is the application's, also below a servlet path, and recorded")
    void errorPage() {
        HttpResponse<String> first = app.post(BASE + "/gone", key, "{}");
        assertThat(first.statusCode()).isEqualTo(410);
        assertThat(first.body()).contains("\"path\":\"/shop/api/gone\"");
        HttpResponse<String> replay = app.post(BASE + "/gone", key, "{}");
        assertThat(isReplay(replay)).isTrue();
        assertThat(replay.body()).isEqualTo(first.body());
    }

    @Test
    @DisplayName("A node has the name that onlyonce.node says")
    void node() {
        app.post(BASE + "/plain", key, "{}");
        assertThat(app.bean(Onlyonce.class)
                        .operator()
                        .list(EntryQuery.all(1))
                        .get(0)
                        .owner())
                .isEqualTo("edge");
    }

    /** An application that is not at the root, whose pages come from elsewhere, and whose entries are not in its database. */
    @SampleApplication
    @Import(EdgeApp.Handlers.class)
    static class EdgeApp {
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
            @PostMapping("/gone")
            void gone(HttpServletResponse response) throws IOException {
                response.sendError(410);
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
}
