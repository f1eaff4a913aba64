package dev.onlyonce.server.proxy;

import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.vertx.core.Handler;
import io.vertx.core.MultiMap;
import io.vertx.core.http.HttpClientRequest;
import io.vertx.core.http.HttpClientResponse;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpServerResponse;
import io.vertx.core.http.HttpVersion;
import io.vertx.core.net.NetSocket;
import java.util.Locale;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** An upgrade such as WebSocket: once the upstream agrees, bytes go both ways as they are. */
final class Tunnel {
    private static final Logger log = LoggerFactory.getLogger(Tunnel.class);

    private final Proxy proxy;
    private final Upstreams.Pooled upstream;
    private final RequestTarget target;
    private final HttpServerRequest request;
    private @Nullable HttpClientRequest forward;
    private boolean clientGone;
    private boolean joined;

    Tunnel(Proxy proxy, Upstreams.Pooled upstream, RequestTarget target, HttpServerRequest request) {
        this.proxy = proxy;
        this.upstream = upstream;
        this.target = target;
        this.request = request;
    }

    /**
     * Whether the client asks for another protocol. HTTP/2 is not one: it is spoken with us and not passed on, or a client
     * could talk past us. With a body the request is answered as it is, which a server may always do.
     */
    static boolean isWanted(HttpServerRequest request) {
        String upgrade = request.getHeader(HttpHeaderNames.UPGRADE);
        String connection = request.getHeader(HttpHeaderNames.CONNECTION);
        return upgrade != null
                && connection != null
                && request.version() == HttpVersion.HTTP_1_1
                && connection.toLowerCase(Locale.ROOT).contains("upgrade")
                && !upgrade.toLowerCase(Locale.ROOT).contains("h2c")
                && !PassThroughExchange.hasBody(request);
    }

    void start() {
        MultiMap headers = proxy.headers().ofRequest(request);
        headers.set(HttpHeaderNames.CONNECTION, "upgrade");
        headers.set(HttpHeaderNames.UPGRADE, request.getHeader(HttpHeaderNames.UPGRADE));
        request.pause();
        // A client that hangs up is no failure of ours.
        request.exceptionHandler(gone -> {});
        request.response().exceptionHandler(gone -> {});
        request.response().closeHandler(closed -> clientGone());
        upstream.request(request.method(), target.uri(), headers, target.host())
                .onComplete(guarded(this::send), guarded(this::fail));
    }

    private <T> Handler<T> guarded(Handler<T> handler) {
        return SafeHandlers.handler(handler, this::breakBoth);
    }

    private void breakBoth(Throwable failure) {
        if (forward != null) {
            forward.reset();
        }
        proxy.failed(request, failure);
    }

    private void clientGone() {
        if (!joined) {
            clientGone = true;
            if (forward != null) {
                forward.reset();
            }
        }
    }

    private void fail(Throwable cause) {
        if (clientGone) {
            return;
        }
        proxy.errors().upstreamFailed(request, upstream.upstream(), cause);
    }

    private void send(HttpClientRequest to) {
        forward = to;
        // Failures show up in the answer.
        to.exceptionHandler(failure -> {});
        if (clientGone) {
            to.reset();
            return;
        }
        to.connect().onComplete(guarded(this::answered), guarded(this::fail));
    }

    private void answered(HttpClientResponse answer) {
        if (answer.statusCode() == HttpResponseStatus.SWITCHING_PROTOCOLS.code()) {
            join(answer);
        } else {
            refuse(answer);
        }
    }

    private void join(HttpClientResponse answer) {
        joined = true;
        HttpServerResponse response = request.response();
        response.setStatusCode(101);
        response.headers().addAll(answer.headers());
        NetSocket back = answer.netSocket();
        back.pause();
        request.toNetSocket()
                .onComplete(
                        guarded(client -> {
                            proxy.clients().tunnelled(request);
                            pump(client, back);
                            pump(back, client);
                            client.closeHandler(closed -> {
                                proxy.clients().tunnelClosed();
                                back.close();
                            });
                            back.resume();
                        }),
                        failed -> back.close());
    }

    private static void pump(NetSocket from, NetSocket to) {
        Consumer<Throwable> closeBoth = failure -> {
            log.error("A tunnel broke", failure);
            from.close();
            to.close();
        };
        from.handler(SafeHandlers.handler(
                bytes -> {
                    to.write(bytes);
                    if (to.writeQueueFull()) {
                        from.pause();
                        to.drainHandler(drained -> from.resume());
                    }
                },
                closeBoth));
        from.endHandler(ended -> to.end());
        from.exceptionHandler(failure -> to.close());
        from.closeHandler(closed -> to.close());
    }

    /** The upstream does not want to: the client gets its answer, which may be of any length. */
    private void refuse(HttpClientResponse answer) {
        request.resume();
        new PassThroughExchange(proxy, upstream, target, request).answered(answer);
    }
}
