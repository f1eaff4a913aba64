package dev.onlyonce.spring;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.Callable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ReactiveWebApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.test.web.reactive.server.WebTestClient;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RestController;
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
    @DisplayName("F1 a bean method without a value is answered as a problem")
    void outcomes() {
        new ReactiveWebApplicationContextRunner()
                .withConfiguration(AutoConfigurations.of(
                        OnlyonceAutoConfiguration.class,
                        OnlyonceMethodsAutoConfiguration.class,
                        OnlyonceReactiveAutoConfiguration.class))
                .withPropertyValues("onlyonce.store=memory")
                .withUserConfiguration(App.class)
                .run(context -> {
                    assertThat(context).hasNotFailed();
                    WebTestClient client =
                            WebTestClient.bindToApplicationContext(context).build();
                    client.post()
                            .uri("/bookings")
                            .bodyValue("first")
                            .exchange()
                            .expectStatus()
                            .isOk();
                    String refused = client.post()
                            .uri("/bookings")
                            .bodyValue("second")
                            .exchange()
                            .expectStatus()
                            .isEqualTo(422)
                            .expectHeader()
                            .contentType("application/problem+json")
                            .expectBody(String.class)
                            .returnResult()
                            .getResponseBody();
                    assertThat(refused).contains("\"code\":\"key_reused\"");
                });
    }
}
