package dev.onlyonce.payments.web;

import dev.onlyonce.payments.domain.ApiKeys;
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

    /** Keys belong to the owner of the API key. */
    @Bean
    TenantResolver tenants() {
        return TenantResolver.principal();
    }
}
