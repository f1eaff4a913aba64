package dev.onlyonce.spring;

import dev.onlyonce.Codec;
import dev.onlyonce.Key;
import dev.onlyonce.MalformedKey;
import dev.onlyonce.Onlyonce;
import dev.onlyonce.Outcome;
import dev.onlyonce.Policy;
import dev.onlyonce.fingerprint.Fingerprint;
import java.lang.reflect.Method;
import java.lang.reflect.Type;
import java.lang.reflect.UndeclaredThrowableException;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.support.AopUtils;
import org.springframework.context.expression.MethodBasedEvaluationContext;
import org.springframework.core.DefaultParameterNameDiscoverer;
import org.springframework.core.GenericTypeResolver;
import org.springframework.core.ParameterNameDiscoverer;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.expression.EvaluationContext;
import org.springframework.expression.Expression;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.UnexpectedRollbackException;

/** Runs {@link Idempotent} methods of beans once for each key, and returns what the first run returned. */
final class IdempotentMethods implements MethodInterceptor {
    private static final ParameterNameDiscoverer NAMES = new DefaultParameterNameDiscoverer();

    private final Onlyonce once;
    private final OperationFactory factory;
    private final String tenant;
    private final Json json;
    private final @Nullable TransactionalWay way;
    private final Map<Target, Plan> plans = new ConcurrentHashMap<>();

    /** A method, which several beans may have inherited. */
    private record Target(Class<?> type, Method method) {}

    /** What is known of a method before it is called. */
    private record Plan(
            String operation,
            Idempotent annotation,
            Policy policy,
            Expression key,
            Optional<Expression> tenant,
            Codec<Optional<Object>> codec,
            Optional<TransactionDefinition> transaction) {}

    IdempotentMethods(
            Onlyonce once, OperationFactory factory, String tenant, Json json, @Nullable TransactionalWay way) {
        this.once = once;
        this.factory = factory;
        this.tenant = tenant;
        this.json = json;
        this.way = way;
    }

    @Override
    public @Nullable Object invoke(MethodInvocation invocation) throws Throwable {
        Object target = invocation.getThis();
        Class<?> type = target == null ? invocation.getMethod().getDeclaringClass() : AopUtils.getTargetClass(target);
        Method method = AopUtils.getMostSpecificMethod(invocation.getMethod(), type);
        Plan plan = plans.computeIfAbsent(new Target(type, method), this::plan);
        EvaluationContext context = new MethodBasedEvaluationContext(target, method, invocation.getArguments(), NAMES);
        Key key = key(plan, context);
        Fingerprint fingerprint = Fingerprint.ofJson(json.write(invocation.getArguments()));
        return value(plan, execute(plan, key, fingerprint, invocation));
    }

    private Outcome<Optional<Object>> execute(Plan plan, Key key, Fingerprint fingerprint, MethodInvocation invocation)
            throws Exception {
        if (plan.transaction.isEmpty()) {
            return once.registry().execute(key, fingerprint, plan.policy, plan.codec, claim -> proceed(invocation));
        }
        if (way == null) {
            throw new IllegalStateException("there is no plan with a transaction unless there is a way to run it");
        }
        try {
            return way.execute(
                    plan.transaction.get(),
                    plan.policy,
                    new TransactionalWay.Asked(key, fingerprint),
                    plan.codec,
                    () -> proceed(invocation));
        } catch (TransactionalWay.RolledBack e) {
            throw new UnexpectedRollbackException(plan.operation + " was rolled back, so nothing happened", e);
        }
    }

    private static Optional<Object> proceed(MethodInvocation invocation) throws Exception {
        try {
            return Optional.ofNullable(invocation.proceed());
        } catch (Exception | Error e) {
            throw e;
        } catch (Throwable e) {
            throw new UndeclaredThrowableException(e);
        }
    }

    private static @Nullable Object value(Plan plan, Outcome<Optional<Object>> outcome) {
        if (outcome instanceof Outcome.Executed<Optional<Object>> executed) {
            return executed.value().orElse(null);
        }
        if (outcome instanceof Outcome.Replayed<Optional<Object>> replayed) {
            return replayed.value().orElse(null);
        }
        throw new NotRepeated(plan.operation, outcome);
    }

    private Key key(Plan plan, EvaluationContext context) {
        String value = plan.key.getValue(context, String.class);
        if (value == null) {
            throw new MalformedKey(
                    MalformedKey.Reason.MISSING,
                    "the key of " + plan.operation + " (" + plan.annotation.key() + ") is null");
        }
        String owner = plan.tenant.isEmpty() ? tenant : plan.tenant.get().getValue(context, String.class);
        if (owner == null) {
            // Never the tenant of everybody else.
            throw new IllegalArgumentException(
                    "the tenant of " + plan.operation + " (" + plan.annotation.tenant() + ") is null");
        }
        return new Key(owner, plan.operation, value, plan.annotation.scope());
    }

    private Plan plan(Target target) {
        Method method = target.method;
        Class<?> type = target.type;
        Idempotent annotation = AnnotatedElementUtils.findMergedAnnotation(method, Idempotent.class);
        if (annotation == null) {
            throw new IllegalStateException(method + " is not @Idempotent");
        }
        String name = IdempotentPointcut.operation(annotation, type, method);
        Type returned = GenericTypeResolver.resolveType(method.getGenericReturnType(), type);
        Codec<Optional<Object>> codec = Codec.of(
                value -> json.write(value.orElse(null)),
                bytes -> method.getReturnType() == void.class
                        ? Optional.empty()
                        : Optional.ofNullable(json.read(bytes, returned)));
        return new Plan(
                name,
                annotation,
                factory.policy(annotation, name),
                IdempotentPointcut.parse(name, annotation.key()),
                annotation.tenant().isEmpty()
                        ? Optional.empty()
                        : Optional.of(IdempotentPointcut.parse(name, annotation.tenant())),
                codec,
                TransactionalWay.definition(way, annotation, method, type));
    }
}
