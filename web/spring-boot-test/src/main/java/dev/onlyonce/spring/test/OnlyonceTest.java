package dev.onlyonce.spring.test;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.springframework.context.annotation.Import;
import org.springframework.test.context.TestPropertySource;

/**
 * On a Spring Boot test: entries are kept in memory whatever the application's database is, and time passes only when the test
 * says so. The test can inject {@link dev.onlyonce.testkit.ManualTime} and {@link Retries}.
 *
 * <p>Handlers that are {@code @Transactional} run leased on this store, and handlers that ask for the transactional, stepped or
 * queued way need an SQL store: test those without this annotation, on the application's test database.
 */
@Documented
@Inherited
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@Import(InMemoryConfiguration.class)
@TestPropertySource(properties = "onlyonce.store.memory=true")
public @interface OnlyonceTest {}
