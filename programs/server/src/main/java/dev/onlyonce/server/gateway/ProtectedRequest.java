package dev.onlyonce.server.gateway;

import dev.onlyonce.http.Exchange;
import dev.onlyonce.http.Headers;
import dev.onlyonce.http.HttpAnswer;
import dev.onlyonce.http.HttpRequest;
import dev.onlyonce.http.Operation;
import dev.onlyonce.server.observe.Metrics;
import dev.onlyonce.server.proxy.Errors;
import dev.onlyonce.server.proxy.MemoryBudget;
import dev.onlyonce.server.proxy.Proxy;
import dev.onlyonce.server.proxy.RequestTarget;
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
 * Runs on one event loop, except for blocking code.
 */
final class ProtectedRequest {
    /** Larger bodies are compared on a worker: canonical JSON takes about a millisecond for this size. */
    private static final int SMALL_BODY_BYTES = 64 << 10;

    /** A body that is on its way: its buffer may be twice as large as what came, then there is a copy to compare. */
    private static final int REQUEST_COPIES = 2;
    /** A response of the service: its buffer, the answer, and the record of it. */
    private static final int RESPONSE_COPIES = 3;
    /** A small answer is sent even if there is no memory left: it may be the only word on what was executed. */
    private static final int SMALL_ANSWER_BYTES = 4 << 10;

    private static final long HTTP2_CANCEL = 8;
    private static final long NANOS_PER_SECOND = 1_000_000_000;

    private final GatewayLoop loop;
    private final Operation operation;
    private final HttpServerRequest request;
    private final RequestTarget target;
    private final Upstreams.Pooled upstream;
    private final GatewayLoop.Protection protection;
    private final Headers headers;
    private final Context trace;
    private final long begunNanos;
    private Buffer body = Buffer.buffer();
    private boolean refused;
    private boolean arrived;
    private long bytesHeld;
    private @Nullable Forwarding forwarding;
    private @Nullable AnswerWriter sending;

    /**
     * A request whose body is yet to come, and where it goes.
     *
     * @param protection as it was when the request came
     */
    record Arrived(
            HttpServerRequest request,
            Headers headers,
            RequestTarget target,
            Upstreams.Pooled upstream,
            GatewayLoop.Protection protection) {}

    ProtectedRequest(GatewayLoop loop, Operation operation, Arrived arrived) {
        this.loop = loop;
        this.operation = operation;
        this.request = arrived.request();
        this.target = arrived.target();
        this.upstream = arrived.upstream();
        this.protection = arrived.protection();
        this.headers = arrived.headers();
        this.trace = loop.traces().of(request.headers());
        this.begunNanos = loop.nanos();
    }

    void start() {
        loop.begun(this);
        guarded(this::receive);
    }

    private void receive() {
        HttpServerResponse response = request.response();
        // A client that hangs up while its body is awaited has asked for nothing; later it changes nothing.
        request.exceptionHandler(failure -> {
            if (!arrived) {
                refused = true;
                end();
            }
        });
        response.exceptionHandler(failure -> {});
        if (HttpMessages.contentLength(request) > operation.bodyBytesMax()) {
            tooLarge();
            return;
        }
        if (request.headers().contains(HttpHeaderNames.EXPECT) && Proxy.takesInterim(request)) {
            response.writeContinue();
        }
        request.handler(chunk -> guarded(() -> take(chunk)));
        request.endHandler(ended -> {
            if (!refused) {
                arrived = true;
                guarded(this::decide);
            }
        });
    }

    /** Runs a part of the exchange. Whatever it throws, an {@link Error} too, ends the exchange. */
    private void guarded(Runnable part) {
        try {
            part.run();
        } catch (RuntimeException | Error e) {
            refused = true;
            fail(e);
        }
    }

    private void take(Buffer chunk) {
        if (refused) {
            return;
        }
        if (body.length() + (long) chunk.length() > operation.bodyBytesMax()) {
            tooLarge();
        } else if (reserve((long) chunk.length() * REQUEST_COPIES)) {
            body.appendBuffer(chunk);
        } else {
            refuse(protection.boundary().answers(operation).overloaded());
        }
    }

    /** Reserves memory for a part of the service's response; false if there is none left. */
    boolean hold(int bytes) {
        return reserve((long) bytes * RESPONSE_COPIES);
    }

    private boolean reserve(long bytes) {
        boolean reserved = loop.memory().reserve(bytes);
        bytesHeld += reserved ? bytes : 0;
        return reserved;
    }

    private void release() {
        loop.memory().release(bytesHeld);
        bytesHeld = 0;
    }

    /** The client was answered or is gone, and nothing is left to be recorded. More than once does nothing. */
    void end() {
        loop.ended(this);
        release();
    }

    private void tooLarge() {
        refuse(protection.boundary().answers(operation).bodyTooLarge());
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

    /** Sends the answer, the last part of the exchange. It returns everything that it has reserved except the bytes of the answer. */
    void answer(HttpAnswer answer) {
        forwarding = null;
        body = Buffer.buffer();
        HttpAnswer affordable = answer;
        if (!afford(answer.body().length)) {
            affordable = protection.boundary().answers(operation).overloaded();
            loop.memory().force(affordable.body().length);
        }
        sending = new AnswerWriter(loop, request, affordable, this::end);
        sending.start();
    }

    /** Leaves nothing reserved but the bytes of the answer; returns false, and reserves nothing, if there is no memory. */
    private boolean afford(int answerBytes) {
        long more = answerBytes - bytesHeld;
        if (answerBytes <= SMALL_ANSWER_BYTES || more <= 0) {
            loop.memory().force(more);
        } else if (!loop.memory().reserve(more)) {
            release();
            return false;
        }
        // The rest belongs to the sending.
        bytesHeld = 0;
        return true;
    }

    private void fail(Throwable failure) {
        if (failure instanceof RejectedExecutionException) {
            answer(protection.boundary().answers(operation).overloaded());
            return;
        }
        end();
        loop.proxy().failed(request, failure);
    }

    /** Whether the client takes too long to send its body or to read its answer; while memory is short, sooner. */
    boolean isSlow(long now, boolean memoryIsShort) {
        if (sending != null) {
            long still = now - sending.movedNanos();
            return still
                    > (memoryIsShort
                            ? MemoryBudget.PATIENCE_NANOS
                            : loop.limits().idleTimeout().toNanos());
        }
        if (arrived || refused) {
            return false;
        }
        long age = now - begunNanos;
        long due = age / NANOS_PER_SECOND * MemoryBudget.BYTES_PER_SECOND_MIN;
        boolean givesWay = memoryIsShort && bytesHeld > 0 && age > MemoryBudget.PATIENCE_NANOS && body.length() < due;
        return givesWay || age > loop.limits().bodyTimeout().toNanos();
    }

    /** Ends the exchange with a client that is too slow; it costs the client its connection, or its stream in HTTP/2. */
    void cut() {
        refused = true;
        end();
        if (sending == null) {
            Errors.breakOff(request, HTTP2_CANCEL);
        } else {
            // An ordinary close would wait until the client has read its answer.
            Proxy.cut(request);
        }
    }

    /** The gateway stops and cannot wait any longer. What is being claimed now will find that out before it is sent. */
    void abandon() {
        if (forwarding != null) {
            forwarding.abandon();
        } else if (sending != null || !arrived) {
            cut();
        }
    }

    private HttpRequest asked(byte[] bytes) {
        String tenant = protection
                .tenants()
                .of(headers, request.remoteAddress().hostAddress(), target.host())
                .orElse(null);
        return new HttpRequest(request.method().name(), target.path(), target.query(), headers, bytes, tenant);
    }

    private void decide() {
        if (body.length() <= SMALL_BODY_BYTES) {
            checked(protection.boundary().exchange(operation, asked(body.getBytes())));
        } else {
            Buffer whole = body;
            GatewayLoop.follow(
                    () -> loop.elsewhere(
                            work -> loop.workers().compare(whole.length(), work),
                            () -> protection.boundary().exchange(operation, asked(whole.getBytes()))),
                    this::checked,
                    this::fail);
        }
    }

    private void checked(Exchange exchange) {
        if (exchange.stage() != Exchange.Stage.READY) {
            decided(exchange);
            return;
        }
        GatewayLoop.follow(
                () -> loop.timed(Metrics.Part.CLAIM, operation, trace, () -> exchange.begin(loop.beginning())),
                this::begun,
                this::fail);
    }

    private void begun(Exchange exchange) {
        boolean mayWait = !operation.policy().waitMax().isZero();
        if (mayWait && exchange.stage() == Exchange.Stage.DUPLICATE) {
            await(exchange);
        } else {
            decided(exchange);
        }
    }

    private void await(Exchange exchange) {
        GatewayLoop.follow(() -> loop.elsewhere(loop.workers()::await, exchange::await), this::decided, failure -> {
            if (failure instanceof RejectedExecutionException) {
                // Too many wait already.
                decided(exchange);
            } else {
                fail(failure);
            }
        });
    }

    private void decided(Exchange exchange) {
        switch (exchange.stage()) {
            case ANSWERED, DUPLICATE -> answer(exchange.answer());
            case RUNNING -> forward(exchange);
            default -> throw new IllegalStateException("not decided: " + exchange.stage());
        }
    }

    private void forward(Exchange exchange) {
        Forwarding begun =
                new Forwarding(loop, exchange, upstream, new Forwarding.Sent(this, request, target, body, trace));
        forwarding = begun;
        try {
            begun.start();
        } catch (RuntimeException | Error e) {
            // The claim must end too, and nobody knows how far it went.
            begun.abandon();
            throw e;
        }
    }
}
