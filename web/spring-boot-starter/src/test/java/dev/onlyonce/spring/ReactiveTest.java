package dev.onlyonce.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onlyonce.OutcomeException;
import dev.onlyonce.spring.methods.OnlyonceMethodsAutoConfiguration;
import dev.onlyonce.spring.store.OnlyonceAutoConfiguration;
import dev.onlyonce.spring.transactions.OnlyonceTransactionsAutoConfiguration;
import dev.onlyonce.spring.webflux.OnlyonceWebFluxAutoConfiguration;
import java.io.File;
import java.lang.reflect.Method;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ReactiveWebApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.http.ResponseEntity;
import org.springframework.test.web.reactive.server.WebTestClient;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.bind.annotation.RestControllerAdvice;
import org.springframework.web.reactive.config.EnableWebFlux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

@DisplayName("In a WebFlux application")
class ReactiveTest {

    static class Bookings {
        @Idempotent(key = "'one'")
        public String book(String body) {
            return "booked " + body;
        }
    }

    @RestController
    static class Shop {
        private final Bookings bookings;

        Shop(Bookings bookings) {
            this.bookings = bookings;
        }

        @PostMapping("/bookings")
        Mono<String> book(@RequestBody String body) {
            Callable<String> call = () -> bookings.book(body);
            return Mono.fromCallable(call).subscribeOn(Schedulers.boundedElastic());
        }
    }

    /** As many applications have it. */
    @RestControllerAdvice
    static class CatchAll {
        @ExceptionHandler(Exception.class)
        ResponseEntity<String> any(Exception e) {
            return ResponseEntity.internalServerError().body("oops");
        }
    }

    @RestControllerAdvice
    static class Own {
        @ExceptionHandler(OutcomeException.class)
        ResponseEntity<String> outcome(OutcomeException e) {
            return ResponseEntity.status(418).body("own");
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableWebFlux
    static class App {
        @Bean
        Bookings bookings() {
            return new Bookings();
        }

        @Bean
        Shop shop(Bookings bookings) {
            return new Shop(bookings);
        }
    }

    @Test
    @DisplayName(
            "F1 a bean method without a value is answered as a problem, without Spring MVC and servlets on the class path")
    void outcomes() throws Exception {
        List<URL> urls = new ArrayList<>();
        for (String entry : System.getProperty("java.class.path").split(File.pathSeparator)) {
            if (!Path.of(entry)
                    .getFileName()
                    .toString()
                    .matches("(spring-webmvc|jakarta.servlet-api|tomcat-|jetty-).*")) {
                urls.add(Path.of(entry).toUri().toURL());
            }
        }
        ClassLoader before = Thread.currentThread().getContextClassLoader();
        try (URLClassLoader reactive =
                new URLClassLoader(urls.toArray(URL[]::new), ClassLoader.getPlatformClassLoader())) {
            assertThatThrownBy(() -> reactive.loadClass("jakarta.servlet.Filter"))
                    .isInstanceOf(ClassNotFoundException.class);
            Thread.currentThread().setContextClassLoader(reactive);
            Method inside = reactive.loadClass(ReactiveTest.class.getName()).getDeclaredMethod("refuse");
            inside.setAccessible(true);
            inside.invoke(null);
        } finally {
            Thread.currentThread().setContextClassLoader(before);
        }
    }

    static void refuse() {
        refuse(422, "application/problem+json", "\"code\":\"key_reused\"");
    }

    @Test
    @DisplayName("F1 it is a problem although a handler for all exceptions exists")
    void catchAll() {
        refuse(422, "application/problem+json", "\"code\":\"key_reused\"", CatchAll.class);
    }

    @Test
    @DisplayName("An exception handler of the application for exactly this exception goes first")
    void own() {
        refuse(418, "text/plain", "own", Own.class);
    }

    private static void refuse(int status, String contentType, String body, Class<?>... advices) {
        new ReactiveWebApplicationContextRunner()
                .withConfiguration(AutoConfigurations.of(
                        OnlyonceAutoConfiguration.class,
                        OnlyonceMethodsAutoConfiguration.class,
                        OnlyonceTransactionsAutoConfiguration.class,
                        OnlyonceWebFluxAutoConfiguration.class))
                .withPropertyValues("onlyonce.store=memory")
                .withUserConfiguration(App.class)
                .withUserConfiguration(advices)
                .run(context -> {
                    assertThat(context).hasNotFailed();
                    WebTestClient client =
                            WebTestClient.bindToApplicationContext(context).build();
                    assertThat(post(client, "first", 200, "text/plain")).isEqualTo("booked first");
                    assertThat(post(client, "second", status, contentType)).contains(body);
                });
    }

    private static @Nullable String post(WebTestClient client, String body, int status, String contentType) {
        return client.post()
                .uri("/bookings")
                .bodyValue(body)
                .exchange()
                .expectStatus()
                .isEqualTo(status)
                .expectHeader()
                .contentTypeCompatibleWith(contentType)
                .expectBody(String.class)
                .returnResult()
                .getResponseBody();
    }
}
