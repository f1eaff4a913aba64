package dev.onlyonce.servlet;

import dev.onlyonce.http.Boundary;
import dev.onlyonce.http.Operation;
import jakarta.servlet.http.HttpServletRequest;
import java.util.Optional;

/** Which operation a request asks for. Thread-safe. */
@FunctionalInterface
public interface OperationResolver {

    /** The operation; empty if the request is not protected. */
    Optional<Operation> operation(HttpServletRequest request);

    /** By method and path, without the context path; in any spelling that some part of the application may understand. */
    static OperationResolver byPath(Boundary boundary) {
        // Not the request's context path: that is as the client spelled it, and Tomcat throws where it cannot tell.
        return request -> boundary.operation(
                request.getMethod(),
                request.getServletContext().getContextPath(),
                request.getRequestURI(),
                OnlyonceFilter.path(request));
    }
}
