package dev.onlyonce.webflux;

import static java.util.Objects.requireNonNull;

import org.springframework.web.reactive.function.server.HandlerFunction;
import org.springframework.web.reactive.function.server.ServerRequest;
import org.springframework.web.reactive.function.server.ServerResponse;
import reactor.core.publisher.Mono;

/**
 * A handler of a functional route that takes effect once for each key. Refuses requests that have not passed the filter as
 * requests for a protected operation: nothing would protect them.
 *
 * @param <T> what it answers
 */
public final class IdempotentHandler<T extends ServerResponse> implements HandlerFunction<T> {
    private final HandlerFunction<T> handler;
    private final String operation;

    private IdempotentHandler(String operation, HandlerFunction<T> handler) {
        this.operation = operation;
        this.handler = requireNonNull(handler, "handler");
    }

    /** Protects a handler; its operation is called by method and path, such as {@code POST /orders}. */
    public static <T extends ServerResponse> IdempotentHandler<T> idempotent(HandlerFunction<T> handler) {
        return new IdempotentHandler<>("", handler);
    }

    /** Protects a handler whose operation has a name of its own. */
    public static <T extends ServerResponse> IdempotentHandler<T> idempotent(
            String operation, HandlerFunction<T> handler) {
        return new IdempotentHandler<>(operation, handler);
    }

    /** The operation's name; empty for method and path. */
    public String operation() {
        return operation;
    }

    @Override
    public Mono<T> handle(ServerRequest request) {
        if (request.attribute(OnlyonceWebFilter.SEEN).isEmpty()) {
            return Mono.error(
                    new IllegalStateException(
                            "This handler is idempotent, but the request was another one when it passed the filter, so nothing"
                                    + " protects it. Order filters that change the path or the method before onlyonce.filter-order."));
        }
        Object call = request.attributes().get(ProtectedExchange.ATTRIBUTE);
        Mono<T> handled = Mono.defer(() -> handler.handle(request));
        return call instanceof ProtectedExchange protection ? handled.doOnError(protection::note) : handled;
    }
}
