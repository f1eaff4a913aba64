package dev.onlyonce.spring.methods;

import dev.onlyonce.spring.operations.IdempotentPointcut;
import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.springframework.aot.hint.BindingReflectionHintsRegistrar;
import org.springframework.aot.hint.ExecutableMode;
import org.springframework.aot.hint.ReflectionHints;
import org.springframework.beans.factory.aot.BeanRegistrationAotContribution;
import org.springframework.beans.factory.aot.BeanRegistrationAotProcessor;
import org.springframework.beans.factory.support.RegisteredBean;
import org.springframework.util.ClassUtils;

/**
 * For native images: {@code @Idempotent} methods of beans are called by reflection, their arguments are compared as JSON, and what they
 * return is recorded as JSON.
 */
final class MethodHints implements BeanRegistrationAotProcessor {
    private static final BindingReflectionHintsRegistrar BINDING = new BindingReflectionHintsRegistrar();

    @Override
    public @Nullable BeanRegistrationAotContribution processAheadOfTime(RegisteredBean bean) {
        Set<Method> methods = IdempotentPointcut.annotated(ClassUtils.getUserClass(bean.getBeanClass()))
                .keySet();
        if (methods.isEmpty()) {
            return null;
        }
        return (generation, code) -> methods.forEach(
                method -> register(method, generation.getRuntimeHints().reflection()));
    }

    private static void register(Method method, ReflectionHints hints) {
        hints.registerMethod(method, ExecutableMode.INVOKE);
        BINDING.registerReflectionHints(hints, method.getGenericReturnType());
        Arrays.stream(method.getGenericParameterTypes()).forEach(type -> BINDING.registerReflectionHints(hints, type));
    }
}
