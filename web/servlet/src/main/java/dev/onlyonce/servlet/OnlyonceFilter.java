package dev.onlyonce.servlet;

import static java.util.Objects.requireNonNull;

import dev.onlyonce.http.Boundary;
import dev.onlyonce.http.Exchange;
import dev.onlyonce.http.Headers;
import dev.onlyonce.http.HttpAnswer;
import dev.onlyonce.http.HttpRequest;
import dev.onlyonce.http.Operation;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpFilter;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.io.Serial;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Protects operations in a servlet container. Map it to all paths, for the dispatcher types REQUEST and ASYNC, with
 * asynchronous requests supported, inside whatever authenticates: the tenant must be known, and what a filter outside
 * writes is not recorded.
 *
 * <p>A protected request's body and response are held in memory within the operation's bounds. Nothing reaches the client
 * before the entry is durable. It also answers {@code GET} and {@code HEAD} on {@link Boundary#SPECIFICATION_PATH} and on the
 * boundary's status path.
 */
public final class OnlyonceFilter extends HttpFilter {
    /**
     * Request attribute: the exception that left the handler, whatever code answers it. Code that catches exceptions between
     * this filter and the handler sets it before its dispatch returns. A 5xx then settles the entry as an exception that leaves
     * the filter does; a lower status stays the application's answer.
     */
    public static final String THROWN = OnlyonceFilter.class.getName() + ".thrown";

    /**
     * Request attribute: set beside {@link #THROWN} if a framework answers the exception by itself. What looks like a success is
     * none then.
     */
    public static final String UNANSWERED = OnlyonceFilter.class.getName() + ".unanswered";

    /**
     * Request attribute: set beside {@link #THROWN} if the handler had returned, and only its result could not be sent. No
     * answer to that says anything about the effect, a refusal neither.
     */
    public static final String RETURNED = OnlyonceFilter.class.getName() + ".returned";

    @Serial
    private static final long serialVersionUID = 1;

    private final transient Boundary boundary;
    private final transient OperationResolver operations;
    private final transient TenantResolver tenants;
    private final transient ProtectedCall.ErrorPage errorPage;
    private final transient @Nullable Execution execution;
    private final String servletPath;

    private OnlyonceFilter(Builder builder) {
        boundary = builder.boundary;
        operations = builder.operations;
        tenants = builder.tenants;
        errorPage = new ForwardedErrorPage(builder.errorPath);
        execution = builder.execution;
        servletPath = builder.servletPath;
    }

    /** Starts with operations found by path, the principal as the tenant, and no error path. */
    public static Builder builder(Boundary boundary) {
        return new Builder(boundary);
    }

    @Override
    protected void doFilter(HttpServletRequest request, HttpServletResponse response, FilterChain chain)
            throws IOException, ServletException {
        if (request.getDispatcherType() != DispatcherType.REQUEST) {
            if (request.getDispatcherType() == DispatcherType.ASYNC
                    && request.getAttribute(ProtectedCall.ATTRIBUTE) instanceof ProtectedCall call) {
                call.again(chain, request, response);
            } else {
                chain.doFilter(request, response);
            }
            return;
        }
        // The container leaves the body out of what answers HEAD.
        if (request.getMethod().equals("GET") || request.getMethod().equals("HEAD")) {
            Optional<HttpAnswer> published = published(request);
            if (published.isPresent()) {
                send(response, published.get());
                return;
            }
        }
        Optional<Operation> operation = operations.operation(request);
        Headers headers = operation.isPresent() ? headers(request) : Headers.none();
        if (operation.isEmpty() || !operation.get().concerns(headers)) {
            chain.doFilter(request, response);
            return;
        }
        decide(operation.get(), headers, request, response, chain);
    }

    private void decide(
            Operation operation,
            Headers headers,
            HttpServletRequest request,
            HttpServletResponse response,
            FilterChain chain)
            throws IOException, ServletException {
        Boundary boundary = boundary(request);
        RequestBody body;
        try {
            body = RequestBody.read(request, operation.bodyBytesMax());
        } catch (RequestBody.Malformed e) {
            // How much of it the container has read is not known: nobody can use the connection again.
            response.setHeader("Connection", "close");
            send(response, boundary.answers(operation).bodyUnreadable());
            return;
        }
        HttpRequest asked = asked(request, headers, body.compared());
        BufferedRequest buffered = new BufferedRequest(request, body.readable());
        boolean elsewhere = execution != null && execution.executes(operation);
        Exchange exchange = boundary.exchange(operation, asked);
        switch ((elsewhere ? exchange.admit() : exchange.begin()).stage()) {
            case UNPROTECTED -> chain.doFilter(buffered, response);
            case READY ->
                new TransactionalCall(exchange, buffered, response, errorPage).run(requireNonNull(execution), chain);
            case RUNNING -> call(exchange, buffered, response).first(chain);
            default -> send(response, exchange.answer());
        }
    }

    private ProtectedCall call(Exchange exchange, BufferedRequest request, HttpServletResponse response) {
        try {
            ProtectedCall call = new ProtectedCall(exchange, request, response, errorPage);
            // A listener of the application's may look at attributes, and throw.
            request.setAttribute(ProtectedCall.ATTRIBUTE, call);
            return call;
        } catch (RuntimeException | Error broken) {
            exchange.notExecuted(
                    "the handler could not be called: " + broken.getClass().getName());
            throw broken;
        }
    }

    private Optional<HttpAnswer> published(HttpServletRequest request) {
        String whole = path(request);
        // Below the servlet that handles everything else too, because some containers call no filter for other paths.
        String path = !servletPath.isEmpty() && whole.startsWith(servletPath + "/")
                ? whole.substring(servletPath.length())
                : whole;
        if (path.equals(Boundary.SPECIFICATION_PATH)) {
            return Optional.of(boundary(request).specification());
        }
        return path.equals(boundary.statusPath())
                ? Optional.of(boundary.status(asked(request, headers(request), new byte[0])))
                : Optional.empty();
    }

    /** Answers name paths as clients must ask for them. */
    private Boundary boundary(HttpServletRequest request) {
        return boundary.under(request.getContextPath() + servletPath);
    }

    private HttpRequest asked(HttpServletRequest request, Headers headers, byte[] body) {
        return new HttpRequest(
                request.getMethod(),
                request.getRequestURI(),
                request.getQueryString(),
                headers,
                body,
                tenants.tenant(request));
    }

    static void send(HttpServletResponse response, HttpAnswer answer) throws IOException {
        CapturedResponse.sendHead(response, answer);
        if (answer.status() == HttpServletResponse.SC_REQUEST_ENTITY_TOO_LARGE) {
            // The rest of the body may not have been read: nobody can use the connection again.
            response.setHeader("Connection", "close");
        }
        CapturedResponse.write(response, answer);
    }

    static Headers headers(HttpServletRequest request) {
        List<Headers.Field> fields = new ArrayList<>();
        for (String name : Collections.list(request.getHeaderNames())) {
            for (String value : Collections.list(request.getHeaders(name))) {
                fields.add(new Headers.Field(name, value));
            }
        }
        return new Headers(fields);
    }

    /** The path within the application, as the container reads it. */
    static String path(HttpServletRequest request) {
        String inServlet = request.getPathInfo();
        return inServlet == null ? request.getServletPath() : request.getServletPath() + inServlet;
    }

    /** Builds an {@link OnlyonceFilter}. */
    public static final class Builder {
        private final Boundary boundary;
        private OperationResolver operations;
        private TenantResolver tenants = TenantResolver.principal();
        private @Nullable String errorPath;
        private @Nullable Execution execution;
        private String servletPath = "";

        private Builder(Boundary boundary) {
            this.boundary = requireNonNull(boundary, "boundary");
            this.operations = OperationResolver.byPath(boundary);
        }

        /** Finds the operation of a request otherwise than by its path. */
        public Builder operations(OperationResolver operations) {
            this.operations = operations;
            return this;
        }

        /** Who a key belongs to. */
        public Builder tenants(TenantResolver tenants) {
            this.tenants = tenants;
            return this;
        }

        /**
         * Where the application renders errors, such as {@code /error}. The filter forwards there for {@code sendError}, so
         * that the page can be recorded; without it a short problem document is sent.
         */
        public Builder errorPath(@Nullable String path) {
            this.errorPath = path;
            return this;
        }

        /**
         * Where the servlet is that handles the operations, such as {@code /api}, if their paths do not say so. Specification
         * and status are found below it too, and answers say so.
         */
        public Builder servletPath(String path) {
            this.servletPath = path.endsWith("/") ? path.substring(0, path.length() - 1) : path;
            return this;
        }

        /** Executes some operations in another way than the leased one. */
        public Builder execution(@Nullable Execution execution) {
            this.execution = execution;
            return this;
        }

        /** Builds it. */
        public OnlyonceFilter build() {
            return new OnlyonceFilter(this);
        }
    }
}
