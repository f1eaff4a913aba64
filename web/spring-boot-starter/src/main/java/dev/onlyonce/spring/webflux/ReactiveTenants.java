package dev.onlyonce.spring.webflux;

import dev.onlyonce.spring.web.PrincipalTenants;
import dev.onlyonce.webflux.ReactiveTenantResolver;
import org.springframework.web.server.ServerWebExchange;
import reactor.core.publisher.Mono;

/** The principal of a WebFlux request. */
record ReactiveTenants(PrincipalTenants principals) implements ReactiveTenantResolver {
    private static final ReactiveTenantResolver PRINCIPAL = ReactiveTenantResolver.principal();

    @Override
    public Mono<String> tenant(ServerWebExchange exchange) {
        return PRINCIPAL.tenant(exchange);
    }
}
