package dev.onlyonce.spring.methods;

import dev.onlyonce.Key;
import dev.onlyonce.MalformedKey;
import dev.onlyonce.Onlyonce;
import dev.onlyonce.Outcome;
import dev.onlyonce.OutcomeException;
import dev.onlyonce.fingerprint.Fingerprint;
import dev.onlyonce.http.FormerNames;
import dev.onlyonce.spring.messages.ListenerCalls;
import dev.onlyonce.spring.methods.MethodPlans.Plan;
import dev.onlyonce.spring.operations.KeyedCall;
import dev.onlyonce.spring.transactions.EntryTransactions;
import dev.onlyonce.spring.transactions.LeasedInTransaction;
import dev.onlyonce.spring.transactions.SteppedWay;
import dev.onlyonce.spring.transactions.TransactionalWay;
import java.lang.reflect.Method;
import java.lang.reflect.UndeclaredThrowableException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.context.expression.MethodBasedEvaluationContext;
import org.springframework.core.DefaultParameterNameDiscoverer;
import org.springframework.core.ParameterNameDiscoverer;
import org.springframework.expression.EvaluationContext;
import org.springframework.transaction.UnexpectedRollbackException;

/** Runs {@code @Idempotent} methods of beans once for each key, and returns what the first run returned. */
final class IdempotentMethods implements MethodInterceptor {
    private static final ParameterNameDiscoverer NAMES = new DefaultParameterNameDiscoverer();

    private final Onlyonce once;
    private final MethodPlans plans;
    private final String tenant;
    private final Ways ways;

    /** The ways to execute besides the leased one, and how listeners are called. */
    record Ways(
            ObjectProvider<TransactionalWay> transactional,
            SteppedWay stepped,
            ObjectProvider<ListenerCalls> listeners) {}

    IdempotentMethods(Onlyonce once, MethodPlans plans, String tenant, Ways ways) {
        this.once = once;
        this.plans = plans;
        this.tenant = tenant;
        this.ways = ways;
    }

    @Override
    public @Nullable Object invoke(MethodInvocation invocation) throws Throwable {
        Object target = invocation.getThis();
        Class<?> type = target == null ? invocation.getMethod().getDeclaringClass() : AopUtils.getTargetClass(target);
        Method method = AopUtils.getMostSpecificMethod(invocation.getMethod(), type);
        Plan plan = plans.of(type, method);
        if (plan.key().isEmpty()) {
            return ways.listeners
                    .getObject()
                    .call(plan.operation(), asked -> execute(plan, asked, invocation))
                    .orElse(null);
        }
        EvaluationContext context = new MethodBasedEvaluationContext(target, method, invocation.getArguments(), NAMES);
        KeyedCall asked = new KeyedCall(key(plan, context), fingerprint(plan, invocation));
        Outcome<Optional<Object>> outcome = execute(plan, asked, invocation);
        return value(plan, outcome).orElse(null);
    }

    private Fingerprint fingerprint(Plan plan, MethodInvocation invocation) {
        List<@Nullable Object> arguments = new ArrayList<>(Arrays.asList(invocation.getArguments()));
        if (plan.steps() >= 0) {
            arguments.remove(plan.steps());
        }
        return Fingerprint.ofJson(plans.json().write(arguments));
    }

    private Outcome<Optional<Object>> execute(Plan plan, KeyedCall asked, MethodInvocation invocation)
            throws Exception {
        return switch (plan.choice().way()) {
            case TRANSACTIONAL -> executeInTransaction(plan, asked, invocation);
            case STEPPED ->
                ways.stepped.execute(asked, plan.codec(), steps -> {
                    invocation.getArguments()[plan.steps()] = steps;
                    return proceed(invocation);
                });
            default -> LeasedInTransaction.execute(asked, () -> executeLeased(plan, asked, invocation));
        };
    }

    private Outcome<Optional<Object>> executeLeased(Plan plan, KeyedCall asked, MethodInvocation invocation)
            throws Exception {
        return once.registry()
                .execute(
                        asked.key(),
                        asked.fingerprint(),
                        plan.policy(),
                        plan.codec(),
                        claim -> proceed(plan, invocation));
    }

    private Outcome<Optional<Object>> executeInTransaction(Plan plan, KeyedCall asked, MethodInvocation invocation)
            throws Exception {
        try {
            return ways.transactional
                    .getObject()
                    .execute(
                            plan.choice().transaction().orElseThrow(),
                            plan.policy(),
                            asked,
                            plan.codec(),
                            () -> proceed(plan, invocation));
        } catch (EntryTransactions.RolledBack e) {
            throw new UnexpectedRollbackException(plan.operation() + " was rolled back, so nothing happened", e);
        }
    }

    /** A listener's method has a time limit. */
    private Optional<Object> proceed(Plan plan, MethodInvocation invocation) throws Exception {
        return plan.key().isEmpty()
                ? ways.listeners.getObject().inTime(plan.operation(), () -> proceed(invocation))
                : proceed(invocation);
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

    private static Optional<Object> value(Plan plan, Outcome<Optional<Object>> outcome) {
        if (outcome instanceof Outcome.Executed<Optional<Object>> executed) {
            return executed.value();
        }
        if (outcome instanceof Outcome.Replayed<Optional<Object>> replayed) {
            return replayed.value();
        }
        throw new OutcomeException(plan.operation() + " did not run: " + reason(outcome), outcome);
    }

    private static String reason(Outcome<?> outcome) {
        if (outcome instanceof Outcome.Mismatched<?> mismatched) {
            return mismatched.reason() == Outcome.Mismatched.Reason.OPERATION
                    ? "its key was used by another operation. Methods with @Idempotent(scope = Scope.OPERATION) have keys of their own"
                    : "its key was used with other arguments";
        }
        return outcome.getClass().getSimpleName();
    }

    private Key key(Plan plan, EvaluationContext context) {
        String value = plan.key().orElseThrow().getValue(context, String.class);
        if (value == null) {
            throw new MalformedKey(
                    MalformedKey.Reason.MISSING,
                    "the key of " + plan.operation() + " (" + plan.annotation().key() + ") is null");
        }
        String owner = plan.tenant().isEmpty() ? tenant : plan.tenant().get().getValue(context, String.class);
        if (owner == null) {
            // Never the tenant of everybody else.
            throw new IllegalArgumentException("the tenant of " + plan.operation() + " ("
                    + plan.annotation().tenant() + ") is null");
        }
        Key key = new Key(owner, plan.operation(), value, plan.annotation().scope());
        return FormerNames.stored(once, key, plan.formerly());
    }
}
