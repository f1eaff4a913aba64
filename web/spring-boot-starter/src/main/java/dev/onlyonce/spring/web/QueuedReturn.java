package dev.onlyonce.spring.web;

import dev.onlyonce.spring.Queued;
import dev.onlyonce.spring.outbox.QueuedWay;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.springframework.core.MethodParameter;
import org.springframework.http.HttpHeaders;
import org.springframework.web.context.request.NativeWebRequest;
import org.springframework.web.method.support.HandlerMethodReturnValueHandler;
import org.springframework.web.method.support.ModelAndViewContainer;

/** Hands the {@link Queued} that a handler returns over to {@link QueuedWay}; it is no response. */
final class QueuedReturn implements HandlerMethodReturnValueHandler {

    @Override
    public boolean supportsReturnType(MethodParameter returnType) {
        return returnType.getParameterType() == Queued.class;
    }

    @Override
    public void handleReturnValue(
            @Nullable Object value, MethodParameter type, ModelAndViewContainer container, NativeWebRequest web) {
        if (!(value instanceof Queued queued)) {
            throw new IllegalStateException(
                    type.getExecutable() + " returned null: throw an exception to refuse a request");
        }
        container.setRequestHandled(true);
        HttpServletRequest request = Objects.requireNonNull(web.getNativeRequest(HttpServletRequest.class));
        request.setAttribute(QueuedWay.QUEUED, queued);
        HttpServletResponse response = web.getNativeResponse(HttpServletResponse.class);
        if (response != null) {
            response.setStatus(HttpServletResponse.SC_ACCEPTED);
            if (queued.location() != null) {
                response.setHeader(HttpHeaders.LOCATION, queued.location());
            }
        }
    }
}
