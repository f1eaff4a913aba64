package dev.onlyonce.server.gateway;

import dev.onlyonce.http.Exchange;
import dev.onlyonce.http.Headers;
import dev.onlyonce.http.HttpAnswer;
import dev.onlyonce.http.HttpDecision;
import dev.onlyonce.http.HttpRequest;
import dev.onlyonce.http.Operation;
import dev.onlyonce.http.Prepared;
import dev.onlyonce.server.observe.Metrics;
import dev.onlyonce.server.proxy.Errors;
import dev.onlyonce.server.proxy.Proxy;
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
import org.jspecify.annotations.Nullable;

/**
 * A request that the boundary decides on:
 *
 * <ol>
 *   <li>its body is taken in, up to the operation's limit;
 *   <li>the boundary checks it, and answers from memory if it can;
 *   <li>else the key is claimed;
 *   <li>the winner is forwarded, see {@link Forwarding}, and everybody is answered.
 * </ol>
 *
 * Runs on one event loop, but for what blocks.
 */
final class ProtectedExchange {
    /** Larger bodies are compared on a worker: canonical JSON takes about a millisecond for so much. */
    private static final int SMALL_BODY_BYTES = 64 << 10;

    private static final long HTTP2_CANCEL = 8;

    private final GatewayLoop loop;
    private final Operation operation;
    private final HttpServerRequest request;
    private final Target target;
    private final Upstreams.Pooled upstream;
    private final Headers headers;
    private final Context trace;
    private final Buffer body = Buffer.buffer();
    private final long awaitedSince;
    private boolean refused;
    private boolean arrived;
    private long bytesHeld;
    private @Nullable Forwarding forwarding;

    /** A request whose body is yet to come, and where it goes. */
    record Arrived(HttpServerRequest request, Headers headers, Target target, Upstreams.Pooled upstream) {}

    ProtectedExchange(GatewayLoop loop, Operation operation, Arrived arrived) {
        this.loop = loop;
        this.operation = operation;
        this.request = arrived.request();
        this.target = arrived.target();
        this.upstream = arrived.upstream();
        this.headers = arrived.headers();
        this.trace = loop.traces().of(request.headers());
        this.awaitedSince = loop.nanos();
    }

    void start() {
        HttpServerResponse response = request.response();
        loop.begun(this);
        // A client that hangs up while its body is awaited has asked for nothing; later it changes nothing.
        request.exceptionHandler(failure -> {
            if (!arrived) {
                refused = true;
                end();
            }
        });
        response.exceptionHandler(failure -> {});
        if (Messages.contentLength(request) > operation.bodyBytesMax()) {
            tooLarge();
            return;
        }
        if (request.headers().contains(HttpHeaderNames.EXPECT) && Proxy.takesInterim(request)) {
            response.writeContinue();
        }
        request.handler(this::take);
        request.endHandler(ended -> {
            if (!refused) {
                arrived = true;
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
        } else if (hold(chunk.length())) {
            body.appendBuffer(chunk);
        } else {
            refuse(loop.boundary().overloaded(operation));
        }
    }

    /** Takes memory until the exchange ends; false if there is none left. */
    boolean hold(int bytes) {
        boolean taken = loop.memory().take(bytes);
        bytesHeld += taken ? bytes : 0;
        return taken;
    }

    /** The client was answered or is gone, and nothing is left to be recorded. More than once does nothing. */
    void end() {
        loop.ended(this);
        loop.memory().giveBack(bytesHeld);
        bytesHeld = 0;
    }

    private void tooLarge() {
        refuse(loop.boundary().tooLarge(operation));
    }

    /** Answers before the whole body came; the rest is not looked at. */
    private void refuse(HttpAnswer answer) {
        refused = true;
        if (request.version() != HttpVersion.HTTP_2) {
            request.response().putHeader(HttpHeaderNames.CONNECTION, HttpHeaderValues.CLOSE);
        }
        answer(answer);
        loop.proxy().closeSoon(request);
    }

    private void answer(HttpAnswer answer) {
        end();
        Messages.send(request, answer);
    }

    private void fail(Throwable failure) {
        if (failure instanceof RejectedExecutionException) {
            answer(loop.boundary().overloaded(operation));
            return;
        }
        end();
        loop.proxy().failed(request, failure);
    }

    /** A body that does not come in time costs the client its connection, or its stream where others share that. */
    void closeIfAwaitedSince(long nanos) {
        if (!arrived && !refused && awaitedSince - nanos < 0) {
            refused = true;
            end();
            Errors.breakOff(request, HTTP2_CANCEL);
        }
    }

    /** The gateway stops and cannot wait any longer. What is being claimed now will find that out before it is sent. */
    void abandon() {
        if (forwarding != null) {
            forwarding.abandon();
        } else {
            closeIfAwaitedSince(loop.nanos() + 1);
        }
    }

    private HttpRequest asked(byte[] bytes) {
        String tenant = loop.tenants()
                .of(headers, request.remoteAddress().hostAddress(), target.host())
                .orElse(null);
        return new HttpRequest(request.method().name(), target.path(), target.query(), headers, bytes, tenant);
    }

    private void decide() {
        if (body.length() <= SMALL_BODY_BYTES) {
            Prepared prepared;
            try {
                prepared = loop.boundary().prepare(operation, asked(body.getBytes()));
            } catch (RuntimeException e) {
                fail(e);
                return;
            }
            prepared(prepared);
        } else {
            GatewayLoop.follow(
                    () -> loop.elsewhere(
                            loop.workers()::begin, () -> loop.boundary().prepare(operation, asked(body.getBytes()))),
                    this::prepared,
                    this::fail);
        }
    }

    private void prepared(Prepared prepared) {
        if (prepared instanceof Prepared.Decided decided) {
            decided(decided.decision());
            return;
        }
        Prepared.Ready ready = (Prepared.Ready) prepared;
        GatewayLoop.follow(
                () -> loop.timed(Metrics.Part.CLAIM, operation, trace, () -> ready.begin(loop.beginning())),
                decision -> begun(ready, decision),
                this::fail);
    }

    private void begun(Prepared.Ready ready, HttpDecision decision) {
        boolean mayWait = !operation.policy().waitMax().isZero();
        if (mayWait && decision instanceof HttpDecision.Answer && ready.isInFlight()) {
            await(ready, decision);
        } else {
            decided(decision);
        }
    }

    private void await(Prepared.Ready ready, HttpDecision otherwise) {
        GatewayLoop.follow(() -> loop.elsewhere(loop.workers()::await, ready::begin), this::decided, failure -> {
            if (failure instanceof RejectedExecutionException) {
                decided(otherwise);
            } else {
                fail(failure);
            }
        });
    }

    private void decided(HttpDecision decision) {
        if (decision instanceof HttpDecision.Answer answer) {
            answer(answer.answer());
        } else if (decision instanceof HttpDecision.Run run) {
            forward(run.exchange());
        } else {
            throw new IllegalStateException("what passes through was not asked about");
        }
    }

    private void forward(Exchange exchange) {
        Forwarding begun =
                new Forwarding(loop, exchange, upstream, new Forwarding.Sent(this, request, target, body, trace));
        forwarding = begun;
        begun.start();
    }
}
