package dev.onlyonce.spring;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Names the topics whose calls a bean of type {@link dev.onlyonce.sql.outbox.DeliveryHandler} makes. On the bean's class or on the {@code @Bean}
 * method that makes it. The starter builds an outbox with all of these beans, and starts and stops it with the application.
 */
@Documented
@Target({ElementType.TYPE, ElementType.METHOD})
@Retention(RetentionPolicy.RUNTIME)
public @interface Delivers {

    /** The topics: what {@link Idempotent#topic} says, else the names of the operations, such as {@code POST /payments}. */
    String[] value();
}
