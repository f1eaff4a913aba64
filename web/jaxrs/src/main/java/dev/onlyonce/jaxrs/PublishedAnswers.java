package dev.onlyonce.jaxrs;

import dev.onlyonce.http.Boundary;
import dev.onlyonce.http.HttpAnswer;
import dev.onlyonce.http.HttpRequest;
import jakarta.annotation.Priority;
import jakarta.ws.rs.container.ContainerRequestContext;
import jakarta.ws.rs.container.ContainerRequestFilter;
import jakarta.ws.rs.container.PreMatching;
import java.util.function.Supplier;

/** Answers requests for the specification and for the status of a key. */
@PreMatching
@Priority(ProtectedMethod.PRIORITY)
final class PublishedAnswers implements ContainerRequestFilter {
    private static final byte[] NO_BODY = {};

    private final Supplier<Boundary> boundaries;
    private final TenantOf tenants;

    PublishedAnswers(Supplier<Boundary> boundaries, TenantOf tenants) {
        this.boundaries = boundaries;
        this.tenants = tenants;
    }

    @Override
    public void filter(ContainerRequestContext request) {
        if (!request.getMethod().equals("GET") && !request.getMethod().equals("HEAD")) {
            return;
        }
        String path = "/" + request.getUriInfo().getPath().replaceFirst("^/", "");
        if (path.equals(Boundary.SPECIFICATION_PATH)) {
            answer(request, Messages.under(published(), request).specification());
        } else if (path.startsWith("/.well-known/") && path.equals(published().statusPath())) {
            HttpRequest asked = Messages.request(request, NO_BODY, tenants.tenant(request));
            answer(request, Messages.under(published(), request).status(asked));
        }
    }

    private static void answer(ContainerRequestContext request, HttpAnswer answer) {
        request.abortWith(Messages.response(
                request.getMethod().equals("HEAD")
                        ? HttpAnswer.of(answer.status(), answer.headers())
                                .header("Content-Length", String.valueOf(answer.body().length))
                        : answer));
    }

    private Boundary published() {
        return boundaries.get();
    }
}
