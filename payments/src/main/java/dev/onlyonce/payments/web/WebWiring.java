package dev.onlyonce.payments.web;

import dev.onlyonce.Onlyonce;
import dev.onlyonce.http.Boundary;
import dev.onlyonce.http.Operation;
import dev.onlyonce.payments.domain.ApiKeys;
import dev.onlyonce.payments.domain.Operations;
import dev.onlyonce.servlet.TenantResolver;
import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.Ordered;
import tools.jackson.databind.json.JsonMapper;

/** What stands before the controllers. */
@Configuration(proxyBeanMethods = false)
class WebWiring {
    /** Before everything that asks who is there. */
    private static final int FIRST = Ordered.HIGHEST_PRECEDENCE + 100;

    @Bean
    FilterRegistrationBean<BodyLimitFilter> bodyLimitFilter(JsonMapper json) {
        FilterRegistrationBean<BodyLimitFilter> registration = new FilterRegistrationBean<>(new BodyLimitFilter(json));
        registration.setOrder(FIRST - 1);
        return registration;
    }

    @Bean
    FilterRegistrationBean<ApiKeyFilter> apiKeyFilter(ApiKeys keys, JsonMapper json) {
        FilterRegistrationBean<ApiKeyFilter> registration = new FilterRegistrationBean<>(new ApiKeyFilter(keys, json));
        registration.setOrder(FIRST);
        return registration;
    }

    @Bean
    Keyed keyed(Onlyonce once, Operations operations) {
        Boundary boundary = Boundary.builder(once).operations(operations.all()).build();
        return new Keyed(boundary);
    }

    /** For the starter to publish. */
    @Bean
    Operation payment(Operations operations) {
        return operations.payment();
    }

    @Bean
    Operation refund(Operations operations) {
        return operations.refund();
    }

    @Bean
    Operation transfer(Operations operations) {
        return operations.transfer();
    }

    @Bean
    TenantResolver tenants() {
        return TenantResolver.principal();
    }
}
