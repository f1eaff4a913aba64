package dev.onlyonce.jaxrs;

import dev.onlyonce.Scope;
import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Makes a resource method take effect once for each {@code Idempotency-Key}; its response is recorded and replayed. On a resource
 * class it protects all of its POST and PATCH methods. Applications register an {@link OnlyonceFeature}.
 */
@Documented
@Target({ElementType.METHOD, ElementType.TYPE})
@Retention(RetentionPolicy.RUNTIME)
public @interface Idempotent {

    /** The operation's name. Empty: method and path, such as {@code POST /payments/{id}/refund}. */
    String operation() default "";

    /** {@code ietf}, {@code stripe} or {@code strict}. */
    String profile() default "ietf";

    /** The namespace of its keys. */
    Scope scope() default Scope.TENANT;
}
