package dev.onlyonce.spring;

import dev.onlyonce.Onlyonce;
import dev.onlyonce.http.Operation;
import dev.onlyonce.servlet.TenantResolver;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.Filter;
import java.util.EnumSet;
import java.util.List;
import org.apache.catalina.core.StandardContext;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
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
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.Ordered;
import org.springframework.util.ClassUtils;
import org.springframework.util.function.SingletonSupplier;
import org.springframework.web.filter.CorsFilter;
import org.springframework.web.servlet.HandlerExceptionResolver;
import org.springframework.web.servlet.config.annotation.InterceptorRegistry;
import org.springframework.web.servlet.config.annotation.WebMvcConfigurer;
import org.springframework.web.servlet.mvc.method.annotation.RequestMappingHandlerMapping;

/** The filter in a servlet application with Spring MVC. */
@AutoConfiguration(after = {OnlyonceAutoConfiguration.class, OnlyonceTransactionsAutoConfiguration.class})
@ConditionalOnWebApplication(type = ConditionalOnWebApplication.Type.SERVLET)
@ConditionalOnClass({Filter.class, RequestMappingHandlerMapping.class})
@ConditionalOnBean(Onlyonce.class)
public class OnlyonceWebAutoConfiguration {
    private static final Logger log = LoggerFactory.getLogger(OnlyonceWebAutoConfiguration.class);

    /** The principal's name, unless the application says otherwise. */
    @Bean
    @ConditionalOnMissingBean
    TenantResolver onlyonceTenantResolver(OnlyonceProperties properties) {
        boolean secured = ClassUtils.isPresent(
                "org.springframework.security.web.SecurityFilterChain",
                getClass().getClassLoader());
        if (!secured && properties.anonymousTenant() == null) {
            log.warn(
                    "Keys belong to the authenticated principal, but Spring Security is not there: unless something else"
                            + " authenticates, protected requests get 401. Define a TenantResolver bean, or set"
                            + " onlyonce.anonymous-tenant if one tenant for everybody is right.");
        }
        return TenantResolver.principal();
    }

    @Bean
    OnlyonceWeb onlyonceWeb(
            OnlyonceProperties properties,
            Onlyonce once,
            OperationFactory factory,
            ObjectProvider<RequestMappingHandlerMapping> mappings,
            TenantResolver tenants,
            ObjectProvider<TransactionalWay> ways,
            ObjectProvider<Operation> executedElsewhere,
            Downgrades downgrades,
            @Value("${spring.mvc.servlet.path:/}") String servletPath,
            @Value("${spring.web.error.path:${server.error.path:${error.path:/error}}}") String errorPath) {
        TransactionalWay way = ways.getIfAvailable();
        HandlerOperations operations =
                new HandlerOperations(mappings.orderedStream().toList(), factory, way, downgrades);
        OnlyonceWeb.Outside outside = new OnlyonceWeb.Outside(
                tenants,
                errorPath,
                servletPath,
                way,
                executedElsewhere.orderedStream().toList());
        return new OnlyonceWeb(properties, once, operations, outside);
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
    WebMvcConfigurer onlyonceHandlerEnd(ObjectProvider<TransactionalWay> ways, ObjectProvider<OnlyonceWeb> web) {
        return new WebMvcConfigurer() {
            @Override
            public void addInterceptors(InterceptorRegistry registry) {
                registry.addInterceptor(new HandlerEnd(ways, web)).order(Ordered.LOWEST_PRECEDENCE);
            }

            @Override
            public void extendHandlerExceptionResolvers(List<HandlerExceptionResolver> resolvers) {
                HandlerExceptions.addTo(resolvers, ways);
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
}
