package dev.onlyonce.spring.web;

import jakarta.servlet.DispatcherType;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.http.converter.HttpMessageNotWritableException;
import org.springframework.validation.method.MethodValidationResult;
import org.springframework.web.context.request.async.AsyncRequestNotUsableException;

/**
 * Where Spring MVC was with a handler when an exception was made. Its stack trace tells:
 *
 * <ol>
 *   <li>The frames are read from the outermost one inwards. The first one that belongs to a phase decides.
 *   <li>Without such a frame (another thread, no stack trace, another version of Spring), within a second dispatch, and for any
 *       dispatch that is not the request's own, the handler is taken to have run: that is the doubtful case.
 * </ol>
 */
enum HandlerPhase {
    /** The handler was not called: its arguments, its model or an interceptor failed. */
    BEFORE,
    /** The handler may have run. */
    HANDLER,
    /** The handler has returned, and its result was refused. */
    AFTER;

    private static final String DISPATCH = "org.springframework.web.servlet.DispatcherServlet.doDispatch";

    private static final Map<String, HandlerPhase> FRAMES = Map.of(
            "org.springframework.web.servlet.DispatcherServlet.checkMultipart", BEFORE,
            "org.springframework.web.servlet.HandlerExecutionChain.applyPreHandle", BEFORE,
            "org.springframework.web.method.annotation.ModelFactory.initModel", BEFORE,
            "org.springframework.web.method.support.InvocableHandlerMethod.getMethodArgumentValues", BEFORE,
            "org.springframework.web.method.annotation.HandlerMethodValidator.applyArgumentValidation", BEFORE,
            "org.springframework.web.method.support.InvocableHandlerMethod.doInvoke", HANDLER,
            "org.springframework.web.method.annotation.HandlerMethodValidator.applyReturnValueValidation", AFTER,
            "org.springframework.web.method.support.HandlerMethodReturnValueHandlerComposite.handleReturnValue", AFTER,
            "org.springframework.web.servlet.HandlerExecutionChain.applyPostHandle", AFTER);

    static HandlerPhase of(HttpServletRequest request, Exception thrown) {
        if (thrown instanceof HttpMessageNotWritableException
                || thrown instanceof AsyncRequestNotUsableException
                || (thrown instanceof MethodValidationResult result && result.isForReturnValue())) {
            return AFTER;
        }
        // Spring wraps errors.
        Throwable made = thrown instanceof ServletException && thrown.getCause() != null ? thrown.getCause() : thrown;
        HandlerPhase phase = phase(made.getStackTrace());
        return phase == BEFORE && request.getDispatcherType() != DispatcherType.REQUEST ? HANDLER : phase;
    }

    private static HandlerPhase phase(StackTraceElement[] frames) {
        boolean dispatched = false;
        for (int i = frames.length - 1; i >= 0; i--) {
            String frame = frames[i].getClassName() + "." + frames[i].getMethodName();
            boolean again = dispatched && frame.equals(DISPATCH);
            dispatched |= frame.equals(DISPATCH);
            @Nullable HandlerPhase phase = again ? HANDLER : FRAMES.get(frame);
            if (phase != null) {
                return phase;
            }
        }
        return HANDLER;
    }
}
