package dev.onlyonce.spring;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Says which operations a bean of type {@link dev.onlyonce.Reconciler}, or {@link dev.onlyonce.sql.steps.StepReconciler} for stepped ones,
 * finds out about. On the bean's class or on the
 * {@code @Bean} method that makes it.
 */
@Documented
@Target({ElementType.TYPE, ElementType.METHOD})
@Retention(RetentionPolicy.RUNTIME)
public @interface Reconciles {

    /** The names of the operations, such as {@code POST /payments}. */
    String[] value();
}
