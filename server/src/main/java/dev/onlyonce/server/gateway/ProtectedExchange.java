package dev.onlyonce.server.gateway;

import dev.onlyonce.http.Exchange;
import dev.onlyonce.http.Headers;
import dev.onlyonce.http.HttpDecision;
import dev.onlyonce.http.HttpRequest;
import dev.onlyonce.http.Operation;
import dev.onlyonce.http.Prepared;
import dev.onlyonce.server.observe.Metrics;
import dev.onlyonce.server.proxy.Target;
import dev.onlyonce.server.proxy.Upstreams;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaderValues;
import io.opentelemetry.context.Context;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpServerResponse;
import io.vertx.core.http.HttpVersion;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * A request that the boundary decides on:
 *
 * <ol>
 *   <li>its body is taken in, up to the operation's limit;
 *   <li>the boundary checks it, and answers from memory if it can;
 *   <li>else a worker claims the key;
 *   <li>the winner is forwarded, see {@link Forwarding}, and everybody is answered.
 * </ol>
 *
 * Runs on one event loop, but for what blocks.
 */
final class ProtectedExchange {
    /** Larger bodies are compared on a worker: canonical JSON takes about a millisecond for so much. */
    private static final int SMALL_BODY_BYTES = 64 << 10;

    private final GatewayLoop loop;
    private final Operation operation;
    private final HttpServerRequest request;
    private final Target target;
    private final Upstreams.Pooled upstream;
    private final Headers headers;
    private final Context trace;
    private final Buffer body = Buffer.buffer();
    private boolean refused;

    ProtectedExchange(
            GatewayLoop loop,
            Operation operation,
            HttpServerRequest request,
            Target target,
            Upstreams.Pooled upstream) {
        this.loop = loop;
        this.operation = operation;
        this.request = request;
        this.target = target;
        this.upstream = upstream;
        this.headers = Messages.headers(request.headers());
        this.trace = loop.traces().of(request.headers());
    }

    void start() {
        HttpServerResponse response = request.response();
        // A client that hangs up while its body is awaited has asked for nothing; later it changes nothing.
        request.exceptionHandler(failure -> refused = true);
        response.exceptionHandler(failure -> {});
        if (Messages.contentLength(request) > operation.bodyBytesMax()) {
            tooLarge();
            return;
        }
        if (request.headers().contains(HttpHeaderNames.EXPECT)) {
            response.writeContinue();
        }
        loop.proxy().awaitingBody(request);
        request.handler(this::take);
        request.endHandler(ended -> {
            if (!refused) {
                loop.proxy().bodyArrived(request);
                decide();
            }
        });
    }

    private void take(Buffer chunk) {
        if (refused) {
            return;
        }
        if (body.length() + (long) chunk.length() > operation.bodyBytesMax()) {
            tooLarge();
        } else {
            body.appendBuffer(chunk);
        }
    }

    private void tooLarge() {
        refused = true;
        // The boundary refuses whatever is longer than the limit; what it would have said is of no interest.
        answerAndClose(loop.boundary().decide(operation, asked(new byte[operation.bodyBytesMax() + 1])));
    }

    private void answerAndClose(HttpDecision decision) {
        if (request.version() != HttpVersion.HTTP_2) {
            request.response().putHeader(HttpHeaderNames.CONNECTION, HttpHeaderValues.CLOSE);
        }
        if (decision instanceof HttpDecision.Answer answer) {
            Messages.send(request, answer.answer());
        }
        loop.proxy().closeSoon(request);
    }

    private HttpRequest asked(byte[] bytes) {
        String tenant = loop.tenants()
                .of(headers, request.remoteAddress().hostAddress())
                .orElse(null);
        return new HttpRequest(request.method().name(), target.path(), target.query(), headers, bytes, tenant);
    }

    private void decide() {
        if (body.length() <= SMALL_BODY_BYTES) {
            Prepared prepared;
            try {
                prepared = loop.boundary().prepare(operation, asked(body.getBytes()));
            } catch (RuntimeException e) {
                loop.proxy().failed(request, e);
                return;
            }
            prepared(prepared);
        } else {
            onWorker(() -> loop.boundary().prepare(operation, asked(body.getBytes())), this::prepared);
        }
    }

    private void prepared(Prepared prepared) {
        if (prepared instanceof Prepared.Decided decided) {
            decided(decided.decision());
            return;
        }
        Prepared.Ready ready = (Prepared.Ready) prepared;
        boolean mayWait = !operation.policy().waitMax().isZero();
        onWorker(() -> loop.timed(Metrics.Part.CLAIM, operation, trace, ready::beginAtOnce), decision -> {
            if (mayWait && decision instanceof HttpDecision.Answer && ready.isInFlight()) {
                await(ready, decision);
            } else {
                decided(decision);
            }
        });
    }

    private void await(Prepared.Ready ready, HttpDecision otherwise) {
        try {
            loop.workers().runWaiting(ready::begin, then(this::decided));
        } catch (RejectedExecutionException e) {
            decided(otherwise);
        }
    }

    private <T> void onWorker(Supplier<T> work, Consumer<T> then) {
        try {
            loop.workers().begin(work, then(then));
        } catch (RejectedExecutionException e) {
            Messages.send(request, loop.boundary().overloaded(operation));
        }
    }

    private <T> Workers.Then<T> then(Consumer<T> done) {
        return new Workers.Then<>(loop.context(), done, failure -> loop.proxy().failed(request, failure));
    }

    private void decided(HttpDecision decision) {
        if (decision instanceof HttpDecision.Answer answer) {
            Messages.send(request, answer.answer());
        } else if (decision instanceof HttpDecision.Run run) {
            forward(run.exchange());
        } else {
            throw new IllegalStateException("what passes through was not asked about");
        }
    }

    private void forward(Exchange exchange) {
        new Forwarding(loop, exchange, upstream, new Forwarding.Sent(request, target, body, trace)).start();
    }
}
