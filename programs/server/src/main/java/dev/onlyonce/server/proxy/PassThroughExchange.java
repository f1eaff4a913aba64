package dev.onlyonce.server.proxy;

import dev.onlyonce.server.config.Upstream;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaderValues;
import io.vertx.core.Future;
import io.vertx.core.Handler;
import io.vertx.core.MultiMap;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpClientRequest;
import io.vertx.core.http.HttpClientResponse;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpServerResponse;
import io.vertx.core.http.HttpVersion;
import java.net.ProtocolException;
import java.time.Duration;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One unprotected exchange, streamed both ways as it comes: nothing is buffered beyond what the slower side is behind, and
 * nothing is changed but what belongs to the hop. All on one event loop. Whatever fails here breaks both sides: neither may
 * take a part of a body for the whole.
 */
final class PassThroughExchange {
    private static final Logger log = LoggerFactory.getLogger(PassThroughExchange.class);

    /** Of HTTP/2. */
    private static final long INTERNAL_ERROR = 2;

    /** A time-out cannot be removed, only replaced. */
    private static final Duration NO_TIMEOUT = Duration.ofDays(1);

    private final Proxy proxy;
    private final Upstreams.Pooled upstream;
    private final RequestTarget target;
    private final HttpServerRequest request;
    private final HttpServerResponse response;
    private @Nullable HttpClientRequest forward;
    private boolean requestEnded;
    private boolean clientGone;
    private boolean retried;
    private boolean bodyBegun;
    private boolean continued;
    private boolean broken;

    PassThroughExchange(Proxy proxy, Upstreams.Pooled upstream, RequestTarget target, HttpServerRequest request) {
        this.proxy = proxy;
        this.upstream = upstream;
        this.target = target;
        this.request = request;
        this.response = request.response();
    }

    void start() {
        boolean hasBody = hasBody(request);
        if (hasBody) {
            request.pause();
        } else {
            requestEnded = true;
        }
        watchClient();
        SafeHandlers.run(() -> connect(hasBody), this::breakBoth);
    }

    /** Goes on with the answer to a request that had no body and was sent already. */
    void answered(HttpClientResponse answer) {
        requestEnded = true;
        forward = answer.request();
        watchClient();
        SafeHandlers.run(() -> answer(answer), this::breakBoth);
    }

    /** Events that still come after the exchange broke are dropped. */
    private <T> Handler<T> guarded(Handler<T> handler) {
        return SafeHandlers.handler(
                event -> {
                    if (!broken) {
                        handler.handle(event);
                    }
                },
                this::breakBoth);
    }

    private void breakBoth(Throwable failure) {
        if (broken) {
            return;
        }
        broken = true;
        if (forward != null) {
            forward.reset();
        }
        if (response.headWritten()) {
            log.error("An exchange broke", failure);
            abort();
        } else {
            proxy.failed(request, failure);
        }
    }

    private void watchClient() {
        request.exceptionHandler(failure -> clientGone());
        response.exceptionHandler(failure -> clientGone());
        response.closeHandler(closed -> clientGone());
    }

    static boolean hasBody(HttpServerRequest request) {
        MultiMap headers = request.headers();
        if (request.version() == HttpVersion.HTTP_2) {
            return !request.isEnded() && !"0".equals(headers.get(HttpHeaderNames.CONTENT_LENGTH));
        }
        if (headers.contains(HttpHeaderNames.TRANSFER_ENCODING)) {
            return true;
        }
        String length = headers.get(HttpHeaderNames.CONTENT_LENGTH);
        return length != null && !length.equals("0");
    }

    private void connect(boolean hasBody) {
        MultiMap headers = proxy.headers().ofRequest(request);
        Future<HttpClientRequest> connecting = hasBody
                ? upstream.upload(request.method(), target.uri(), headers, target.host())
                : upstream.request(request.method(), target.uri(), headers, target.host());
        connecting.onComplete(guarded(to -> send(to, hasBody)), guarded(this::fail));
    }

    private void send(HttpClientRequest to, boolean hasBody) {
        // Failures show up in the answer.
        to.exceptionHandler(failure -> {});
        if (clientGone) {
            to.reset();
            return;
        }
        forward = to;
        to.response().onComplete(guarded(this::answer), guarded(this::retryOrFail));
        to.earlyHintsHandler(guarded(hints -> {
            // A client that does not read can do without them.
            if (!response.headWritten() && Proxy.takesInterim(request) && !response.writeQueueFull()) {
                response.writeEarlyHints(hints);
            }
        }));
        if (!hasBody) {
            to.end();
            return;
        }
        to.continueHandler(guarded(go -> {
            if (!continued && !response.headWritten() && Proxy.takesInterim(request)) {
                continued = true;
                response.writeContinue();
            }
        }));
        sendBody(to);
    }

    private void sendBody(HttpClientRequest to) {
        boolean known = to.headers().contains(HttpHeaderNames.CONTENT_LENGTH);
        boolean expects = HttpHeaderValues.CONTINUE.contentEqualsIgnoreCase(
                nullToEmpty(request.getHeader(HttpHeaderNames.EXPECT)));
        if (known || expects) {
            to.setChunked(!known);
            bodyBegun = true;
            to.writeHead();
        }
        request.handler(guarded(chunk -> sendChunk(to, chunk)));
        request.endHandler(guarded(ended -> {
            requestEnded = true;
            to.end();
            if (!response.headWritten()) {
                to.idleTimeout(timeouts().response().toMillis());
            }
        }));
        request.resume();
    }

    private void sendChunk(HttpClientRequest to, Buffer chunk) {
        if (!bodyBegun) {
            // Only now: a request that turns out to have no body is sent without Transfer-Encoding.
            bodyBegun = true;
            to.setChunked(true);
        }
        to.write(chunk);
        // Nobody can answer a request that is still on its way.
        to.idleTimeout(timeouts().idle().toMillis());
        if (to.writeQueueFull()) {
            request.pause();
            to.drainHandler(guarded(drained -> request.resume()));
        }
    }

    private void answer(HttpClientResponse answer) {
        answer.exceptionHandler(failure -> {});
        if (clientGone) {
            answer.request().reset();
            return;
        }
        if (Proxy.isInterim(answer)) {
            answer.request().reset();
            fail(new ProtocolException("it switched protocols unasked"));
            return;
        }
        answer.request().idleTimeout(timeouts().idle().toMillis());
        response.setStatusCode(answer.statusCode());
        if (request.version() != HttpVersion.HTTP_2) {
            response.setStatusMessage(answer.statusMessage());
        }
        ForwardedHeaders.ofResponse(answer.headers(), response.headers());
        if (!requestEnded) {
            // The rest of the request is not wanted, so the connection cannot be used again.
            closeAfter();
        }
        boolean bodiless =
                request.method().equals(HttpMethod.HEAD) || answer.statusCode() == 204 || answer.statusCode() == 304;
        if (!bodiless && !response.headers().contains(HttpHeaderNames.CONTENT_LENGTH)) {
            response.setChunked(true);
        }
        answer.exceptionHandler(failure -> abort());
        answer.handler(guarded(chunk -> pass(answer, chunk)));
        answer.endHandler(guarded(ended -> {
            MultiMap trailers = answer.trailers();
            if (!trailers.isEmpty() && response.isChunked()) {
                response.trailers().addAll(trailers);
            }
            finish();
        }));
    }

    private void closeAfter() {
        if (request.version() != HttpVersion.HTTP_2) {
            response.putHeader(HttpHeaderNames.CONNECTION, HttpHeaderValues.CLOSE);
        }
    }

    private void pass(HttpClientResponse from, Buffer chunk) {
        proxy.write(request, chunk);
        if (response.writeQueueFull()) {
            from.pause();
            // It is the client now that is slow, and its connection has a time-out of its own.
            from.request().idleTimeout(NO_TIMEOUT.toMillis());
            response.drainHandler(guarded(drained -> {
                from.request().idleTimeout(timeouts().idle().toMillis());
                from.resume();
            }));
        }
    }

    private void finish() {
        response.end();
        if (!requestEnded && forward != null) {
            forward.reset();
            Errors.breakOff(request, 0);
        }
    }

    private void retryOrFail(Throwable cause) {
        // A kept connection may be closed by the upstream just as it is used again.
        boolean safe =
                request.method().equals(HttpMethod.GET) || request.method().equals(HttpMethod.HEAD);
        boolean timedOut = cause instanceof TimeoutException;
        if (safe && requestEnded && !retried && !timedOut && !clientGone && !response.headWritten()) {
            retried = true;
            connect(false);
        } else {
            fail(cause);
        }
    }

    private void fail(Throwable cause) {
        if (response.headWritten()) {
            abort();
        } else if (!clientGone) {
            if (!requestEnded) {
                closeAfter();
            }
            proxy.errors().upstreamFailed(request, upstream.upstream(), cause);
        }
    }

    /** The client must see that the response is not whole. */
    private void abort() {
        if (clientGone) {
            return;
        }
        Errors.breakOff(request, INTERNAL_ERROR);
    }

    private void clientGone() {
        if (!clientGone && !response.ended()) {
            clientGone = true;
            if (forward != null) {
                forward.reset();
            }
        }
    }

    private Upstream.Timeouts timeouts() {
        return upstream.upstream().timeouts();
    }

    private static String nullToEmpty(@Nullable String value) {
        return value == null ? "" : value;
    }
}
