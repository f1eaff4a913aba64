package dev.onlyonce.spring.methods;

import dev.onlyonce.Codec;
import dev.onlyonce.Policy;
import dev.onlyonce.Scope;
import dev.onlyonce.Way;
import dev.onlyonce.spring.Idempotent;
import dev.onlyonce.spring.operations.ChosenWay;
import dev.onlyonce.spring.operations.IdempotentPointcut;
import dev.onlyonce.spring.operations.InvalidSettings;
import dev.onlyonce.spring.operations.JsonMapping;
import dev.onlyonce.spring.operations.ListenerMethods;
import dev.onlyonce.spring.operations.OperationFactory;
import dev.onlyonce.spring.transactions.KnownOperations;
import dev.onlyonce.sql.steps.StepRunner;
import java.lang.reflect.Method;
import java.lang.reflect.Type;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import org.springframework.core.GenericTypeResolver;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.expression.Expression;

/** How {@link Idempotent} methods of beans are executed; worked out once for each. */
final class MethodPlans {
    private final OperationFactory factory;
    private final KnownOperations known;
    private final JsonMapping json;
    private final Map<Target, Plan> plans = new ConcurrentHashMap<>();

    /** A method, which several beans may have inherited. */
    private record Target(Class<?> type, Method method) {}

    /**
     * How a method is executed.
     *
     * @param formerly names that the operation had
     * @param key empty for a listener, whose key is its message's id
     * @param steps where among the parameters a stepped method takes its {@link StepRunner}; -1 for others
     */
    record Plan(
            String operation,
            List<String> formerly,
            Idempotent annotation,
            Policy policy,
            Optional<Expression> key,
            Optional<Expression> tenant,
            Codec<Optional<Object>> codec,
            ChosenWay choice,
            int steps) {}

    MethodPlans(OperationFactory factory, KnownOperations known, JsonMapping json) {
        this.factory = factory;
        this.known = known;
        this.json = json;
    }

    JsonMapping json() {
        return json;
    }

    Plan of(Class<?> type, Method method) {
        return plans.computeIfAbsent(new Target(type, method), this::plan);
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
        boolean listener = ListenerMethods.takesIdOfMessage(annotation, method);
        Policy policy = factory.policy(annotation, name, listener);
        ChosenWay choice = known.choose(annotation, method, type, name);
        known.declare(name, policy, choice.way());
        List<String> formerly = factory.formerly(name);
        if (!formerly.isEmpty() && (listener || annotation.scope() == Scope.OPERATION)) {
            throw new InvalidSettings(
                    name
                            + " has former names, but its keys are unique in their operation: under another name they"
                            + " are other keys",
                    "Remove onlyonce.operations.[" + name + "].formerly, or keep the old name.",
                    null);
        }
        known.declareFormer(formerly, policy, choice.way());
        return new Plan(
                name,
                formerly,
                annotation,
                policy,
                listener ? Optional.empty() : Optional.of(IdempotentPointcut.parse(name, annotation.key())),
                annotation.tenant().isEmpty()
                        ? Optional.empty()
                        : Optional.of(IdempotentPointcut.parse(name, annotation.tenant())),
                codec,
                choice,
                stepsParameter(method));
    }

    private static int stepsParameter(Method method) {
        return Arrays.asList(method.getParameterTypes()).indexOf(StepRunner.class);
    }

    /** Refuses a method whose signature does not fit its way. */
    static void check(Class<?> type, Method method, Way way) {
        String name = type.getSimpleName() + "." + method.getName();
        if (way == Way.QUEUED) {
            throw new InvalidSettings(
                    name + " is queued, but it is no handler of requests",
                    "Use Outbox.accept in it, or another way.",
                    null);
        }
        if (way == Way.STEPPED && stepsParameter(method) < 0) {
            throw new InvalidSettings(
                    name + " runs in steps, but it has no parameter of type StepRunner to run them with",
                    "Add a parameter of type dev.onlyonce.sql.steps.StepRunner, for which callers pass null.",
                    null);
        }
    }
}
