package dev.onlyonce.spring;

import dev.onlyonce.Scope;
import dev.onlyonce.Way;
import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Makes an MVC handler, or a method of any bean, take effect once for each key.
 *
 * <p>On a handler of a controller the key is the request's {@code Idempotency-Key} header, and the response is recorded and
 * replayed. On a controller class it protects all POST and PATCH handlers of the class. On a method of another bean the key is an
 * {@linkplain #key expression}, and the return value is recorded. On a {@code @KafkaListener},
 * {@code @RabbitListener} or {@code @SqsListener} the key is the message's id ({@code onlyonce.messages.id}), unless
 * there is an expression.
 *
 * <p>Elements that are left empty take their value from {@code onlyonce.*} in the configuration;
 * {@code onlyonce.operations.<name>.*} overrides both.
 */
@Documented
@Target({ElementType.METHOD, ElementType.TYPE})
@Retention(RetentionPolicy.RUNTIME)
public @interface Idempotent {

    /** The operation's name. Empty: {@code POST /payments} for handlers, {@code Class.method} for other methods. */
    String operation() default "";

    /**
     * The key of a bean's method, as an expression over its parameters: {@code #order.id}. Handlers take it from the request
     * and must leave this empty. Listeners of messages may leave it empty: then it is the message's id.
     */
    String key() default "";

    /**
     * For handlers: the field of HTML forms that may have the key instead of the header, which a browser's form cannot send.
     * Empty: none.
     */
    String keyField() default "";

    /** The tenant of a bean's method, as an expression over its parameters. Empty: {@code onlyonce.tenant}. */
    String tenant() default "";

    /**
     * How the method is executed; one way at most. Empty: transactional if the method is {@code @Transactional} on the database
     * of the entries, else leased.
     *
     * <ul>
     *   <li>{@link Way#LEASED}: a lease holds the claim while the method runs. For effects outside the database.
     *   <li>{@link Way#TRANSACTIONAL}: claim, effects and result commit in one transaction; nested {@code @Transactional} calls
     *       join it.
     *   <li>{@link Way#STEPPED}: the method has a parameter of type {@link dev.onlyonce.sql.steps.StepRunner} and makes each of its effects
     *       in a step; a retry resumes after the last finished one.
     *   <li>{@link Way#QUEUED}: a handler makes its business write in a transaction and returns {@link Queued}, the call that a
     *       worker makes after the commit.
     * </ul>
     */
    Way[] way() default {};

    /** Which {@link Delivers delivery handler} makes the calls of a queued handler. Empty: the name of the operation. */
    String topic() default "";

    /** {@code ietf}, {@code stripe} or {@code strict}, for handlers. Empty: {@code onlyonce.profile}. */
    String profile() default "";

    /** The namespace of its keys. */
    Scope scope() default Scope.TENANT;

    /** How long a claim holds without a heartbeat, such as {@code 30s}. Empty: {@code onlyonce.lease}. */
    String lease() default "";

    /** How long retries are answered, such as {@code 24h}. Empty: {@code onlyonce.retention}. */
    String retention() default "";
}
