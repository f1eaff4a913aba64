package dev.onlyonce.webflux;

import java.security.Principal;
import org.springframework.web.server.ServerWebExchange;
import reactor.core.publisher.Mono;

/** Who a request's key belongs to. Thread-safe; never blocks. */
@FunctionalInterface
public interface ReactiveTenantResolver {

    /**
     * The tenant, from what authentication established and never from the request's own content: whoever can choose it can
     * read everybody's answers. 1-255 characters without controls; empty if nobody is authenticated.
     */
    Mono<String> tenant(ServerWebExchange exchange);

    /** The name of the authenticated principal. */
    static ReactiveTenantResolver principal() {
        return exchange -> exchange.getPrincipal().map(Principal::getName);
    }
}
