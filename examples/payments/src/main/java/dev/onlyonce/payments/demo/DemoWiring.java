package dev.onlyonce.payments.demo;

import dev.onlyonce.Onlyonce;
import dev.onlyonce.payments.db.Database;
import dev.onlyonce.payments.domain.Payments;
import dev.onlyonce.payments.domain.ProviderClient;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.Ordered;
import tools.jackson.databind.json.JsonMapper;

/** The demo's page, in the demo alone. */
@Configuration(proxyBeanMethods = false)
@ConditionalOnBooleanProperty("payments.demo")
class DemoWiring {
    /** Between the limit of bodies and the API keys: nobody has one who opens a page. */
    private static final int BEFORE_API_KEYS = Ordered.HIGHEST_PRECEDENCE + 99;

    @Bean
    FilterRegistrationBean<DemoPage> demoPage(
            Onlyonce once, Database database, Payments payments, ProviderClient provider, JsonMapper json) {
        FilterRegistrationBean<DemoPage> registration = new FilterRegistrationBean<>(
                new DemoPage(new Watch(once, database, payments, provider), provider, json));
        registration.setOrder(BEFORE_API_KEYS);
        return registration;
    }
}
