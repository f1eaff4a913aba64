package dev.onlyonce.spring.web;

import dev.onlyonce.Onlyonce;
import dev.onlyonce.http.Operation;
import dev.onlyonce.servlet.TenantResolver;
import dev.onlyonce.spring.Coverage;
import dev.onlyonce.spring.OnlyonceProperties;
import dev.onlyonce.spring.operations.Development;
import dev.onlyonce.spring.operations.OperationFactory;
import dev.onlyonce.spring.outbox.QueuedWay;
import dev.onlyonce.spring.store.OnlyonceAutoConfiguration;
import dev.onlyonce.spring.transactions.EntryTransactions;
import dev.onlyonce.spring.transactions.KnownOperations;
import dev.onlyonce.spring.transactions.OnlyonceTransactionsAutoConfiguration;
import dev.onlyonce.spring.transactions.SteppedWay;
import dev.onlyonce.spring.transactions.TransactionalWay;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.Filter;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Objects;
import org.apache.catalina.core.StandardContext;
import org.springdoc.core.customizers.GlobalOperationCustomizer;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication;
import org.springframework.boot.tomcat.TomcatContextCustomizer;
import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.Lazy;
import org.springframework.core.Ordered;
import org.springframework.core.env.Environment;
import org.springframework.util.ClassUtils;
import org.springframework.util.function.SingletonSupplier;
import org.springframework.web.filter.CorsFilter;
import org.springframework.web.method.support.HandlerMethodArgumentResolver;
import org.springframework.web.method.support.HandlerMethodReturnValueHandler;
import org.springframework.web.servlet.HandlerExceptionResolver;
import org.springframework.web.servlet.config.annotation.InterceptorRegistry;
import org.springframework.web.servlet.config.annotation.WebMvcConfigurer;
import org.springframework.web.servlet.mvc.method.annotation.RequestMappingHandlerAdapter;
import org.springframework.web.servlet.mvc.method.annotation.RequestMappingHandlerMapping;

/** The filter in a servlet application with Spring MVC. */
@AutoConfiguration(after = {OnlyonceAutoConfiguration.class, OnlyonceTransactionsAutoConfiguration.class})
@ConditionalOnWebApplication(type = ConditionalOnWebApplication.Type.SERVLET)
@ConditionalOnClass({Filter.class, RequestMappingHandlerMapping.class})
@ConditionalOnBean(Onlyonce.class)
@Import(WebhooksConfiguration.class)
public class OnlyonceWebAutoConfiguration {
    private static final String WHOSE =
            "Keys belong to the authenticated principal. If one tenant for everybody is right, set onlyonce.anonymous-tenant;"
                    + " if requests are authenticated in another way, define a TenantResolver bean.";

    /** The principal's name, unless the application says otherwise. */
    @Bean
    @ConditionalOnMissingBean
    TenantResolver onlyonceTenantResolver(OnlyonceProperties properties, ApplicationContext context) {
        boolean secured =
                ClassUtils.isPresent("org.springframework.security.web.SecurityFilterChain", context.getClassLoader());
        return new ServletTenants(PrincipalTenants.of(properties, context.getEnvironment(), secured, WHOSE));
    }

    @Bean
    OnlyonceWeb onlyonceWeb(
            OnlyonceProperties properties,
            Onlyonce once,
            OperationFactory factory,
            ObjectProvider<RequestMappingHandlerMapping> mappings,
            ObjectProvider<RequestMappingHandlerAdapter> adapters,
            OnlyonceWeb.Outside outside,
            KnownOperations known) {
        HandlerOperations operations =
                new HandlerOperations(mappings.orderedStream().toList(), factory, known, new BodyReaders(adapters));
        return new OnlyonceWeb(properties, once, operations, outside);
    }

    @Bean
    OnlyonceWeb.Outside onlyonceOutside(
            TenantResolver tenants,
            HandlerExecution.Ways ways,
            ObjectProvider<Operation> executedElsewhere,
            @Value("${spring.mvc.servlet.path:/}") String servletPath,
            @Value("${spring.web.error.path:${server.error.path:${error.path:/error}}}") String errorPath,
            Environment environment) {
        return new OnlyonceWeb.Outside(
                tenants,
                errorPath,
                servletPath,
                ways,
                executedElsewhere.orderedStream().toList(),
                Development.isHere(environment, getClass().getClassLoader()) ? WHOSE : null);
    }

    @Bean
    HandlerExecution.Ways onlyonceWays(
            ObjectProvider<TransactionalWay> transactional, SteppedWay stepped, ObjectProvider<QueuedWay> queued) {
        return new HandlerExecution.Ways(transactional, stepped, queued);
    }

    /** First, because a controller's {@code @ResponseBody} would make JSON of it. */
    @Bean
    SmartInitializingSingleton onlyonceQueuedReturn(ObjectProvider<RequestMappingHandlerAdapter> adapters) {
        return () -> adapters.forEach(adapter -> {
            List<HandlerMethodReturnValueHandler> handlers = new ArrayList<>(List.of(new QueuedReturn()));
            handlers.addAll(Objects.requireNonNullElse(adapter.getReturnValueHandlers(), List.of()));
            adapter.setReturnValueHandlers(handlers);
        });
    }

    /** Which handlers are protected, for tests and reports. */
    @Bean
    @Lazy
    Coverage onlyonceCoverage(OnlyonceWeb web) {
        return web.operations().coverage();
    }

    /** Before the first request comes in. */
    @Bean
    SmartInitializingSingleton onlyonceCoverageReport(ObjectProvider<OnlyonceWeb> web, OnlyonceProperties properties) {
        return () -> web.getObject().operations().report(properties.coverage());
    }

    /** Filters are made before handlers are known, so this one looks for its substance later. */
    @Bean
    FilterRegistrationBean<Filter> onlyonceFilter(
            ObjectProvider<OnlyonceWeb> web, ObjectProvider<CorsFilter> cors, OnlyonceProperties properties) {
        SingletonSupplier<Filter> filter =
                SingletonSupplier.of(() -> new CorsFirst(web.getObject(), cors.getIfUnique()));
        FilterRegistrationBean<Filter> registration = new FilterRegistrationBean<>(
                (request, response, chain) -> filter.obtain().doFilter(request, response, chain));
        registration.setName("onlyonce");
        registration.setOrder(properties.filterOrder());
        registration.setDispatcherTypes(EnumSet.of(DispatcherType.REQUEST, DispatcherType.ASYNC));
        registration.setAsyncSupported(true);
        return registration;
    }

    /** Innermost, so that what the database refuses is known before anybody else looks at the handler's result. */
    @Bean
    WebMvcConfigurer onlyonceHandlerInterception(
            ObjectProvider<EntryTransactions> transactions, ObjectProvider<OnlyonceWeb> web, ApplicationContext beans) {
        return new WebMvcConfigurer() {
            @Override
            public void addInterceptors(InterceptorRegistry registry) {
                registry.addInterceptor(new HandlerInterception(transactions, web))
                        .order(Ordered.LOWEST_PRECEDENCE);
            }

            @Override
            public void addArgumentResolvers(List<HandlerMethodArgumentResolver> resolvers) {
                resolvers.add(new HandlerArguments());
            }

            @Override
            public void extendHandlerExceptionResolvers(List<HandlerExceptionResolver> resolvers) {
                resolvers.add(0, new OutcomeExceptions(beans));
                HandlerExceptions.addTo(resolvers, transactions);
            }
        };
    }

    /** Tomcat. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass({TomcatContextCustomizer.class, StandardContext.class})
    static class OnTomcat {
        /** Otherwise Tomcat 11 throws away what is written after a forward, and with it every recorded error page. */
        @Bean
        TomcatContextCustomizer onlyonceTomcatContextCustomizer() {
            return context -> {
                if (context instanceof StandardContext standard) {
                    standard.setSuspendWrappedResponseAfterForward(false);
                }
            };
        }
    }

    /** Tells springdoc what protected handlers ask for and answer, so that the OpenAPI document has it. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(GlobalOperationCustomizer.class)
    static class WithOpenApi {
        @Bean
        GlobalOperationCustomizer onlyonceOperationCustomizer(ObjectProvider<OnlyonceWeb> web) {
            return new OpenApiOperations(web);
        }
    }
}
