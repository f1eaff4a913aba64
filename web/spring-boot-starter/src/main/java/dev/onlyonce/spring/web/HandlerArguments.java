package dev.onlyonce.spring.web;

import dev.onlyonce.Key;
import dev.onlyonce.sql.steps.StepRunner;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.springframework.core.MethodParameter;
import org.springframework.web.bind.support.WebDataBinderFactory;
import org.springframework.web.context.request.NativeWebRequest;
import org.springframework.web.context.request.RequestAttributes;
import org.springframework.web.method.support.HandlerMethodArgumentResolver;
import org.springframework.web.method.support.ModelAndViewContainer;

/** Gives a handler that is not leased its {@link Key}, and a stepped one its {@link StepRunner}. */
final class HandlerArguments implements HandlerMethodArgumentResolver {
    /** Request attribute: the key of the handler that runs. */
    static final String KEY = Key.class.getName();
    /** Request attribute: the steps of the handler that runs. */
    static final String STEPS = StepRunner.class.getName();

    @Override
    public boolean supportsParameter(MethodParameter parameter) {
        return parameter.getParameterType() == StepRunner.class || parameter.getParameterType() == Key.class;
    }

    @Override
    public Object resolveArgument(
            MethodParameter parameter,
            @Nullable ModelAndViewContainer container,
            NativeWebRequest request,
            @Nullable WebDataBinderFactory binders) {
        String attribute = parameter.getParameterType().getName();
        return Objects.requireNonNull(
                request.getAttribute(attribute, RequestAttributes.SCOPE_REQUEST),
                "the handler is leased, or it is not @Idempotent, so it has no " + attribute);
    }
}
