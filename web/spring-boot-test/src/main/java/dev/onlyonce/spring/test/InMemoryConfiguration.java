package dev.onlyonce.spring.test;

import dev.onlyonce.store.MemoryStore;
import dev.onlyonce.testkit.CrashingStore;
import dev.onlyonce.testkit.ManualTime;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Primary;

/** What {@link OnlyonceTest} puts in the place of the application's store and clock. */
@Configuration(proxyBeanMethods = false)
class InMemoryConfiguration {

    @Bean(destroyMethod = "close")
    @Primary
    ManualTime onlyonceTestTime() {
        return new ManualTime();
    }

    @Bean(destroyMethod = "close")
    @Primary
    CrashingStore onlyonceTestStore(ManualTime time) {
        return new CrashingStore(new MemoryStore(time));
    }
}
