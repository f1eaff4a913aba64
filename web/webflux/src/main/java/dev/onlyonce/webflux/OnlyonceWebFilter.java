package dev.onlyonce.webflux;

import static java.util.Objects.requireNonNull;

import dev.onlyonce.http.Boundary;
import dev.onlyonce.http.Exchange;
import dev.onlyonce.http.Headers;
import dev.onlyonce.http.HttpAnswer;
import dev.onlyonce.http.HttpRequest;
import dev.onlyonce.http.Operation;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.RejectedExecutionException;
import org.springframework.core.codec.DecodingException;
import org.springframework.core.io.buffer.DataBufferLimitException;
import org.springframework.http.HttpMethod;
import org.springframework.http.codec.ServerCodecConfigurer;
import org.springframework.http.server.RequestPath;
import org.springframework.http.server.reactive.ServerHttpRequest;
import org.springframework.web.server.ServerWebExchange;
import org.springframework.web.server.WebExceptionHandler;
import org.springframework.web.server.WebFilter;
import org.springframework.web.server.WebFilterChain;
import org.springframework.web.server.handler.ResponseStatusExceptionHandler;
import reactor.core.publisher.Mono;

/**
 * Protects operations in a WebFlux application, without blocking its threads. Order it inside whatever authenticates: the tenant
 * must be known, and what a filter outside writes is not recorded.
 *
 * <p>A protected request's body and response are held in memory within the operation's bounds. Nothing reaches the client
 * before the entry is durable. A client that hangs up does not cancel the handler. It also answers {@code GET} and {@code HEAD}
 * on {@link Boundary#SPECIFICATION_PATH} and on the boundary's status path.
 */
public final class OnlyonceWebFilter implements WebFilter, AutoCloseable {
    /** Attribute of the exchange: the protected operation that the filter has found. */
    static final String SEEN = OnlyonceWebFilter.class.getName() + ".seen";

    /** Larger bodies are compared on a worker: canonical JSON takes about a millisecond for this size. */
    private static final int SMALL_BODY_BYTES = 64 << 10;

    private static final byte[] NO_BODY = {};

    private final Boundary boundary;
    private final ReactiveOperationResolver operations;
    private final ReactiveTenantResolver tenants;
    private final Surroundings around;

    private OnlyonceWebFilter(Builder builder) {
        boundary = builder.boundary;
        operations = builder.operations;
        tenants = builder.tenants;
        around = new Surroundings(builder.errors, builder.codecs);
    }

    /** Starts with operations found by path, the principal as the tenant, and no exception handlers but Spring's own. */
    public static Builder builder(Boundary boundary) {
        return new Builder(boundary);
    }

    @Override
    public Mono<Void> filter(ServerWebExchange web, WebFilterChain chain) {
        HttpMethod method = web.getRequest().getMethod();
        if (method.equals(HttpMethod.GET) || method.equals(HttpMethod.HEAD)) {
            String path = web.getRequest().getPath().pathWithinApplication().value();
            if (path.equals(Boundary.SPECIFICATION_PATH)) {
                return RealResponse.send(web.getResponse(), boundary(web).specification());
            }
            if (path.equals(boundary.statusPath())) {
                return detached(status(web));
            }
        }
        return operations
                .operation(web)
                .map(Optional::of)
                .defaultIfEmpty(Optional.empty())
                .flatMap(operation -> operation.isPresent() ? seen(operation.get(), web, chain) : chain.filter(web));
    }

    private Mono<Void> seen(Operation operation, ServerWebExchange web, WebFilterChain chain) {
        web.getAttributes().put(SEEN, operation);
        Headers headers = RealResponse.headers(web.getRequest());
        return operation.concerns(headers)
                ? detached(decide(new Asked(operation, headers, web), chain))
                : chain.filter(web);
    }

    /** A client that hangs up cancels its subscription; what has begun goes on. */
    private static Mono<Void> detached(Mono<Void> work) {
        return Mono.deferContextual(context -> Mono.fromFuture(
                work.contextWrite(known -> known.putAll(context)).toFuture(), true));
    }

    private Mono<Void> status(ServerWebExchange web) {
        return tenant(web)
                .map(tenant -> request(web, RealResponse.headers(web.getRequest()), NO_BODY, tenant))
                .flatMap(asked -> around.blocking(() -> boundary(web).status(asked)))
                .flatMap(answer -> RealResponse.send(web.getResponse(), answer));
    }

    /** A request for an operation. */
    private record Asked(Operation operation, Headers headers, ServerWebExchange web) {}

    private Mono<Void> decide(Asked asked, WebFilterChain chain) {
        ServerHttpRequest request = asked.web().getRequest();
        int bytesMax = asked.operation().bodyBytesMax();
        Boundary boundary = boundary(asked.web());
        if (request.getHeaders().getContentLength() > bytesMax) {
            return send(asked, boundary.answers(asked.operation()).bodyTooLarge());
        }
        Mono<Mono<Void>> decided = BufferedRequest.read(request, bytesMax)
                .map(body ->
                        new BufferedRequest(request, asked.web().getResponse().bufferFactory(), body))
                .flatMap(buffered -> tenant(asked.web())
                        .flatMap(tenant -> exchange(boundary, asked, buffered, tenant))
                        .flatMap(this::claimed)
                        .map(exchange -> follow(exchange, asked, buffered, chain)))
                .onErrorResume(
                        DataBufferLimitException.class,
                        over -> Mono.just(
                                send(asked, boundary.answers(asked.operation()).bodyTooLarge())))
                .onErrorResume(
                        // Of a multipart body.
                        DecodingException.class,
                        malformed -> Mono.just(
                                send(asked, boundary.answers(asked.operation()).bodyUnreadable())))
                .onErrorResume(
                        RejectedExecutionException.class,
                        busy -> Mono.just(
                                send(asked, boundary.answers(asked.operation()).overloaded())));
        // Errors of the handler are none of these.
        return decided.flatMap(next -> next);
    }

    private Mono<Optional<String>> tenant(ServerWebExchange web) {
        return tenants.tenant(web).map(Optional::of).defaultIfEmpty(Optional.empty());
    }

    private Mono<Exchange> exchange(Boundary boundary, Asked asked, BufferedRequest buffered, Optional<String> tenant) {
        if (MultipartBody.isIn(buffered)) {
            CapturedExchange parsed =
                    new CapturedExchange(asked.web(), buffered, asked.web().getResponse(), around.codecs());
            return MultipartBody.compared(parsed)
                    .flatMap(body -> around.blocking(() ->
                            boundary.exchange(asked.operation(), request(asked.web(), asked.headers(), body, tenant))));
        }
        HttpRequest request = request(asked.web(), asked.headers(), buffered.body(), tenant);
        return buffered.body().length > SMALL_BODY_BYTES
                ? around.blocking(() -> boundary.exchange(asked.operation(), request))
                : Mono.fromSupplier(() -> boundary.exchange(asked.operation(), request));
    }

    private Mono<Exchange> claimed(Exchange exchange) {
        if (exchange.stage() != Exchange.Stage.READY) {
            return Mono.just(exchange);
        }
        boolean mayWait = !exchange.operation().policy().waitMax().isZero();
        return Mono.fromCompletionStage(() -> exchange.begin(around.loop()))
                .flatMap(begun ->
                        mayWait && begun.stage() == Exchange.Stage.DUPLICATE ? around.await(begun) : Mono.just(begun));
    }

    private Mono<Void> follow(Exchange exchange, Asked asked, BufferedRequest buffered, WebFilterChain chain) {
        return switch (exchange.stage()) {
            case RUNNING -> call(exchange, asked, buffered).run(chain);
            case ANSWERED, DUPLICATE -> send(asked, exchange.answer());
            default -> Mono.error(new IllegalStateException("not decided: " + exchange.stage()));
        };
    }

    private ProtectedExchange call(Exchange exchange, Asked asked, BufferedRequest buffered) {
        try {
            ProtectedExchange call = new ProtectedExchange(exchange, asked.web(), buffered, around);
            asked.web().getAttributes().put(ProtectedExchange.ATTRIBUTE, call);
            return call;
        } catch (RuntimeException | Error broken) {
            exchange.notExecuted(
                    "the handler could not be called: " + broken.getClass().getName());
            throw broken;
        }
    }

    private static Mono<Void> send(Asked asked, HttpAnswer answer) {
        return Mono.defer(() -> RealResponse.send(asked.web().getResponse(), answer));
    }

    /** Answers name paths as clients must ask for them. */
    private Boundary boundary(ServerWebExchange web) {
        return boundary.under(web.getRequest().getPath().contextPath().value());
    }

    private static HttpRequest request(ServerWebExchange web, Headers headers, byte[] body, Optional<String> tenant) {
        RequestPath path = web.getRequest().getPath();
        return new HttpRequest(
                web.getRequest().getMethod().name(),
                path.value(),
                web.getRequest().getURI().getRawQuery(),
                headers,
                body,
                tenant.orElse(null));
    }

    /** Ends the threads that wait for the store. */
    @Override
    public void close() {
        around.close();
    }

    /** Builds an {@link OnlyonceWebFilter}. */
    public static final class Builder {
        private final Boundary boundary;
        private ReactiveOperationResolver operations;
        private ReactiveTenantResolver tenants = ReactiveTenantResolver.principal();
        private List<WebExceptionHandler> errors = List.of(new ResponseStatusExceptionHandler());
        private ServerCodecConfigurer codecs = ServerCodecConfigurer.create();

        private Builder(Boundary boundary) {
            this.boundary = requireNonNull(boundary, "boundary");
            this.operations = ReactiveOperationResolver.byPath(boundary);
        }

        /** Finds the operation of a request otherwise than by its path. */
        public Builder operations(ReactiveOperationResolver operations) {
            this.operations = operations;
            return this;
        }

        /** Who a key belongs to. */
        public Builder tenants(ReactiveTenantResolver tenants) {
            this.tenants = tenants;
            return this;
        }

        /** Who answers errors that leave the handler, in their order, so that the answers can be recorded. */
        public Builder errors(List<WebExceptionHandler> handlers) {
            this.errors = List.copyOf(handlers);
            return this;
        }

        /** What reads forms and multipart bodies. */
        public Builder codecs(ServerCodecConfigurer codecs) {
            this.codecs = codecs;
            return this;
        }

        /** Builds it. */
        public OnlyonceWebFilter build() {
            return new OnlyonceWebFilter(this);
        }
    }
}
