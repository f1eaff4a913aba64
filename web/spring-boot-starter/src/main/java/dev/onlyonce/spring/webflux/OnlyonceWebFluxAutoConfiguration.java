package dev.onlyonce.spring.webflux;

import dev.onlyonce.Onlyonce;
import dev.onlyonce.OutcomeException;
import dev.onlyonce.http.Boundary;
import dev.onlyonce.http.HttpAnswer;
import dev.onlyonce.http.Operation;
import dev.onlyonce.spring.Coverage;
import dev.onlyonce.spring.OnlyonceProperties;
import dev.onlyonce.spring.operations.Development;
import dev.onlyonce.spring.operations.OperationFactory;
import dev.onlyonce.spring.store.OnlyonceAutoConfiguration;
import dev.onlyonce.spring.transactions.KnownOperations;
import dev.onlyonce.spring.transactions.OnlyonceTransactionsAutoConfiguration;
import dev.onlyonce.spring.web.OutcomeHandlers;
import dev.onlyonce.spring.web.PrincipalTenants;
import dev.onlyonce.spring.web.WebBoundary;
import dev.onlyonce.webflux.HandlerErrors;
import dev.onlyonce.webflux.OnlyonceWebFilter;
import dev.onlyonce.webflux.ReactiveTenantResolver;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Lazy;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;
import org.springframework.core.env.Environment;
import org.springframework.http.HttpStatusCode;
import org.springframework.http.ResponseEntity;
import org.springframework.http.codec.ServerCodecConfigurer;
import org.springframework.http.server.reactive.ServerHttpResponse;
import org.springframework.util.ClassUtils;
import org.springframework.util.function.SingletonSupplier;
import org.springframework.web.bind.annotation.ControllerAdvice;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.reactive.DispatcherHandler;
import org.springframework.web.reactive.HandlerMapping;
import org.springframework.web.reactive.HandlerResultHandler;
import org.springframework.web.reactive.function.server.RouterFunction;
import org.springframework.web.server.WebExceptionHandler;
import org.springframework.web.server.WebFilter;
import reactor.core.publisher.Mono;

/** The filter in a WebFlux application: annotated handlers and functional routes. */
@AutoConfiguration(after = {OnlyonceAutoConfiguration.class, OnlyonceTransactionsAutoConfiguration.class})
@ConditionalOnWebApplication(type = ConditionalOnWebApplication.Type.REACTIVE)
@ConditionalOnClass({Mono.class, DispatcherHandler.class})
@ConditionalOnBean(Onlyonce.class)
public class OnlyonceWebFluxAutoConfiguration {
    private static final String WHOSE =
            "Keys belong to the authenticated principal. If one tenant for everybody is right, set onlyonce.anonymous-tenant;"
                    + " if requests are authenticated in another way, define a ReactiveTenantResolver bean.";

    /** The principal's name, unless the application says otherwise. */
    @Bean
    @ConditionalOnMissingBean
    ReactiveTenantResolver onlyonceReactiveTenantResolver(OnlyonceProperties properties, ApplicationContext context) {
        boolean secured = ClassUtils.isPresent(
                "org.springframework.security.web.server.SecurityWebFilterChain", context.getClassLoader());
        return new ReactiveTenants(PrincipalTenants.of(properties, context.getEnvironment(), secured, WHOSE));
    }

    @Bean
    ReactiveOperations onlyonceReactiveOperations(
            ObjectProvider<HandlerMapping> mappings,
            ObjectProvider<RouterFunction<?>> routes,
            OperationFactory factory,
            KnownOperations known) {
        return new ReactiveOperations(
                mappings.orderedStream().toList(), routes.orderedStream().collect(Collectors.toList()), factory, known);
    }

    @Bean
    OnlyonceWebFlux onlyonceWebFlux(
            OnlyonceProperties properties,
            Onlyonce once,
            ReactiveOperations operations,
            ReactiveTenantResolver tenants,
            ListableBeanFactory beans,
            Environment environment) {
        List<Operation> elsewhere =
                beans.getBeanProvider(Operation.class).orderedStream().toList();
        Boundary boundary = WebBoundary.of(
                properties,
                once,
                new WebBoundary.Published(operations.all(), elsewhere),
                new WebBoundary.Anonymous(
                        tenants instanceof ReactiveTenants own
                                ? own.principals().anonymous()
                                : properties.anonymousTenant(),
                        Development.isHere(environment, getClass().getClassLoader()) ? WHOSE : null));
        OnlyonceWebFilter.Builder filter = OnlyonceWebFilter.builder(boundary)
                .operations(operations)
                .tenants(tenants)
                .errors(beans.getBeanProvider(WebExceptionHandler.class)
                        .orderedStream()
                        .toList());
        beans.getBeanProvider(ServerCodecConfigurer.class).ifAvailable(filter::codecs);
        String whose = tenants instanceof ReactiveTenants own
                ? own.principals().described()
                : "the tenants of a " + ReactiveTenantResolver.class.getSimpleName();
        return new OnlyonceWebFlux(operations, boundary, filter.build(), whose);
    }

    @Bean
    WebFilter onlyonceWebFilter(ObjectProvider<OnlyonceWebFlux> web, OnlyonceProperties properties) {
        return new OnlyonceWebFlux.Lazy(SingletonSupplier.of(web::getObject), properties.filterOrder());
    }

    /** Before those that write results. */
    @Bean
    HandlerErrors onlyonceHandlerErrors(ObjectProvider<HandlerResultHandler> all) {
        return new HandlerErrors(() -> all.orderedStream().toList());
    }

    /** Which handlers are protected, for tests and reports. */
    @Bean
    @Lazy
    Coverage onlyonceCoverage(ReactiveOperations operations) {
        return operations.coverage();
    }

    /** Before the first request comes in. */
    @Bean
    SmartInitializingSingleton onlyonceCoverageReport(
            ObjectProvider<OnlyonceWebFlux> web, OnlyonceProperties properties) {
        return () -> web.getObject().operations().report(properties.coverage());
    }

    /** {@link OutcomeException}: what clients get if an {@code @Idempotent} method of another bean has no value to return. */
    @Configuration(proxyBeanMethods = false)
    static class Outcomes {
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
}
