/**
 * The Spring Boot starter. What lives here:
 *
 * <ul>
 *   <li>What applications use: {@link dev.onlyonce.spring.Idempotent}, {@link dev.onlyonce.spring.Queued}, {@link
 *       dev.onlyonce.spring.Delivers}, {@link dev.onlyonce.spring.Reconciles}, {@link dev.onlyonce.spring.Unprotected} and the
 *       properties {@code onlyonce.*} ({@link dev.onlyonce.spring.OnlyonceProperties}).
 *   <li>The auto-configurations, one for each thing that an application may or may not have: store and engine, transactions,
 *       outbox, web, methods of beans, meters, actuator.
 *   <li>From annotation to execution: {@code WayChoice} decides the way, {@code HandlerOperations} and {@code MethodPlans} hold the
 *       operations, {@code HandlerExecution} and {@code IdempotentMethods} execute them by {@code TransactionalWay}, {@code
 *       SteppedWay} and {@code QueuedWay}.
 *   <li>Start-up errors: {@code AnnotationCheck} and {@code InvalidSettings}, which say what is wrong and what to change.
 * </ul>
 */
@NullMarked
package dev.onlyonce.spring;

import org.jspecify.annotations.NullMarked;
