package dev.onlyonce.spring.operations;

import dev.onlyonce.spring.Idempotent;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Future;
import org.springframework.aop.support.StaticMethodMatcherPointcut;
import org.springframework.core.MethodIntrospector;
import org.springframework.core.ReactiveAdapterRegistry;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.expression.Expression;
import org.springframework.expression.ParseException;
import org.springframework.expression.spel.standard.SpelExpressionParser;
import org.springframework.stereotype.Controller;
import org.springframework.util.ClassUtils;

/**
 * {@link Idempotent} methods of beans that are no controllers; those are the filter's. Refuses what would look protected and
 * not be.
 */
public final class IdempotentPointcut extends StaticMethodMatcherPointcut {
    private static final SpelExpressionParser PARSER = new SpelExpressionParser();

    private final Set<Class<?>> checked = ConcurrentHashMap.newKeySet();
    private final Map<String, String> methods = new ConcurrentHashMap<>();

    @Override
    public boolean matches(Method method, Class<?> targetClass) {
        if (AnnotatedElementUtils.hasAnnotation(targetClass, Controller.class)) {
            return false;
        }
        Idempotent annotation = AnnotatedElementUtils.findMergedAnnotation(method, Idempotent.class);
        if (annotation == null) {
            if (AnnotatedElementUtils.hasAnnotation(targetClass, Idempotent.class)) {
                throw new InvalidSettings(
                        targetClass.getSimpleName() + " is @Idempotent as a class, but it is no controller",
                        "Put @Idempotent with a key on each of its methods that must run once.",
                        null);
            }
            return false;
        }
        check(ClassUtils.getUserClass(targetClass));
        return true;
    }

    /** All methods of the class; a caller may stop at the first one that matches. */
    private void check(Class<?> type) {
        if (checked.add(type)) {
            annotated(type).forEach((method, annotation) -> {
                checkMethod(type, method, annotation);
                checkName(type, method, annotation);
            });
        }
    }

    /** The annotated methods of a class, its own and inherited ones. */
    public static Map<Method, Idempotent> annotated(Class<?> type) {
        return MethodIntrospector.selectMethods(type, (MethodIntrospector.MetadataLookup<Idempotent>)
                method -> AnnotatedElementUtils.findMergedAnnotation(method, Idempotent.class));
    }

    private static void checkMethod(Class<?> type, Method method, Idempotent annotation) {
        String name = type.getSimpleName() + "." + method.getName();
        ListenerMethods.checkAcknowledging(type, method);
        if (ListenerMethods.takesIdOfMessage(annotation, method)) {
            ListenerMethods.check(type, method, annotation);
        } else if (annotation.key().isEmpty()) {
            throw new InvalidSettings(
                    name + " is @Idempotent but has no key",
                    "Say which argument tells repetitions from new calls: @Idempotent(key = \"#order.id\").",
                    null);
        } else {
            parse(name, annotation.key());
        }
        if (!annotation.tenant().isEmpty()) {
            parse(name, annotation.tenant());
        }
        int modifiers = method.getModifiers();
        if (Modifier.isPrivate(modifiers) || Modifier.isFinal(modifiers) || Modifier.isStatic(modifiers)) {
            throw new InvalidSettings(
                    name + " is @Idempotent, but no proxy can stand before a private, final or static method",
                    "Make it an ordinary method, and call it from another bean.",
                    null);
        }
        if (isAsynchronous(method.getReturnType())) {
            throw new InvalidSettings(
                    name + " is @Idempotent, but it returns before it has a result that could be recorded",
                    "Return the value itself.",
                    null);
        }
    }

    /** An expression of the annotation of a method; throws {@link InvalidSettings}. */
    public static Expression parse(String method, String expression) {
        try {
            return PARSER.parseExpression(expression);
        } catch (ParseException e) {
            throw new InvalidSettings(
                    method + " is @Idempotent, but \"" + expression + "\" is no expression: " + e.getSimpleMessage(),
                    "Write it in Spring's expression language over the method's parameters, such as \"#order.id\".",
                    e);
        }
    }

    private void checkName(Class<?> type, Method method, Idempotent annotation) {
        String operation = operation(annotation, type, method);
        String name = type.getName() + "." + method.getName();
        String other = methods.putIfAbsent(operation, name);
        if (other != null) {
            throw new InvalidSettings(
                    other + " and " + name + " are both the operation \"" + operation
                            + "\", so one would return what the other has recorded",
                    "Give one of them another name: @Idempotent(operation = \"...\").",
                    null);
        }
    }

    /** The name of a method's operation. */
    public static String operation(Idempotent annotation, Class<?> type, Method method) {
        return annotation.operation().isEmpty()
                ? type.getSimpleName() + "." + method.getName()
                : annotation.operation();
    }

    private static boolean isAsynchronous(Class<?> type) {
        return Future.class.isAssignableFrom(type)
                || ReactiveAdapterRegistry.getSharedInstance().getAdapter(type) != null;
    }
}
