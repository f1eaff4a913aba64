package dev.onlyonce.server.gateway;

import dev.onlyonce.http.Boundary;
import dev.onlyonce.http.EventLoop;
import dev.onlyonce.http.Headers;
import dev.onlyonce.http.HttpAnswer;
import dev.onlyonce.http.Operation;
import dev.onlyonce.server.config.Listen;
import dev.onlyonce.server.observe.Metrics;
import dev.onlyonce.server.observe.Traces;
import dev.onlyonce.server.proxy.Front;
import dev.onlyonce.server.proxy.MemoryBudget;
import dev.onlyonce.server.proxy.Proxy;
import dev.onlyonce.server.proxy.RequestTarget;
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
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The gateway on one event loop: what is protected goes to the boundary, the rest straight through. */
final class GatewayLoop implements Front.Handling {
    private static final Logger log = LoggerFactory.getLogger(GatewayLoop.class);

    /** How often slow clients are looked for. */
    private static final long LOOK_MILLIS = 1000;

    private final Shared shared;
    private final Proxy proxy;
    private final Context context;
    private final Mailbox mailbox;
    private final EventLoop beginning;
    private final EventLoop ending;
    private final Set<ProtectedRequest> open = new HashSet<>();
    private boolean stopping;

    /**
     * What all event loops share.
     *
     * @param protection as it is now: a request keeps what it came under
     */
    record Shared(Vertx vertx, Supplier<Protection> protection, Workers workers, Room room, Telemetry telemetry) {}

    /** What is protected, and how. */
    record Protection(
            Boundary boundary, RepeatableOperations repeatable, Tenants tenants, UnmatchedRequests unmatched) {}

    /**
     * What exchanges take.
     *
     * @param open how many protected exchanges are under way, from the first byte of a body to the answer
     * @param memory for their bodies and answers
     * @param limits how long a client may take
     */
    record Room(AtomicInteger open, MemoryBudget memory, Listen.Limits limits) {}

    /** Where the loop reports what happens. */
    record Telemetry(Metrics metrics, Traces traces, Time time) {}

    GatewayLoop(Shared shared, Proxy proxy, Context context) {
        this.shared = shared;
        this.proxy = proxy;
        this.context = context;
        this.mailbox = new Mailbox(context);
        this.beginning = new EventLoop(mailbox, shared.workers()::begin);
        this.ending = new EventLoop(mailbox, shared.workers()::settle);
        shared.vertx().setPeriodic(LOOK_MILLIS, tick -> cutSlow());
    }

    private void cutSlow() {
        long now = nanos();
        boolean memoryIsShort = memory().isShort();
        int cut = 0;
        for (ProtectedRequest exchange : new ArrayList<>(open)) {
            if (exchange.isSlow(now, memoryIsShort)) {
                exchange.cut();
                cut++;
            }
        }
        memory().cut(cut);
    }

    @Override
    public void handle(HttpServerRequest request, RequestTarget target, Upstreams.Pooled upstream) {
        String method = request.method().name();
        Protection protection = protection();
        Optional<Operation> operation = protection.boundary().operation(method, target.path());
        if (refuse(request, target, operation, protection)) {
            return;
        }
        if (operation.isPresent()) {
            Headers headers = HttpMessages.headers(request.headers());
            if (operation.get().concerns(headers)) {
                Operation here = protection.repeatable().at(upstream.upstream(), operation.get());
                var arrived = new ProtectedRequest.Arrived(request, headers, target, upstream, protection);
                new ProtectedRequest(this, here, arrived).start();
                return;
            }
        }
        if (isRead(request.method()) && isOurs(target.path(), protection)) {
            new OwnResources(this).answer(request, target);
        } else {
            proxy.pass(request, target, upstream);
        }
    }

    /** Refuses what is not let through; false if there was nothing to refuse. */
    private boolean refuse(
            HttpServerRequest request, RequestTarget target, Optional<Operation> operation, Protection protection) {
        UnmatchedRequests unmatched = protection.unmatched();
        String method = request.method().name();
        if (operation.isPresent()) {
            boolean ambiguous =
                    unmatched.refusesAmbiguous() && protection.boundary().isAmbiguous(method, target.path());
            if (ambiguous) {
                proxy.refuse(
                        request,
                        400,
                        "path_ambiguous",
                        "Servers differ in how they read this path; spell it without //, dot segments, ; or encoded"
                                + " slashes");
            }
            return ambiguous;
        }
        boolean changes = method.equalsIgnoreCase("POST") || method.equalsIgnoreCase("PATCH");
        boolean refused = changes && unmatched.refuses(method.toUpperCase(Locale.ROOT), target.path());
        if (refused) {
            proxy.refuse(request, 403, "operation_unmatched", "No operation is configured for this method and path");
        }
        return refused;
    }

    private static boolean isRead(HttpMethod method) {
        return method.equals(HttpMethod.GET) || method.equals(HttpMethod.HEAD);
    }

    private static boolean isOurs(String path, Protection protection) {
        return path.equals(Boundary.SPECIFICATION_PATH)
                || path.equals(protection.boundary().statusPath());
    }

    /** As it is now. */
    Protection protection() {
        return shared.protection().get();
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

    /** Where an exchange goes on when its key was claimed. */
    EventLoop beginning() {
        return beginning;
    }

    /** Where an exchange goes on when its end was recorded. */
    EventLoop ending() {
        return ending;
    }

    Proxy proxy() {
        return proxy;
    }

    void begun(ProtectedRequest exchange) {
        open.add(exchange);
        shared.room().open().incrementAndGet();
    }

    /** Ends an exchange; more than once does nothing. */
    void ended(ProtectedRequest exchange) {
        if (open.remove(exchange)) {
            shared.room().open().decrementAndGet();
        }
    }

    /** Sends an answer of our own, which is small. */
    void send(HttpServerRequest request, HttpAnswer answer) {
        memory().force(answer.body().length);
        new AnswerWriter(this, request, answer, () -> {}).start();
    }

    MemoryBudget memory() {
        return shared.room().memory();
    }

    Listen.Limits limits() {
        return shared.room().limits();
    }

    /** Whether nothing may be sent upstream any more. */
    boolean isStopping() {
        return stopping;
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

    /** Does a part of an exchange in a span of its own; the engine times it. On any thread. */
    <T> CompletionStage<T> timed(
            Metrics.Part part,
            Operation operation,
            io.opentelemetry.context.Context trace,
            Supplier<CompletionStage<T>> work) {
        Span span = traces().start(part.name().toLowerCase(Locale.ROOT), trace, SpanKind.INTERNAL, operation.name());
        BiConsumer<@Nullable Object, @Nullable Throwable> end = (result, failure) -> Traces.end(span, null);
        try {
            return work.get().whenComplete(end);
        } catch (RuntimeException | Error e) {
            end.accept(null, e);
            throw e;
        }
    }

    /** Runs what blocks on another thread; ends here. Throws what the executor throws. */
    <T> CompletionStage<T> elsewhere(Executor executor, Supplier<T> work) {
        return CompletableFuture.supplyAsync(work, executor).whenCompleteAsync((result, failure) -> {}, mailbox);
    }

    /**
     * Begins something that ends here, and says what follows. Whatever is thrown meanwhile, an {@link Error} too, ends in
     * {@code failed}: an exchange that nobody ends would keep its memory for good.
     */
    static <T> void follow(Supplier<CompletionStage<T>> work, Consumer<T> done, Consumer<Throwable> failed) {
        CompletionStage<T> stage;
        try {
            stage = work.get();
        } catch (RuntimeException | Error e) {
            fail(failed, e);
            return;
        }
        var unused = stage.whenComplete((result, failure) -> {
            if (failure != null) {
                fail(failed, failure);
                return;
            }
            try {
                done.accept(result);
            } catch (RuntimeException | Error e) {
                fail(failed, e);
            }
        });
    }

    private static void fail(Consumer<Throwable> failed, Throwable failure) {
        try {
            failed.accept(failure);
        } catch (RuntimeException | Error e) {
            // It would be lost in the stage.
            log.error("An exchange could not be ended", e);
        }
    }

    /** Ends what still waits: for the upstream, as unknown; for the rest of a body, without an answer. */
    void abandonAll() {
        stopping = true;
        new ArrayList<>(open).forEach(ProtectedRequest::abandon);
    }
}
