package dev.onlyonce.spring;

import dev.onlyonce.Onlyonce;
import dev.onlyonce.http.Boundary;
import dev.onlyonce.http.Operation;
import dev.onlyonce.webflux.HandlerErrors;
import dev.onlyonce.webflux.OnlyonceWebFilter;
import dev.onlyonce.webflux.ReactiveTenantResolver;
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
import org.springframework.context.annotation.Lazy;
import org.springframework.core.env.Environment;
import org.springframework.http.codec.ServerCodecConfigurer;
import org.springframework.util.ClassUtils;
import org.springframework.util.function.SingletonSupplier;
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
}
