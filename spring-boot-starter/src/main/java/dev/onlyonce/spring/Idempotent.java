package dev.onlyonce.spring;

import dev.onlyonce.Scope;
import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Makes an MVC handler, or a method of any bean, take effect once for each key.
 *
 * <p>On a handler of a controller the key is the request's {@code Idempotency-Key} header, and the response is what is
 * recorded and replayed. On a controller class it stands for all its POST and PATCH handlers. On a method of another bean the
 * key is an {@linkplain #key expression}, and the return value is recorded.
 *
 * <p>What is left empty is taken from {@code onlyonce.*} in the configuration; {@code onlyonce.operations.<name>.*} goes before
 * both.
 */
@Documented
@Target({ElementType.METHOD, ElementType.TYPE})
@Retention(RetentionPolicy.RUNTIME)
public @interface Idempotent {

    /** How it is executed. */
    enum Way {
        /** In one transaction if the method is {@code @Transactional} on the database of the entries; else leased. */
        AUTO,
        /** The claim is held by a lease while the method runs. For effects outside the database. */
        LEASED,
        /** Claim, effects and result commit together in one transaction, which what is called joins. */
        TRANSACTIONAL
    }

    /** The operation's name. Empty: {@code POST /payments} for handlers, {@code Class.method} for other methods. */
    String operation() default "";

    /**
     * The key of a bean's method, as an expression over its parameters: {@code #order.id}. Handlers take it from the request
     * and must leave this empty.
     */
    String key() default "";

    /** The tenant of a bean's method, as an expression over its parameters. Empty: {@code onlyonce.tenant}. */
    String tenant() default "";

    /** How it is executed. */
    Way way() default Way.AUTO;

    /** {@code ietf}, {@code stripe} or {@code strict}, for handlers. Empty: {@code onlyonce.profile}. */
    String profile() default "";

    /** The namespace of its keys. */
    Scope scope() default Scope.TENANT;

    /** How long a claim holds without a heartbeat, such as {@code 30s}. Empty: {@code onlyonce.lease}. */
    String lease() default "";

    /** How long retries are answered, such as {@code 24h}. Empty: {@code onlyonce.retention}. */
    String retention() default "";
}
