package dev.onlyonce.jaxrs;

import dev.onlyonce.http.Boundary;
import dev.onlyonce.http.Exchange;
import dev.onlyonce.http.HttpAnswer;
import dev.onlyonce.http.Operation;
import jakarta.ws.rs.HttpMethod;
import jakarta.ws.rs.ServiceUnavailableException;
import jakarta.ws.rs.container.ContainerRequestContext;
import jakarta.ws.rs.container.ContainerRequestFilter;
import jakarta.ws.rs.container.ContainerResponseContext;
import jakarta.ws.rs.container.ContainerResponseFilter;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.Serial;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Protects one resource method.
 *
 * <ol>
 *   <li>Before the method, the key is claimed, or the request is answered.
 *   <li>After it, the entity is written into memory, and the entry is settled: by the status; by the exception if one was answered with
 *       a 5xx.
 *   <li>JAX-RS sends what the boundary says. Interceptors of the application, such as compression, work on that.
 * </ol>
 */
final class ProtectedMethod implements ContainerRequestFilter, ContainerResponseFilter {
    /** Inside authentication (1000) and authorization (2000), outside everything else. */
    static final int PRIORITY = 2500;

    private static final String EXCHANGE = ProtectedMethod.class.getName();
    private static final int SERVER_ERROR = 500;
    private static final byte[] NO_BODY = {};

    private final Boundary boundary;
    private final Operation operation;
    private final TenantOf tenants;
    private final NotedExceptions application;
    private final boolean suspends;

    /**
     * What all methods of the application share.
     *
     * @param boundary decides on requests
     * @param tenants who a key belongs to
     * @param providers what JAX-RS has told
     */
    record Shared(Boundary boundary, TenantOf tenants, NotedExceptions providers) {}

    /** With whether the method may answer later. */
    ProtectedMethod(Operation operation, boolean suspends, Shared shared) {
        this.operation = operation;
        this.suspends = suspends;
        this.boundary = shared.boundary();
        this.tenants = shared.tenants();
        this.application = shared.providers();
    }

    @Override
    public void filter(ContainerRequestContext request) throws IOException {
        if (!operation.concerns(Messages.headers(request.getHeaders()))) {
            return;
        }
        // Grizzly waits for the body of a request that offers to upgrade its connection, also if its length is said to
        // be 0.
        byte[] body =
                request.getLength() == 0 ? NO_BODY : request.getEntityStream().readNBytes(operation.bodyBytesMax() + 1);
        request.setEntityStream(new ByteArrayInputStream(body));
        Exchange exchange = Messages.under(boundary, request)
                .exchange(operation, Messages.request(request, body, tenants.tenant(request)))
                .begin();
        switch (exchange.stage()) {
            case UNPROTECTED -> {}
            case RUNNING -> request.setProperty(EXCHANGE, exchange);
            default -> request.abortWith(Messages.response(exchange.answer()));
        }
    }

    @Override
    public void filter(ContainerRequestContext request, ContainerResponseContext response) throws IOException {
        if (!(request.getProperty(EXCHANGE) instanceof Exchange exchange)) {
            return;
        }
        request.removeProperty(EXCHANGE);
        Throwable thrown = thrown(request, response);
        try (WrittenEntity body = new WrittenEntity(exchange.responseBytesMax())) {
            try {
                body.write(response, application.writers());
            } catch (IOException | RuntimeException | Error unwritable) {
                // The method has run.
                Sent.replace(response, exchange.failed(unwritable).answer());
                return;
            }
            settle(exchange, thrown, response, body);
        }
    }

    private void settle(
            Exchange exchange, @Nullable Throwable thrown, ContainerResponseContext response, WrittenEntity body)
            throws IOException {
        boolean late = suspends && thrown instanceof ServiceUnavailableException;
        Throwable deciding = late || thrown == null || exchange.isAnswerRecorded(thrown) ? null : thrown;
        if (deciding != null) {
            Exchange.Failed failed = exchange.failed(deciding);
            if (!failed.passes()) {
                Sent.replace(response, failed.answer());
            } else {
                body.sendWith(response);
            }
            return;
        }
        if (body.isLarge()) {
            Exchange.Large large = late
                    ? exchange.finishLargeLate(response.getStatus(), Sent.headers(response))
                    : exchange.finishLarge(response.getStatus(), Sent.headers(response));
            Sent.with(response, large.answer(), large.streams() ? body : null);
            return;
        }
        HttpAnswer own = new HttpAnswer(response.getStatus(), Sent.headers(response), body.bytes());
        HttpAnswer answer = late ? exchange.finishLate(own) : exchange.finish(own);
        Sent.with(response, answer, answer.body() == own.body() ? body : null);
    }

    /** The exception that decides what becomes of the entry; null if the status does. */
    private static @Nullable Throwable thrown(ContainerRequestContext request, ContainerResponseContext response) {
        if (response.getStatus() < SERVER_ERROR) {
            return null;
        }
        if (request.getProperty(Thrown.PROPERTY) instanceof Throwable known) {
            return known;
        }
        // What the method returned has the method's annotations; what a mapper made of an exception has none.
        boolean returned = response.getEntityAnnotations() != null
                && Arrays.stream(response.getEntityAnnotations())
                        .anyMatch(one -> one.annotationType().isAnnotationPresent(HttpMethod.class));
        return returned ? null : new Answered();
    }

    /** Stands for an exception that only a mapper of the application has seen. */
    static final class Answered extends RuntimeException {
        @Serial
        private static final long serialVersionUID = 1;

        Answered() {
            super("the resource method threw an exception, which a mapper answered", null, false, false);
        }
    }
}
