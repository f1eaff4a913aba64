package dev.onlyonce.spring;

import java.lang.reflect.Method;
import org.springframework.aop.support.StaticMethodMatcherPointcut;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.stereotype.Controller;

/** {@link Idempotent} methods of beans that are no controllers; those are the filter's. */
final class IdempotentPointcut extends StaticMethodMatcherPointcut {

    @Override
    public boolean matches(Method method, Class<?> targetClass) {
        Idempotent annotation = AnnotatedElementUtils.findMergedAnnotation(method, Idempotent.class);
        if (annotation == null || AnnotatedElementUtils.hasAnnotation(targetClass, Controller.class)) {
            return false;
        }
        if (annotation.key().isEmpty()) {
            throw new InvalidSettings(
                    targetClass.getSimpleName() + "." + method.getName() + " is @Idempotent but has no key",
                    "Say which argument tells repetitions from new calls: @Idempotent(key = \"#order.id\").",
                    null);
        }
        return true;
    }
}
