package dev.onlyonce.spring.web;

import dev.onlyonce.NotExecuted;
import dev.onlyonce.servlet.OnlyonceFilter;
import dev.onlyonce.spring.outbox.QueuedWay;
import dev.onlyonce.spring.transactions.EntryTransactions;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.web.ErrorResponse;
import org.springframework.web.servlet.HandlerExceptionResolver;
import org.springframework.web.servlet.ModelAndView;
import org.springframework.web.servlet.mvc.support.DefaultHandlerExceptionResolver;

/**
 * Notes every exception that Spring MVC is about to answer, and answers none, so that the filter can tell the word of the
 * application from what merely happened to it:
 *
 * <ol>
 *   <li>The handler was not called yet ({@link HandlerPhase}): proof that nothing happened.
 *   <li>The handler threw: doubt if it is answered with a 5xx, by whatever code. A lower status is the application's answer.
 *   <li>The handler returned, and its result could not be written or was not valid: doubt, whatever is answered.
 *   <li>Nobody in the application answers it: doubt. Spring takes what looks like a client that hung up ({@code EOFException},
 *       "broken pipe") for that, and answers 200 with nothing, also if it was a provider that hung up.
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
        if (request.getAttribute(OnlyonceFilter.THROWN) == null) {
            note(request, thrown);
        }
        // Whatever the handler has returned, its request is refused.
        request.removeAttribute(QueuedWay.QUEUED);
        return null;
    }

    /** The first exception decides: a later one comes from code that answers it. */
    private static void note(HttpServletRequest request, Exception thrown) {
        HandlerPhase phase = HandlerPhase.of(request, thrown);
        request.setAttribute(
                OnlyonceFilter.THROWN,
                phase == HandlerPhase.BEFORE ? new NotExecuted("the handler was not called", thrown) : thrown);
        if (phase == HandlerPhase.AFTER) {
            request.setAttribute(OnlyonceFilter.RETURNED, true);
        }
    }

    private static @Nullable ModelAndView unanswered(
            HttpServletRequest request, HttpServletResponse response, @Nullable Object handler, Exception thrown) {
        // An ErrorResponse says its status itself.
        if (!(thrown instanceof ErrorResponse) && request.getAttribute(HandlerOperations.SEEN) != null) {
            log.debug("Nobody in the application answers this exception of {}", handler, thrown);
            request.setAttribute(OnlyonceFilter.UNANSWERED, true);
        }
        return null;
    }
}
