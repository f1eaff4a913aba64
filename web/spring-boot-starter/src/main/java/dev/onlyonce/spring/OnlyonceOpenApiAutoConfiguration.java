package dev.onlyonce.spring;

import org.springdoc.core.customizers.GlobalOperationCustomizer;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.context.annotation.Bean;

/** Tells springdoc what protected handlers ask for and answer, so that the OpenAPI document has it. */
@AutoConfiguration(after = OnlyonceWebAutoConfiguration.class)
@ConditionalOnClass(GlobalOperationCustomizer.class)
@ConditionalOnBean(OnlyonceWeb.class)
public class OnlyonceOpenApiAutoConfiguration {

    @Bean
    GlobalOperationCustomizer onlyonceOperationCustomizer(ObjectProvider<OnlyonceWeb> web) {
        return new OpenApiOperations(web);
    }
}
