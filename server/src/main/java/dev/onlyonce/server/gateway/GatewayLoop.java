package dev.onlyonce.server.gateway;

import dev.onlyonce.http.Boundary;
import dev.onlyonce.http.Operation;
import dev.onlyonce.server.observe.Metrics;
import dev.onlyonce.server.observe.Traces;
import dev.onlyonce.server.proxy.Front;
import dev.onlyonce.server.proxy.Proxy;
import dev.onlyonce.server.proxy.Target;
import dev.onlyonce.server.proxy.Upstreams;
import dev.onlyonce.store.Time;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanKind;
import io.vertx.core.Context;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpServerRequest;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;

/** The gateway on one event loop: what is protected goes to the boundary, the rest straight through. */
final class GatewayLoop implements Front.Handling {
    private final Shared shared;
    private final Proxy proxy;
    private final Context context;
    private final Set<Forwarding> open = new HashSet<>();

    /**
     * What all event loops share.
     *
     * @param open how many protected exchanges are with the upstream or being settled
     */
    record Shared(
            Vertx vertx,
            Boundary boundary,
            Repeatable repeatable,
            Tenants tenants,
            Workers workers,
            AtomicInteger open,
            Telemetry telemetry) {}

    /** Where it is told what happens. */
    record Telemetry(Metrics metrics, Traces traces, Time time) {}

    GatewayLoop(Shared shared, Proxy proxy, Context context) {
        this.shared = shared;
        this.proxy = proxy;
        this.context = context;
    }

    @Override
    public void handle(HttpServerRequest request, Target target, Upstreams.Pooled upstream) {
        Optional<Operation> operation = boundary().operation(request.method().name(), target.path());
        if (operation.isPresent() && operation.get().concerns(Messages.headers(request.headers()))) {
            Operation here = shared.repeatable().at(upstream.upstream(), operation.get());
            new ProtectedExchange(this, here, request, target, upstream).start();
        } else if (request.method().equals(HttpMethod.GET) && isOurs(target.path())) {
            new OwnResources(this).answer(request, target);
        } else {
            proxy.pass(request, target, upstream);
        }
    }

    private boolean isOurs(String path) {
        return path.equals(Boundary.SPECIFICATION_PATH)
                || path.equals(boundary().statusPath());
    }

    Boundary boundary() {
        return shared.boundary();
    }

    Tenants tenants() {
        return shared.tenants();
    }

    Workers workers() {
        return shared.workers();
    }

    Vertx vertx() {
        return shared.vertx();
    }

    Context context() {
        return context;
    }

    Proxy proxy() {
        return proxy;
    }

    void begun(Forwarding forwarding) {
        open.add(forwarding);
        shared.open().incrementAndGet();
    }

    void ended(Forwarding forwarding) {
        open.remove(forwarding);
        shared.open().decrementAndGet();
    }

    Metrics metrics() {
        return shared.telemetry().metrics();
    }

    Traces traces() {
        return shared.telemetry().traces();
    }

    long nanos() {
        return shared.telemetry().time().nanos();
    }

    /** Does a part of an exchange and tells how long it took. On any thread. */
    <T> T timed(Metrics.Part part, Operation operation, io.opentelemetry.context.Context trace, Supplier<T> work) {
        long begun = nanos();
        Span span = traces().start(part.name().toLowerCase(Locale.ROOT), trace, SpanKind.INTERNAL, operation.name());
        try {
            return work.get();
        } finally {
            Traces.end(span, null);
            metrics().took(part, operation.name(), nanos() - begun);
        }
    }

    /** Ends what still waits for the upstream, as unknown. */
    void abandonAll() {
        new ArrayList<>(open).forEach(Forwarding::abandon);
    }
}
