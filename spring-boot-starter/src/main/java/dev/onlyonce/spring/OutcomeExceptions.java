package dev.onlyonce.spring;

import dev.onlyonce.OutcomeException;
import dev.onlyonce.http.Answers;
import dev.onlyonce.http.Headers;
import dev.onlyonce.http.HttpAnswer;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.io.UncheckedIOException;
import org.jspecify.annotations.Nullable;
import org.springframework.context.ApplicationContext;
import org.springframework.util.function.SingletonSupplier;
import org.springframework.web.method.ControllerAdviceBean;
import org.springframework.web.method.HandlerMethod;
import org.springframework.web.method.annotation.ExceptionHandlerMethodResolver;
import org.springframework.web.servlet.HandlerExceptionResolver;
import org.springframework.web.servlet.ModelAndView;

/**
 * Answers an {@link OutcomeException} that leaves a handler of Spring MVC: an {@link Idempotent} method of a bean has no value to
 * return. The client gets the problem that a protected handler would have answered, with its {@code Retry-After}.
 *
 * <ol>
 *   <li>An exception handler for exactly this exception goes first. One for all exceptions does not: it would answer 500.
 *   <li>Within a protected handler it answers nothing. The exception says nothing about the effects of that handler, and an
 *       answer below 500 would be recorded as the final one.
 * </ol>
 */
final class OutcomeExceptions implements HandlerExceptionResolver {
    private final SingletonSupplier<Boolean> advised;

    OutcomeExceptions(ApplicationContext beans) {
        advised = SingletonSupplier.of(() -> ControllerAdviceBean.findAnnotatedBeans(beans).stream()
                .anyMatch(advice -> advice.getBeanType() != null && handles(advice.getBeanType())));
    }

    /** What the client gets. */
    static HttpAnswer answer(OutcomeException thrown) {
        return Answers.refusal("the operation", thrown.outcome());
    }

    @Override
    public @Nullable ModelAndView resolveException(
            HttpServletRequest request, HttpServletResponse response, @Nullable Object handler, Exception thrown) {
        if (!(thrown instanceof OutcomeException outcome)
                || response.isCommitted()
                || request.getAttribute(HandlerOperations.SEEN) != null
                || advised.obtain()
                || (handler instanceof HandlerMethod method && handles(method.getBeanType()))) {
            return null;
        }
        HttpAnswer answer = answer(outcome);
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

    /** Whether a class has an exception handler for this exception that does not handle every other one too. */
    private static boolean handles(Class<?> type) {
        ExceptionHandlerMethodResolver handlers = new ExceptionHandlerMethodResolver(type);
        var own = handlers.resolveMethodByExceptionType(OutcomeException.class);
        return own != null && !own.equals(handlers.resolveMethodByExceptionType(RuntimeException.class));
    }
}
