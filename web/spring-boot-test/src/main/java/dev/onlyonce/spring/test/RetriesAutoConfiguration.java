package dev.onlyonce.spring.test;

import dev.onlyonce.Onlyonce;
import dev.onlyonce.spring.Coverage;
import dev.onlyonce.spring.store.OnlyonceAutoConfiguration;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.context.annotation.Bean;

/** {@link Retries} for every test, on whatever store. */
@AutoConfiguration(after = OnlyonceAutoConfiguration.class)
@ConditionalOnBean(Onlyonce.class)
public class RetriesAutoConfiguration {

    @Bean
    Retries onlyonceRetries(Onlyonce once, ObjectProvider<Coverage> coverage) {
        return new Retries(once, coverage::getIfAvailable);
    }
}
