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

    /** By method and path, without the context path. */
    static OperationResolver byPath(Boundary boundary) {
        return request -> boundary.operation(request.getMethod(), OnlyonceFilter.path(request));
    }
}
