package dev.onlyonce.spring.webflux;

import dev.onlyonce.http.Boundary;
import dev.onlyonce.spring.web.WebProtection;
import dev.onlyonce.webflux.OnlyonceWebFilter;
import org.springframework.core.Ordered;
import org.springframework.util.function.SingletonSupplier;
import org.springframework.web.server.ServerWebExchange;
import org.springframework.web.server.WebFilter;
import org.springframework.web.server.WebFilterChain;
import reactor.core.publisher.Mono;

/** The filter of a WebFlux application and what it is made of; complete when all handlers are known. */
record OnlyonceWebFlux(ReactiveOperations operations, Boundary boundary, OnlyonceWebFilter filter, String tenants)
        implements WebProtection, AutoCloseable {
    @Override
    public void close() {
        filter.close();
    }

    /** Filters are made before handlers are known, so this one looks for its substance later. */
    record Lazy(SingletonSupplier<OnlyonceWebFlux> web, int order) implements WebFilter, Ordered {
        @Override
        public Mono<Void> filter(ServerWebExchange exchange, WebFilterChain chain) {
            return web.obtain().filter().filter(exchange, chain);
        }

        @Override
        public int getOrder() {
            return order;
        }
    }
}
