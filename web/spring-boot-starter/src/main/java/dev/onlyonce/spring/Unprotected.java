package dev.onlyonce.spring;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/** Says that a POST or PATCH handler, or a listener of messages, needs no protection, and why: it is not listed as missing. */
@Documented
@Target({ElementType.METHOD, ElementType.TYPE})
@Retention(RetentionPolicy.RUNTIME)
public @interface Unprotected {
    /** Why repeating it does no harm. */
    String value();
}
