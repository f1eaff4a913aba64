package dev.onlyonce.webflux;

import java.io.Serial;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.springframework.core.Ordered;
import org.springframework.core.codec.CodecException;
import org.springframework.web.method.HandlerMethod;
import org.springframework.web.reactive.HandlerMapping;
import org.springframework.web.reactive.HandlerResult;
import org.springframework.web.reactive.HandlerResultHandler;
import org.springframework.web.reactive.function.UnsupportedMediaTypeException;
import org.springframework.web.server.NotAcceptableStatusException;
import org.springframework.web.server.ServerWebExchange;
import reactor.core.publisher.Mono;

/**
 * Notes every exception that left a handler and that code of the application answers, and answers none, so that the filter can
 * tell the word of the application from what merely happened to it. Stands before the handlers that write results, and
 * hands every result on to them.
 */
public final class HandlerErrors implements HandlerResultHandler, Ordered {
    private final Supplier<List<HandlerResultHandler>> all;
    private volatile @Nullable List<HandlerResultHandler> others;

    /**
     * Creates it.
     *
     * @param all the application's handlers of results, in their order; asked for when the first result is there
     */
    public HandlerErrors(Supplier<List<HandlerResultHandler>> all) {
        this.all = all;
    }

    private List<HandlerResultHandler> others() {
        List<HandlerResultHandler> known = others;
        if (known == null) {
            known = all.get().stream()
                    .filter(one -> !(one instanceof HandlerErrors))
                    .toList();
            others = known;
        }
        return known;
    }

    @Override
    public int getOrder() {
        return HIGHEST_PRECEDENCE;
    }

    @Override
    public boolean supports(HandlerResult result) {
        return others().stream().anyMatch(one -> one.supports(result));
    }

    @Override
    public Mono<Void> handleResult(ServerWebExchange exchange, HandlerResult result) {
        HandlerResultHandler writer = others().stream()
                .filter(one -> one.supports(result))
                .findFirst()
                .orElseThrow(() -> new IllegalStateException("nobody writes " + result.getReturnType()));
        if (!(exchange.getAttribute(ProtectedExchange.ATTRIBUTE) instanceof ProtectedExchange call)) {
            return writer.handleResult(exchange, result);
        }
        if (exchange.getAttribute(HandlerMapping.BEST_MATCHING_HANDLER_ATTRIBUTE) instanceof HandlerMethod handler
                && !handler.getMethod().equals(result.getReturnTypeSource().getMethod())) {
            // An exception handler of the application answers. If nothing was noted, the method itself has thrown.
            call.note(new Answered());
        }
        return writer.handleResult(exchange, result)
                .doOnError(thrown -> call.noteWriting(thrown, isOfTheResult(thrown)));
    }

    /** Whether the handler had returned, and only its result could not be written. */
    private static boolean isOfTheResult(Throwable thrown) {
        return thrown instanceof NotAcceptableStatusException
                || thrown instanceof UnsupportedMediaTypeException
                || thrown instanceof CodecException;
    }

    /** Stands for an exception that Spring WebFlux shows to its exception handler alone. */
    static final class Answered extends RuntimeException {
        @Serial
        private static final long serialVersionUID = 1;

        Answered() {
            super("the handler threw an exception, which an exception handler answered", null, false, false);
        }
    }
}
