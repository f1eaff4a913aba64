package dev.onlyonce.jaxrs;

import jakarta.ws.rs.container.ContainerRequestContext;
import java.security.Principal;
import org.jspecify.annotations.Nullable;

/** Who a request's key belongs to. Thread-safe. */
@FunctionalInterface
public interface TenantOf {

    /**
     * The tenant, from what authentication established and never from the request's own content: whoever can choose it can
     * read everybody's answers. 1-255 characters without controls; null if nobody is authenticated.
     */
    @Nullable
    String tenant(ContainerRequestContext request);

    /** The name of the authenticated principal. */
    static TenantOf principal() {
        return request -> {
            Principal principal = request.getSecurityContext() == null
                    ? null
                    : request.getSecurityContext().getUserPrincipal();
            return principal == null ? null : principal.getName();
        };
    }
}
