package dev.onlyonce.spring;

import dev.onlyonce.servlet.OnlyonceFilter;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.http.converter.HttpMessageNotWritableException;
import org.springframework.validation.method.MethodValidationResult;
import org.springframework.web.ErrorResponse;
import org.springframework.web.context.request.async.AsyncRequestNotUsableException;
import org.springframework.web.servlet.HandlerExceptionResolver;
import org.springframework.web.servlet.ModelAndView;
import org.springframework.web.servlet.mvc.support.DefaultHandlerExceptionResolver;

/**
 * Notes exceptions that Spring MVC answers by itself, and answers none. They are nobody's word about the effect:
 *
 * <ol>
 *   <li>The handler returned, and its result could not be written or was not valid: 500, whatever code answers it.
 *   <li>Nobody in the application answers it. Spring takes what looks like a client that hung up ({@code EOFException}, "broken
 *       pipe") for that, and answers 200 with nothing, also if it was a provider that hung up.
 * </ol>
 */
final class HandlerExceptions {
    private static final Logger log = LoggerFactory.getLogger(HandlerExceptions.class);

    /** Request attribute: the last exception that left the handler, whatever code answers it. */
    private static final String THROWN = HandlerExceptions.class.getName();

    private HandlerExceptions() {}

    /** The last exception that left the handler of this request. */
    static @Nullable Exception thrown(HttpServletRequest request) {
        return request.getAttribute(THROWN) instanceof Exception thrown ? thrown : null;
    }

    /** Stands before all others, and before what Spring answers by itself. */
    static void addTo(List<HandlerExceptionResolver> resolvers, ObjectProvider<EntryTransactions> transactions) {
        int defaults = 0;
        while (defaults < resolvers.size() && !(resolvers.get(defaults) instanceof DefaultHandlerExceptionResolver)) {
            defaults++;
        }
        resolvers.add(defaults, HandlerExceptions::unanswered);
        resolvers.add(0, (request, response, handler, thrown) -> first(request, thrown, transactions));
    }

    private static @Nullable ModelAndView first(
            HttpServletRequest request, Exception thrown, ObjectProvider<EntryTransactions> transactions) {
        EntryTransactions current = transactions.getIfAvailable();
        if (current != null) {
            current.undo();
        }
        request.setAttribute(THROWN, thrown);
        // Whatever the handler has returned, its request is refused.
        request.removeAttribute(QueuedWay.QUEUED);
        if (thrown instanceof HttpMessageNotWritableException
                || thrown instanceof AsyncRequestNotUsableException
                || isOfResult(thrown)) {
            request.setAttribute(OnlyonceFilter.THROWN, thrown);
        }
        return null;
    }

    private static boolean isOfResult(Exception thrown) {
        return thrown instanceof MethodValidationResult result && result.isForReturnValue();
    }

    private static @Nullable ModelAndView unanswered(
            HttpServletRequest request, HttpServletResponse response, @Nullable Object handler, Exception thrown) {
        // An ErrorResponse says its status itself.
        if (!(thrown instanceof ErrorResponse) && request.getAttribute(HandlerOperations.SEEN) != null) {
            log.debug("Nobody in the application answers this exception of {}", handler, thrown);
            request.setAttribute(OnlyonceFilter.THROWN, thrown);
        }
        return null;
    }
}
