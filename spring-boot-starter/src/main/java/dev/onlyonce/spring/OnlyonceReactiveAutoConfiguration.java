package dev.onlyonce.spring;

import dev.onlyonce.Onlyonce;
import dev.onlyonce.OutcomeException;
import dev.onlyonce.http.HttpAnswer;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication;
import org.springframework.context.annotation.Bean;
import org.springframework.core.annotation.Order;
import org.springframework.http.HttpStatusCode;
import org.springframework.http.server.reactive.ServerHttpResponse;
import org.springframework.web.server.WebExceptionHandler;
import reactor.core.publisher.Mono;

/** {@link Idempotent} methods of beans in a WebFlux application: what clients get if one of them has no value to return. */
@AutoConfiguration(after = OnlyonceAutoConfiguration.class)
@ConditionalOnWebApplication(type = ConditionalOnWebApplication.Type.REACTIVE)
@ConditionalOnClass({Mono.class, WebExceptionHandler.class})
@ConditionalOnBean(Onlyonce.class)
public class OnlyonceReactiveAutoConfiguration {
    /** Before Spring Boot's handler of all exceptions, which is at -1. */
    private static final int ORDER = -2;

    /** As {@link OutcomeExceptions}; exception handlers of the application go first. */
    @Bean
    @Order(ORDER)
    WebExceptionHandler onlyonceOutcomeExceptions() {
        return (exchange, thrown) -> {
            ServerHttpResponse response = exchange.getResponse();
            if (!(thrown instanceof OutcomeException outcome) || response.isCommitted()) {
                return Mono.error(thrown);
            }
            HttpAnswer answer = OutcomeExceptions.answer(outcome);
            response.setStatusCode(HttpStatusCode.valueOf(answer.status()));
            answer.headers().fields().forEach(field -> response.getHeaders().add(field.name(), field.value()));
            return response.writeWith(
                    Mono.fromSupplier(() -> response.bufferFactory().wrap(answer.body())));
        };
    }
}
