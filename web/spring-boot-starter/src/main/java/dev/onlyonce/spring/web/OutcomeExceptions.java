package dev.onlyonce.spring.web;

import dev.onlyonce.OutcomeException;
import dev.onlyonce.http.Headers;
import dev.onlyonce.http.HttpAnswer;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.context.ApplicationContext;
import org.springframework.util.function.SingletonSupplier;
import org.springframework.web.method.ControllerAdviceBean;
import org.springframework.web.method.HandlerMethod;
import org.springframework.web.servlet.HandlerExceptionResolver;
import org.springframework.web.servlet.ModelAndView;

/**
 * Answers an {@code OutcomeException} that leaves a handler of Spring MVC: an {@code @Idempotent} method of a bean has no value to
 * return. The client gets the problem that a protected handler would have answered, with its {@code Retry-After}.
 *
 * <ol>
 *   <li>An exception handler for exactly this exception goes first. One for all exceptions does not: it would answer 500.
 *   <li>Within a protected handler it answers nothing. The exception says nothing about the effects of that handler, and an
 *       answer below 500 would be recorded as the final one.
 * </ol>
 */
final class OutcomeExceptions implements HandlerExceptionResolver {
    private final SingletonSupplier<List<ControllerAdviceBean>> advices;

    OutcomeExceptions(ApplicationContext beans) {
        advices = SingletonSupplier.of(() -> ControllerAdviceBean.findAnnotatedBeans(beans).stream()
                .filter(advice -> advice.getBeanType() != null && OutcomeHandlers.isIn(advice.getBeanType()))
                .toList());
    }

    @Override
    public @Nullable ModelAndView resolveException(
            HttpServletRequest request, HttpServletResponse response, @Nullable Object handler, Exception thrown) {
        if (!(thrown instanceof OutcomeException outcome)
                || response.isCommitted()
                || request.getAttribute(HandlerOperations.SEEN) != null
                || isAnsweredElsewhere(handler instanceof HandlerMethod method ? method.getBeanType() : null)) {
            return null;
        }
        HttpAnswer answer = OutcomeHandlers.answer(outcome);
        // Not the headers: filters outside have set those for CORS and security.
        response.resetBuffer();
        response.setStatus(answer.status());
        for (Headers.Field field : answer.headers().fields()) {
            response.setHeader(field.name(), field.value());
        }
        try {
            response.getOutputStream().write(answer.body());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return new ModelAndView();
    }

    /** Whether the application has an exception handler for this exception that is meant for this controller too. */
    private boolean isAnsweredElsewhere(@Nullable Class<?> controller) {
        return (controller != null && OutcomeHandlers.isIn(controller))
                || advices.obtain().stream().anyMatch(advice -> advice.isApplicableToBeanType(controller));
    }
}
