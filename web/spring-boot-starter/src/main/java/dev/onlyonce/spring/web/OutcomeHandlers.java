package dev.onlyonce.spring.web;

import dev.onlyonce.OutcomeException;
import dev.onlyonce.http.Answers;
import dev.onlyonce.http.HttpAnswer;
import org.springframework.web.method.annotation.ExceptionHandlerMethodResolver;

/** What Spring MVC and WebFlux share about an {@link OutcomeException}. Needs neither of them: applications have one. */
public final class OutcomeHandlers {
    private OutcomeHandlers() {}

    /** What the client gets. */
    public static HttpAnswer answer(OutcomeException thrown) {
        return Answers.refusal("the operation", thrown.outcome());
    }

    /** Whether a class has an exception handler for this exception that does not handle every other one too. */
    public static boolean isIn(Class<?> type) {
        ExceptionHandlerMethodResolver handlers = new ExceptionHandlerMethodResolver(type);
        var own = handlers.resolveMethodByExceptionType(OutcomeException.class);
        return own != null && !own.equals(handlers.resolveMethodByExceptionType(RuntimeException.class));
    }
}
