package dev.onlyonce.spring.sample;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onlyonce.OutcomeException;
import dev.onlyonce.spring.Idempotent;
import java.net.http.HttpResponse;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.json.JsonParserFactory;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.CrossOrigin;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestHeader;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.bind.annotation.RestControllerAdvice;

@DisplayName("The first requests to an application")
class FirstRequestTest {

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration(
            excludeName = {
                "org.springframework.boot.jetty.autoconfigure.servlet.JettyServletWebServerAutoConfiguration",
                "org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration",
                "org.springframework.boot.security.autoconfigure.web.servlet.ServletWebSecurityAutoConfiguration",
                "org.springframework.boot.security.autoconfigure.actuate.web.servlet.ManagementWebSecurityAutoConfiguration"
            })
    @Import({Shop.class, Bookings.class, CatchAll.class})
    static class App {}

    /** As many applications have it. */
    @RestControllerAdvice
    static class CatchAll {
        @ExceptionHandler(Exception.class)
        ResponseEntity<String> any(Exception e) {
            return ResponseEntity.internalServerError().body("oops: " + e.getMessage());
        }
    }

    @RestControllerAdvice
    @Order(Ordered.HIGHEST_PRECEDENCE)
    static class Own {
        @ExceptionHandler(OutcomeException.class)
        ResponseEntity<String> outcome(OutcomeException e) {
            return ResponseEntity.status(418).body("own");
        }
    }

    @Configuration(proxyBeanMethods = false)
    @Import({App.class, Own.class})
    static class AppWithOwnHandler {}

    @RestControllerAdvice(assignableTypes = Elsewhere.class)
    @Order(Ordered.HIGHEST_PRECEDENCE)
    static class OwnOfAnother extends Own {}

    @RestController
    static class Elsewhere {
        private final Bookings bookings;

        Elsewhere(Bookings bookings) {
            this.bookings = bookings;
        }

        @PostMapping("/elsewhere")
        String book(@RequestHeader("Idempotency-Key") String key, @RequestBody String body) throws Exception {
            return bookings.book(key, body);
        }
    }

    @Configuration(proxyBeanMethods = false)
    @Import({App.class, Elsewhere.class, OwnOfAnother.class})
    static class AppWithHandlerOfAnother {}

    static class Bookings {
        private final CountDownLatch running = new CountDownLatch(1);
        private final CountDownLatch end = new CountDownLatch(1);

        @Idempotent(key = "#id")
        public String book(String id, String body) throws InterruptedException {
            if (body.equals("\"slow\"")) {
                running.countDown();
                assertThat(end.await(60, TimeUnit.SECONDS)).isTrue();
            }
            return "booked " + body;
        }

        // Methods, because the bean is behind a proxy.
        CountDownLatch running() {
            return running;
        }

        CountDownLatch end() {
            return end;
        }
    }

    @RestController
    @CrossOrigin("https://app.example")
    static class Shop {
        private final Bookings bookings;

        Shop(Bookings bookings) {
            this.bookings = bookings;
        }

        @Idempotent
        @PostMapping("/orders")
        String order(@RequestBody String body) {
            return "ordered " + body;
        }

        @GetMapping("/orders")
        String orders() {
            return "none";
        }

        @PostMapping("/bookings")
        String book(@RequestHeader("Idempotency-Key") String key, @RequestBody String body) throws Exception {
            return bookings.book(key, body);
        }

        @Idempotent
        @PostMapping("/protected-bookings")
        String bookProtected(@RequestBody String body) throws Exception {
            return bookings.book("inner", body);
        }
    }

    private static RunningSample start(Class<?> app, String... properties) {
        String[] all = new String[properties.length + 1];
        System.arraycopy(properties, 0, all, 1, properties.length);
        all[0] = "--onlyonce.store=memory";
        return new RunningSample(app, "", all);
    }

    private static Map<String, Object> json(HttpResponse<String> response) {
        return JsonParserFactory.getJsonParser().parseMap(response.body());
    }

    @Test
    @DisplayName("A request that nobody has authenticated is refused, and in development the refusal says what to set")
    void anonymous() {
        try (RunningSample app = start(App.class)) {
            HttpResponse<String> refused = app.post("/orders", "first", "{}");
            assertThat(refused.statusCode()).isEqualTo(401);
            assertThat(json(refused).get("detail").toString()).contains("onlyonce.anonymous-tenant");
        }
        try (RunningSample app = start(App.class, "--spring.profiles.active=production")) {
            HttpResponse<String> refused = app.post("/orders", "first", "{}");
            assertThat(refused.statusCode()).isEqualTo(401);
            assertThat(refused.body()).doesNotContain("anonymous");
        }
    }

    @Test
    @DisplayName(
            "F1 C3 a bean method without a value is answered as a problem, although a handler for all exceptions exists")
    void outcomes() throws Exception {
        try (RunningSample app = start(App.class)) {
            Bookings bookings = app.bean(Bookings.class);
            CompletableFuture<HttpResponse<String>> first = app.begin("/bookings", "one", "\"slow\"");
            assertThat(bookings.running().await(60, TimeUnit.SECONDS)).isTrue();
            HttpResponse<String> second = app.post("/bookings", "one", "\"slow\"");
            assertThat(second.statusCode()).isEqualTo(409);
            assertThat(json(second)).containsEntry("code", "in_progress");
            assertThat(second.headers().firstValue("Content-Type")).hasValue("application/problem+json");
            assertThat(second.headers().firstValue("Retry-After"))
                    .hasValueSatisfying(
                            after -> assertThat(Integer.parseInt(after)).isPositive());
            bookings.end().countDown();
            assertThat(first.join().body()).isEqualTo("booked \"slow\"");
            HttpResponse<String> other = app.post("/bookings", "one", "\"quick\"");
            assertThat(other.statusCode()).isEqualTo(422);
            assertThat(json(other)).containsEntry("code", "key_reused");
            HttpResponse<String> fromPage = app.post("/bookings", "one", "\"quick\"", "Origin", "https://app.example");
            assertThat(fromPage.statusCode()).isEqualTo(422);
            assertThat(fromPage.headers().firstValue("Access-Control-Allow-Origin"))
                    .as("a page of another origin may read the refusal")
                    .hasValue("https://app.example");
        }
    }

    @Test
    @DisplayName("An exception handler of the application for exactly this exception goes first")
    void own() {
        try (RunningSample app = start(AppWithOwnHandler.class)) {
            assertThat(app.post("/bookings", "one", "\"first\"").statusCode()).isEqualTo(200);
            assertThat(app.post("/bookings", "one", "\"second\"").statusCode()).isEqualTo(418);
        }
    }

    @Test
    @DisplayName("An exception handler for some controllers answers for those, and a problem for the others")
    void ownOfAnother() {
        try (RunningSample app = start(AppWithHandlerOfAnother.class)) {
            assertThat(app.post("/bookings", "one", "\"first\"").statusCode()).isEqualTo(200);
            assertThat(app.post("/elsewhere", "one", "\"second\"").statusCode()).isEqualTo(418);
            assertThat(app.post("/bookings", "one", "\"second\"").statusCode()).isEqualTo(422);
        }
    }

    @Test
    @DisplayName("R2 within a protected handler it is no answer to record: the application's own word, or doubt")
    void withinProtected() {
        try (RunningSample app = start(App.class, "--onlyonce.anonymous-tenant=everybody")) {
            assertThat(app.post("/bookings", "inner", "\"first\"").statusCode()).isEqualTo(200);
            HttpResponse<String> failed = app.post("/protected-bookings", "outer", "\"second\"");
            assertThat(failed.statusCode()).isEqualTo(500);
            assertThat(failed.body()).startsWith("oops");
            assertThat(RunningSample.isReplay(app.post("/protected-bookings", "outer", "\"second\"")))
                    .isFalse();
        }
    }

    @Test
    @DisplayName(
            "K3 T1 The OpenAPI document has the header, its rules and the refusals of protected handlers, and of no others")
    void openApi() {
        try (RunningSample app = start(App.class, "--onlyonce.anonymous-tenant=everybody")) {
            Map<String, Object> document = json(app.get("/v3/api-docs", "none"));
            Map<?, ?> paths = (Map<?, ?>) document.get("paths");
            Map<?, ?> post = (Map<?, ?>) ((Map<?, ?>) paths.get("/orders")).get("post");
            assertThat(post.get("parameters").toString())
                    .contains("name=Idempotency-Key", "in=header", "required=true");
            assertThat(((Map<?, ?>) post.get("responses")).keySet().stream().map(Object::toString))
                    .contains("200", "400", "409", "413", "422", "503");
            assertThat(post.get("responses").toString()).contains("application/problem+json", "Retry-After");
            assertThat(((Map<?, ?>) post.get("responses")).get("200").toString())
                    .contains("Idempotent-Replayed", "Idempotency-Key-Expires");
            assertThat(post.get("x-idempotency").toString())
                    .contains("profile=ietf", "header=Idempotency-Key", "required=true", "format=any")
                    .contains("maxLength=255", "scope=tenant", "retention=PT24H", "afterRetention=runs");
            Map<?, ?> get = (Map<?, ?>) ((Map<?, ?>) paths.get("/orders")).get("get");
            assertThat(get.toString()).doesNotContain("Idempotency-Key", "409", "x-idempotency");
            Map<?, ?> bookings = (Map<?, ?>) ((Map<?, ?>) paths.get("/bookings")).get("post");
            assertThat(bookings.toString()).doesNotContain("422");
        }
    }
}
