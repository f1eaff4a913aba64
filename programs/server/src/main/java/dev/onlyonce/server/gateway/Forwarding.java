package dev.onlyonce.server.gateway;

import dev.onlyonce.http.Exchange;
import dev.onlyonce.http.Headers;
import dev.onlyonce.http.HttpAnswer;
import dev.onlyonce.http.KeyHeader;
import dev.onlyonce.server.observe.Metrics;
import dev.onlyonce.server.observe.Traces;
import dev.onlyonce.server.proxy.Errors;
import dev.onlyonce.server.proxy.Proxy;
import dev.onlyonce.server.proxy.RequestTarget;
import dev.onlyonce.server.proxy.SafeHandlers;
import dev.onlyonce.server.proxy.Upstreams;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.context.Context;
import io.vertx.core.AsyncResult;
import io.vertx.core.Handler;
import io.vertx.core.MultiMap;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpClientRequest;
import io.vertx.core.http.HttpClientResponse;
import io.vertx.core.http.HttpHeaders;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpServerResponse;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import java.util.function.Supplier;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The upstream's part of a protected exchange. It goes on when the client hangs up, and ends in exactly one settlement:
 *
 * <ul>
 *   <li>no connection: nothing was sent, retryable;
 *   <li>anything between sending and the last byte of the response, be it a time-out, a reset or garbage: unknown;
 *   <li>a whole response: as the profile says of its status. It is recorded before it is sent;
 *   <li>a response over the limit, or for which there is no memory: recorded without its body, then streamed.
 * </ul>
 */
final class Forwarding {
    /** Tells the upstream which attempt this is, from 1. */
    static final String ATTEMPT = "Idempotency-Attempt";

    private static final Logger log = LoggerFactory.getLogger(Forwarding.class);

    private static final long HTTP2_INTERNAL_ERROR = 2;

    /** Over the high-water mark of a connection, so that a client that reads nothing is noticed. */
    private static final int HELD_SLICE_BYTES = 128 << 10;

    private final GatewayLoop loop;
    private final Exchange exchange;
    private final Upstreams.Pooled upstream;
    private final Sent sent;
    private final Context trace;
    private final Buffer held = Buffer.buffer();
    private @Nullable HttpClientRequest forward;
    private long timer = -1;
    private long sentNanos;
    private @Nullable Span span;
    private @Nullable String failure;
    private boolean settled;
    private boolean broken;

    /** What the client sent. */
    record Sent(ProtectedRequest owner, HttpServerRequest request, RequestTarget target, Buffer body, Context trace) {}

    Forwarding(GatewayLoop loop, Exchange exchange, Upstreams.Pooled upstream, Sent sent) {
        this.loop = loop;
        this.exchange = exchange;
        this.upstream = upstream;
        this.sent = sent;
        this.trace = sent.trace();
    }

    void start() {
        SafeHandlers.run(this::connect, failure -> notSent("the gateway failed: " + describe(failure)));
    }

    private void notSent(String reason) {
        if (!settled) {
            settle(() -> exchange.notExecuted("not sent: " + reason));
        }
    }

    /** After the first byte may have left, nobody can say what became of a request; after its settlement, the client gets no more. */
    private <T> Handler<T> guarded(Handler<T> handler) {
        return SafeHandlers.handler(handler, failure -> {
            log.error("An exchange broke", failure);
            if (settled) {
                sent.owner().end();
                reset();
                Errors.breakOff(sent.request(), HTTP2_INTERNAL_ERROR);
            } else {
                ambiguous("the gateway failed: " + describe(failure));
            }
        });
    }

    private void connect() {
        MultiMap headers = loop.proxy().headersFor(sent.request());
        headers.remove(HttpHeaderNames.EXPECT);
        span = loop.traces()
                .start("upstream", trace, SpanKind.CLIENT, exchange.operation().name());
        loop.traces().passOn(span, trace, headers);
        sentNanos = loop.nanos();
        // Not as copied: a client can name any header line in Connection, and so have it left out.
        headers.set(KeyHeader.NAME, key());
        headers.set(ATTEMPT, Integer.toString(exchange.claim().attempt()));
        headers.set(HttpHeaderNames.CONTENT_LENGTH, Integer.toString(sent.body().length()));
        if (loop.isStopping()) {
            notSent("the gateway was stopped");
            return;
        }
        upstream.request(
                        sent.request().method(),
                        sent.target().uri(),
                        headers,
                        sent.target().host())
                .onComplete(guarded(this::connected), guarded(cause -> {
                    if (!settled) {
                        failure = describe(cause);
                        loop.metrics().upstreamFailed();
                        notSent(describe(cause));
                    }
                }));
    }

    private void connected(HttpClientRequest to) {
        // Failures show up in the answer.
        to.exceptionHandler(failed -> {});
        if (settled) {
            // It was abandoned while connecting: nothing may be sent any more.
            to.reset();
        } else if (!exchange.claim().isHeld()) {
            to.reset();
            notSent("the lease was lost while connecting");
        } else {
            send(to);
        }
    }

    /** Quoted and bare they are one key to us, and must be to an upstream that is trusted to recognise it. */
    private String key() {
        return upstream.upstream().honoursKey()
                ? exchange.claim().key().value()
                : sent.request().getHeader(KeyHeader.NAME);
    }

    private void send(HttpClientRequest to) {
        forward = to;
        long millis = upstream.upstream().timeouts().response().toMillis();
        // However slowly it comes: the whole response must be there in time.
        timer = loop.vertx().setTimer(millis, late -> ambiguous("no whole response within " + millis + " ms"));
        to.response()
                .onComplete(guarded(this::receive), guarded(cause -> ambiguous("no response: " + describe(cause))));
        to.end(sent.body());
    }

    private void receive(HttpClientResponse response) {
        response.exceptionHandler(failed -> {});
        if (Proxy.isInterim(response)) {
            ambiguous("no response: it switched protocols unasked");
            return;
        }
        response.exceptionHandler(failure -> {
            broken = true;
            ambiguous("the response broke off: " + describe(failure));
        });
        response.handler(guarded(chunk -> {
            held.appendBuffer(chunk);
            if (!settled && !fits(chunk)) {
                response.pause();
                stream(response);
            }
        }));
        response.endHandler(guarded(ended -> {
            if (!settled) {
                HttpAnswer answer = new HttpAnswer(response.statusCode(), endToEnd(response), held.getBytes());
                settle(() -> exchange.finish(answer, loop.ending()), this::send);
            }
        }));
    }

    private boolean fits(Buffer chunk) {
        return sent.owner().hold(chunk.length()) && held.length() <= exchange.responseBytesMax();
    }

    private static Headers endToEnd(HttpClientResponse response) {
        MultiMap headers = HttpHeaders.headers();
        Proxy.endToEnd(response.headers(), headers);
        return HttpMessages.headers(headers);
    }

    private void ambiguous(String reason) {
        if (!settled) {
            failure = reason;
            loop.metrics().upstreamFailed();
            log.atWarn()
                    .addKeyValue("operation", exchange.operation().name())
                    .log("Nobody knows what became of {}: {}", exchange.claim().key(), reason);
            boolean repeatable = upstream.upstream().honoursKey();
            settle(() -> repeatable ? exchange.repeatable(reason) : exchange.ambiguous(reason));
            reset();
        }
    }

    /** The gateway stops and cannot wait any longer. */
    void abandon() {
        ambiguous("the gateway was stopped before the response came");
    }

    private void send(HttpAnswer answer) {
        sent.owner().answer(answer);
    }

    private void settle(Supplier<HttpAnswer> ending) {
        settle(blocking(ending), this::send);
    }

    private <T> void settle(Supplier<CompletionStage<T>> ending, Consumer<T> then) {
        end();
        GatewayLoop.follow(
                () -> loop.timed(Metrics.Part.SETTLE, exchange.operation(), trace, ending),
                guarded((Handler<T>) then::accept)::handle,
                failure -> {
                    sent.owner().end();
                    reset();
                    loop.proxy().failed(sent.request(), failure);
                });
    }

    /** For the ends that are rare. */
    private <T> Supplier<CompletionStage<T>> blocking(Supplier<T> ending) {
        return () -> loop.elsewhere(loop.workers()::settle, ending);
    }

    private void end() {
        settled = true;
        loop.metrics().upstreamTook(exchange.operation().name(), loop.nanos() - sentNanos);
        Traces.end(span, failure);
        if (timer >= 0) {
            loop.vertx().cancelTimer(timer);
        }
    }

    private void reset() {
        if (forward != null) {
            forward.reset();
        }
    }

    private void stream(HttpClientResponse response) {
        Headers headers = endToEnd(response);
        settle(blocking(() -> exchange.finishLarge(response.statusCode(), headers)), large -> {
            if (large.streams() && !sent.request().response().closed()) {
                pass(response, large.answer());
            } else {
                send(large.answer());
                reset();
            }
        });
    }

    private void pass(HttpClientResponse from, HttpAnswer head) {
        if (broken) {
            // While it was being recorded: the client must see that it does not get the whole of it.
            sent.owner().end();
            Errors.breakOff(sent.request(), HTTP2_INTERNAL_ERROR);
            return;
        }
        HttpServerResponse to = sent.request().response();
        HttpMessages.head(to, head);
        String length = from.getHeader(HttpHeaderNames.CONTENT_LENGTH);
        if (length != null) {
            to.putHeader(HttpHeaderNames.CONTENT_LENGTH, length);
        } else {
            to.setChunked(true);
        }
        to.closeHandler(gone -> reset());
        from.exceptionHandler(failure -> Errors.breakOff(sent.request(), HTTP2_INTERNAL_ERROR));
        from.endHandler(guarded(ended -> to.end()));
        from.handler(guarded(chunk -> {
            loop.proxy().write(sent.request(), chunk);
            if (to.writeQueueFull()) {
                from.pause();
                to.drainHandler(drained -> from.resume());
            }
        }));
        passHeld(from, 0);
    }

    /** What was held takes memory until the client has read it, and goes in slices: it shows that a slow client moves. */
    private void passHeld(HttpClientResponse from, int begin) {
        int end = Math.min(held.length(), begin + HELD_SLICE_BYTES);
        loop.proxy().write(sent.request(), held.slice(begin, end)).onComplete(guarded((AsyncResult<Void> written) -> {
            if (written.succeeded() && end < held.length()) {
                passHeld(from, end);
            } else {
                sent.owner().end();
                from.resume();
            }
        }));
    }

    private static String describe(Throwable failure) {
        String message = failure.getMessage() == null ? failure.getClass().getSimpleName() : failure.getMessage();
        Throwable cause = failure.getCause();
        // That TLS failed helps nobody who does not know what is wrong with the certificate.
        return failure instanceof SSLException && cause != null ? message + ": " + cause.getMessage() : message;
    }
}
