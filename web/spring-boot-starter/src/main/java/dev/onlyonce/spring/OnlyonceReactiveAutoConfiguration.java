package dev.onlyonce.spring;

import dev.onlyonce.Onlyonce;
import dev.onlyonce.OutcomeException;
import dev.onlyonce.http.HttpAnswer;
import java.util.Arrays;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication;
import org.springframework.context.annotation.Bean;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;
import org.springframework.http.HttpStatusCode;
import org.springframework.http.ResponseEntity;
import org.springframework.http.server.reactive.ServerHttpResponse;
import org.springframework.web.bind.annotation.ControllerAdvice;
import org.springframework.web.bind.annotation.ExceptionHandler;
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

    /** For controllers. */
    @Bean
    OutcomeAdvice onlyonceOutcomeAdvice(ListableBeanFactory beans) {
        return new OutcomeAdvice(beans);
    }

    /** An exception handler for exactly this exception goes first. One for all exceptions does not: it would answer 500. */
    @ControllerAdvice
    static final class OutcomeAdvice implements Ordered {
        private final boolean isLast;

        OutcomeAdvice(ListableBeanFactory beans) {
            isLast = Arrays.stream(beans.getBeanNamesForAnnotation(ControllerAdvice.class))
                    .map(beans::getType)
                    .anyMatch(type -> type != null && type != OutcomeAdvice.class && OutcomeHandlers.isIn(type));
        }

        @Override
        public int getOrder() {
            return isLast ? LOWEST_PRECEDENCE : HIGHEST_PRECEDENCE;
        }

        @ExceptionHandler
        ResponseEntity<byte[]> answer(OutcomeException thrown) {
            HttpAnswer answer = OutcomeHandlers.answer(thrown);
            ResponseEntity.BodyBuilder response = ResponseEntity.status(answer.status());
            answer.headers().fields().forEach(field -> response.header(field.name(), field.value()));
            return response.body(answer.body());
        }
    }

    /** For everything else, such as functional routes; exception handlers of the application go first. */
    @Bean
    @Order(ORDER)
    WebExceptionHandler onlyonceOutcomeExceptions() {
        return (exchange, thrown) -> {
            ServerHttpResponse response = exchange.getResponse();
            if (!(thrown instanceof OutcomeException outcome) || response.isCommitted()) {
                return Mono.error(thrown);
            }
            HttpAnswer answer = OutcomeHandlers.answer(outcome);
            response.setStatusCode(HttpStatusCode.valueOf(answer.status()));
            answer.headers().fields().forEach(field -> response.getHeaders().add(field.name(), field.value()));
            return response.writeWith(
                    Mono.fromSupplier(() -> response.bufferFactory().wrap(answer.body())));
        };
    }
}
