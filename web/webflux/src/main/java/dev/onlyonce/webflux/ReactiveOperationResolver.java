package dev.onlyonce.webflux;

import dev.onlyonce.http.Boundary;
import dev.onlyonce.http.Operation;
import org.springframework.http.server.RequestPath;
import org.springframework.web.server.ServerWebExchange;
import reactor.core.publisher.Mono;

/** Which operation a request asks for. Thread-safe; never blocks. */
@FunctionalInterface
public interface ReactiveOperationResolver {

    /** The operation; empty if the request is not protected. */
    Mono<Operation> operation(ServerWebExchange exchange);

    /** By method and path, without the context path; in any spelling that some part of the application may understand. */
    static ReactiveOperationResolver byPath(Boundary boundary) {
        return exchange -> {
            RequestPath path = exchange.getRequest().getPath();
            return Mono.justOrEmpty(boundary.operation(
                    exchange.getRequest().getMethod().name(),
                    path.contextPath().value(),
                    path.value(),
                    path.pathWithinApplication().value()));
        };
    }
}
