/**
 * The Spring Boot starter. What lives here:
 *
 * <ul>
 *   <li>What applications use: {@link dev.onlyonce.spring.Idempotent}, {@link dev.onlyonce.spring.Queued}, {@link
 *       dev.onlyonce.spring.Delivers}, {@link dev.onlyonce.spring.Reconciles}, {@link dev.onlyonce.spring.Unprotected} and the
 *       properties {@code onlyonce.*} ({@link dev.onlyonce.spring.OnlyonceProperties}).
 *   <li>Below it, what applications do not use: {@code operations} (from annotations and settings to operations, and start-up errors),
 *       {@code store} (store and engine), {@code transactions}, {@code outbox}, {@code messages}, {@code web}, {@code webflux},
 *       {@code methods} (of other beans; and the check at start-up), {@code console}, {@code actuator}. Each but the first has one
 *       auto-configuration.
 *   <li>From annotation to execution: {@code WaySelector} decides the way, {@code HandlerOperations} and {@code MethodPlans} hold the
 *       operations, {@code HandlerExecution} and {@code IdempotentMethods} execute them by {@code TransactionalWay}, {@code
 *       SteppedWay} and {@code QueuedWay}.
 * </ul>
 */
@NullMarked
package dev.onlyonce.spring;

import org.jspecify.annotations.NullMarked;
