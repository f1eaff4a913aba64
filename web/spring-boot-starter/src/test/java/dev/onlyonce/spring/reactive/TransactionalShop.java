package dev.onlyonce.spring.reactive;

import dev.onlyonce.Way;
import dev.onlyonce.spring.Idempotent;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RestController;
import reactor.core.publisher.Mono;

/** An application that asks for what WebFlux cannot do. */
@Configuration(proxyBeanMethods = false)
@EnableAutoConfiguration
@Import(TransactionalShop.Orders.class)
class TransactionalShop {

    @RestController
    static class Orders {
        @Idempotent(way = Way.STEPPED)
        @PostMapping("/orders")
        Mono<String> order() {
            return Mono.just("ordered");
        }
    }
}
