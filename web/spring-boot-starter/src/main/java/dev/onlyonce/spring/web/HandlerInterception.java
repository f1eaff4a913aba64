package dev.onlyonce.spring.web;

import dev.onlyonce.spring.transactions.EntryTransactions;
import jakarta.servlet.RequestDispatcher;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.web.HttpMediaTypeNotSupportedException;
import org.springframework.web.method.HandlerMethod;
import org.springframework.web.servlet.DispatcherServlet;
import org.springframework.web.servlet.HandlerInterceptor;
import org.springframework.web.servlet.ModelAndView;

/**
 * Refuses requests for protected handlers that the filter has not seen as such. At the end of a handler it does what the handler's
 * own {@code @Transactional} would do if its transaction did not go on until the response is recorded: a JPA provider sends what
 * it has put off, so that exception handlers see what the database refuses; and an exception undoes the writes, whoever answers
 * it.
 */
final class HandlerInterception implements HandlerInterceptor {
    private final ObjectProvider<EntryTransactions> transactions;
    private final ObjectProvider<OnlyonceWeb> web;

    HandlerInterception(ObjectProvider<EntryTransactions> transactions, ObjectProvider<OnlyonceWeb> web) {
        this.transactions = transactions;
        this.web = web;
    }

    @Override
    public boolean preHandle(HttpServletRequest request, HttpServletResponse response, Object handler)
            throws HttpMediaTypeNotSupportedException {
        OnlyonceWeb protection = web.getIfAvailable();
        if (protection != null && handler instanceof HandlerMethod method) {
            protection.operations().checkReadable(request, method);
            protection.operations().checkSeen(request, method);
        }
        return true;
    }

    @Override
    public void postHandle(
            HttpServletRequest request,
            HttpServletResponse response,
            Object handler,
            @Nullable ModelAndView modelAndView) {
        EntryTransactions current = transactions.getIfAvailable();
        if (current == null) {
            return;
        }
        try {
            current.flush();
        } catch (RuntimeException | Error refused) {
            // The handler has answered already; its exception handler is to answer instead.
            response.reset();
            throw refused;
        }
    }

    @Override
    public void afterCompletion(
            HttpServletRequest request, HttpServletResponse response, Object handler, @Nullable Exception thrown) {
        EntryTransactions current = transactions.getIfAvailable();
        // Spring leaves the exception there that an exception handler or an error view has answered.
        if (current != null
                && (request.getAttribute(DispatcherServlet.EXCEPTION_ATTRIBUTE) != null
                        || request.getAttribute(RequestDispatcher.ERROR_EXCEPTION) != null)) {
            current.undo();
        }
    }
}
