package dev.onlyonce.server.proxy;

import dev.onlyonce.http.Problem;
import dev.onlyonce.server.config.Upstream;
import io.netty.handler.codec.TooLongFrameException;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaderValues;
import io.netty.handler.codec.http.TooLongHttpLineException;
import io.vertx.core.Vertx;
import io.vertx.core.VertxException;
import io.vertx.core.http.ConnectionPoolTooBusyException;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpServerResponse;
import io.vertx.core.http.HttpVersion;
import io.vertx.core.json.JsonObject;
import java.net.ConnectException;
import java.util.concurrent.TimeoutException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The answers to requests that cannot be passed on at all, as problem details (RFC 9457). Refusals that concern keys
 * are not written here.
 */
public final class Errors {
    private static final Logger log = LoggerFactory.getLogger(Errors.class);

    private static final long LINGER_MILLIS = 500;

    private final Vertx vertx;
    private final Runnable onUpstreamFailure;

    /** Counts failures of upstreams. */
    public Errors(Vertx vertx, Runnable onUpstreamFailure) {
        this.vertx = vertx;
        this.onUpstreamFailure = onUpstreamFailure;
    }

    /** The bytes were not a request that can be trusted: answers and closes. */
    void malformed(HttpServerRequest request) {
        Throwable cause = request.decoderResult().cause();
        int status = 400;
        String code = "request_malformed";
        if (cause instanceof TooLongHttpLineException) {
            status = 414;
            code = "request_line_too_long";
        } else if (cause instanceof TooLongFrameException) {
            status = 431;
            code = "headers_too_large";
        }
        request.response().putHeader(HttpHeaderNames.CONNECTION, HttpHeaderValues.CLOSE);
        refuse(request, status, code, "The request cannot be read: " + withoutValue(message(cause)));
        closeSoon(request);
    }

    /**
     * Closes the connection, but not before the client had time to read its answer: closing while it still sends would take
     * that away from it. What it sends meanwhile is dropped. Of an HTTP/2 connection only this stream ends: others share it.
     */
    public void closeSoon(HttpServerRequest request) {
        vertx.setTimer(LINGER_MILLIS, over -> breakOff(request, 0));
    }

    /** Ends the connection now, or the HTTP/2 stream with this code; if that is not 0, the client must see that it failed. */
    public static void breakOff(HttpServerRequest request, long http2Code) {
        if (request.version() == HttpVersion.HTTP_2) {
            request.response().reset(http2Code);
        } else if (request.version() == HttpVersion.HTTP_1_0 && http2Code != 0) {
            // It takes the ordinary end of the connection for the end of the body.
            SlowReaders.cut(request);
        } else {
            request.connection().close();
        }
    }

    /** Answers, and closes the connection afterwards if a body may still come. */
    public void refuse(HttpServerRequest request, int status, String code, String detail) {
        HttpServerResponse response = request.response();
        if (response.headWritten() || response.closed()) {
            return;
        }
        JsonObject problem = new JsonObject()
                .put("type", Problem.DOCUMENTATION + "#" + code)
                .put("title", code.replace('_', ' '))
                .put("status", status)
                .put("code", code)
                .put("detail", detail);
        response.setStatusCode(status)
                .putHeader(HttpHeaderNames.CONTENT_TYPE, "application/problem+json")
                .putHeader(HttpHeaderNames.CACHE_CONTROL, "no-store");
        response.end(problem.toBuffer());
    }

    /** The gateway itself failed. */
    void failed(HttpServerRequest request, Throwable failure) {
        log.error("A request could not be handled", failure);
        if (request.version() != HttpVersion.HTTP_2 && !request.response().headWritten()) {
            request.response().putHeader(HttpHeaderNames.CONNECTION, HttpHeaderValues.CLOSE);
        }
        refuse(request, 500, "gateway_failed", "The gateway failed; its log says why");
    }

    /** An unprotected exchange failed before the upstream answered. */
    void upstreamFailed(HttpServerRequest request, Upstream upstream, Throwable cause) {
        onUpstreamFailure.run();
        log.debug("Upstream {} failed", upstream.name(), cause);
        if (isTimeout(cause)) {
            refuse(request, 504, "upstream_timeout", "The service did not answer in time");
        } else if (cause instanceof ConnectionPoolTooBusyException) {
            request.response().putHeader(HttpHeaderNames.RETRY_AFTER, "1");
            refuse(request, 503, "upstream_busy", "All connections to the service are in use");
        } else if (cause instanceof ConnectException) {
            refuse(request, 502, "upstream_unreachable", "The service could not be reached");
        } else {
            refuse(request, 502, "upstream_failed", "The service broke off or did not answer in HTTP");
        }
    }

    /** Whether an upstream was too slow. */
    public static boolean isTimeout(Throwable cause) {
        return cause instanceof TimeoutException
                || (cause instanceof VertxException && message(cause).contains("timeout"));
    }

    /** What follows a colon is what was sent, and may be a key or a credential. */
    private static String withoutValue(String message) {
        int colon = message.indexOf(": ");
        return colon < 0 ? message : message.substring(0, colon).strip();
    }

    private static String message(Throwable cause) {
        return cause == null || cause.getMessage() == null ? "it is malformed" : cause.getMessage();
    }
}
