package dev.onlyonce.jaxrs;

import static java.util.Objects.requireNonNull;

import jakarta.annotation.Priority;
import jakarta.ws.rs.container.ContainerRequestContext;
import jakarta.ws.rs.container.ContainerResponseContext;
import jakarta.ws.rs.container.ContainerResponseFilter;
import jakarta.ws.rs.core.Context;
import jakarta.ws.rs.ext.Providers;
import org.jspecify.annotations.Nullable;

/**
 * Moves an exception from the response to the request, before any other filter looks at the response. It also knows the writers of
 * entities: Jersey tells them to the providers of the whole application alone.
 */
@Priority(Integer.MAX_VALUE)
final class NotedExceptions implements ContainerResponseFilter {
    @Context
    private @Nullable Providers writers;

    Providers writers() {
        return requireNonNull(writers, "JAX-RS injects it before the first request");
    }

    @Override
    public void filter(ContainerRequestContext request, ContainerResponseContext response) {
        if (response.getEntity() instanceof Thrown thrown) {
            request.setProperty(Thrown.PROPERTY, thrown.cause());
            response.setEntity(null);
        }
    }
}
