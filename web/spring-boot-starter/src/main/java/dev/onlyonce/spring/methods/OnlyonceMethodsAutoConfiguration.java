package dev.onlyonce.spring.methods;

import com.fasterxml.jackson.databind.ObjectMapper;
import dev.onlyonce.Onlyonce;
import dev.onlyonce.spring.OnlyonceProperties;
import dev.onlyonce.spring.messages.ListenerCalls;
import dev.onlyonce.spring.operations.IdempotentPointcut;
import dev.onlyonce.spring.operations.Jackson3;
import dev.onlyonce.spring.operations.JsonMapping;
import dev.onlyonce.spring.operations.OperationFactory;
import dev.onlyonce.spring.outbox.DeliveryHandlers;
import dev.onlyonce.spring.store.OnlyonceAutoConfiguration;
import dev.onlyonce.spring.store.Reconcilers;
import dev.onlyonce.spring.transactions.KnownOperations;
import dev.onlyonce.spring.transactions.OnlyonceTransactionsAutoConfiguration;
import dev.onlyonce.spring.transactions.SteppedWay;
import dev.onlyonce.spring.transactions.TransactionalWay;
import dev.onlyonce.spring.web.WebProtection;
import org.aopalliance.intercept.MethodInterceptor;
import org.springframework.aop.Advisor;
import org.springframework.aop.config.AopConfigUtils;
import org.springframework.aop.support.DefaultPointcutAdvisor;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.support.BeanDefinitionRegistry;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnSingleCandidate;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.ImportBeanDefinitionRegistrar;
import org.springframework.context.annotation.Role;
import org.springframework.core.Ordered;
import org.springframework.core.type.AnnotationMetadata;
import org.springframework.util.function.SingletonSupplier;

/** {@code @Idempotent} on methods of any bean. */
@AutoConfiguration(
        after = {OnlyonceAutoConfiguration.class, OnlyonceTransactionsAutoConfiguration.class},
        afterName = {
            "org.springframework.boot.jackson.autoconfigure.JacksonAutoConfiguration",
            "org.springframework.boot.autoconfigure.jackson.JacksonAutoConfiguration"
        })
@ConditionalOnBean(Onlyonce.class)
@Import(OnlyonceMethodsAutoConfiguration.Proxies.class)
public class OnlyonceMethodsAutoConfiguration {
    /** Outside of transactions, which are innermost unless told otherwise. */
    private static final int ORDER = Ordered.LOWEST_PRECEDENCE - 100;

    /** Beans with advised methods get proxies. */
    static class Proxies implements ImportBeanDefinitionRegistrar {
        @Override
        public void registerBeanDefinitions(AnnotationMetadata metadata, BeanDefinitionRegistry registry) {
            AopConfigUtils.registerAutoProxyCreatorIfNecessary(registry);
            AopConfigUtils.forceAutoProxyCreatorToUseClassProxying(registry);
        }
    }

    @Bean
    IdempotentMethods onlyonceMethods(
            Onlyonce once,
            OperationFactory factory,
            KnownOperations known,
            OnlyonceProperties properties,
            ObjectProvider<JsonMapping> json,
            IdempotentMethods.Ways ways) {
        MethodPlans plans = new MethodPlans(factory, known, json.getIfAvailable(JsonMapping::standard));
        return new IdempotentMethods(once, plans, properties.tenant(), ways);
    }

    @Bean
    IdempotentMethods.Ways onlyonceMethodWays(
            ObjectProvider<TransactionalWay> transactional,
            SteppedWay stepped,
            ObjectProvider<ListenerCalls> listeners) {
        return new IdempotentMethods.Ways(transactional, stepped, listeners);
    }

    /** Made before other beans, so it looks for its substance when the first method is called. */
    @Bean
    @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
    static Advisor onlyonceAdvisor(ObjectProvider<IdempotentMethods> methods) {
        SingletonSupplier<MethodInterceptor> interceptor = SingletonSupplier.of(methods::getObject);
        DefaultPointcutAdvisor advisor = new DefaultPointcutAdvisor(new IdempotentPointcut(), (MethodInterceptor)
                call -> interceptor.obtain().invoke(call));
        advisor.setOrder(ORDER);
        return advisor;
    }

    /** The beans that make the calls of queued operations. */
    @Bean
    DeliveryHandlers onlyonceDeliveryHandlers(ListableBeanFactory beans) {
        return new DeliveryHandlers(beans);
    }

    @Bean
    AnnotationCheck onlyonceAnnotationCheck(
            ListableBeanFactory beans,
            OperationFactory factory,
            OnlyonceProperties properties,
            ObjectProvider<WebProtection> web,
            KnownOperations known,
            Reconcilers reconcilers,
            DeliveryHandlers deliveries) {
        return new AnnotationCheck(
                beans,
                factory,
                properties,
                new AnnotationCheck.Executing(web.getIfAvailable(), known, reconcilers, deliveries));
    }

    /** Spring Boot 4 has Jackson 3. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(name = "tools.jackson.databind.json.JsonMapper")
    static class WithJackson {
        @Bean
        @ConditionalOnMissingBean
        @ConditionalOnBean(type = "tools.jackson.databind.json.JsonMapper")
        JsonMapping onlyonceJson(tools.jackson.databind.json.JsonMapper mapper) {
            return new Jackson3(mapper);
        }
    }

    /** Spring Boot 3.5 has Jackson 2. On Spring Boot 4 a mapper of Jackson 2 would be somebody's beside the application's own. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnMissingClass("tools.jackson.databind.json.JsonMapper")
    static class WithJackson2 {
        @Bean
        @ConditionalOnMissingBean
        @ConditionalOnSingleCandidate(ObjectMapper.class)
        JsonMapping onlyonceJson(ObjectMapper mapper) {
            return JsonMapping.of(mapper);
        }
    }
}
