package dev.onlyonce.servlet;

import jakarta.servlet.http.HttpServletRequest;
import java.security.Principal;
import org.jspecify.annotations.Nullable;

/** Who a request's key belongs to. Thread-safe. */
@FunctionalInterface
public interface TenantResolver {

    /**
     * The tenant, from what authentication established and never from the request's own content: whoever can choose it can
     * read everybody's answers. 1-255 characters without controls; null if nobody is authenticated.
     */
    @Nullable
    String tenant(HttpServletRequest request);

    /** The name of the authenticated principal. */
    static TenantResolver principal() {
        return request -> {
            Principal principal = request.getUserPrincipal();
            return principal == null ? null : principal.getName();
        };
    }
}
