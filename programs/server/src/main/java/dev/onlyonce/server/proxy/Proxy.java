package dev.onlyonce.server.proxy;

import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaderValues;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.vertx.core.Future;
import io.vertx.core.MultiMap;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpClientResponse;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpVersion;

/** Passes requests on without looking at them, on one event loop. */
public final class Proxy {
    private final ForwardedHeaders headers;
    private final Clients clients;
    private final Errors errors;

    Proxy(ForwardedHeaders headers, Clients clients, Errors errors) {
        this.headers = headers;
        this.clients = clients;
        this.errors = errors;
    }

    /** Streams the exchange. */
    public void pass(HttpServerRequest request, RequestTarget target, Upstreams.Pooled upstream) {
        if (Tunnel.isWanted(request)) {
            new Tunnel(this, upstream, target, request).start();
        } else {
            new PassThroughExchange(this, upstream, target, request).start();
        }
    }

    /** The header lines for the upstream: the client's, and those about the client. */
    public MultiMap headersFor(HttpServerRequest request) {
        return headers.ofRequest(request);
    }

    /** Copies the header lines of a response that are not for one hop only. */
    public static void endToEnd(MultiMap from, MultiMap to) {
        ForwardedHeaders.ofResponse(from, to);
    }

    /** Whether the client understands interim responses; those of HTTP/1.0 take them for the answer. */
    public static boolean takesInterim(HttpServerRequest request) {
        return request.version() != HttpVersion.HTTP_1_0;
    }

    /** Whether this is no answer yet, though it was taken for one, and so none will come. */
    public static boolean isInterim(HttpClientResponse response) {
        return response.statusCode() < HttpResponseStatus.OK.code();
    }

    /** Answers a request that is not passed on, and reads no more of it. */
    public void refuse(HttpServerRequest request, int status, String code, String detail) {
        if (request.version() != HttpVersion.HTTP_2) {
            request.response().putHeader(HttpHeaderNames.CONNECTION, HttpHeaderValues.CLOSE);
        }
        errors.refuse(request, status, code, detail);
        closeSoon(request);
    }

    /** Closes the client's connection when it had time to read its answer. */
    public void closeSoon(HttpServerRequest request) {
        clients.closing(request);
        errors.closeSoon(request);
    }

    /** Writes a part of a response that is streamed; what the client does not read of it counts as memory in use. */
    public Future<Void> write(HttpServerRequest request, Buffer chunk) {
        return clients.readers().write(request, chunk);
    }

    /** Ends the exchange now, whether or not the client has read what was written for it. */
    public static void cut(HttpServerRequest request) {
        SlowReaders.cut(request);
    }

    /** We failed, which must not happen: the client gets an error, and nothing more of it is read. */
    public void failed(HttpServerRequest request, Throwable failure) {
        errors.failed(request, failure);
        closeSoon(request);
    }

    ForwardedHeaders headers() {
        return headers;
    }

    Clients clients() {
        return clients;
    }

    Errors errors() {
        return errors;
    }
}
