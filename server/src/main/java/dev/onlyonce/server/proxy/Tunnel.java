package dev.onlyonce.server.proxy;

import io.netty.handler.codec.http.HttpHeaderNames;
import io.vertx.core.MultiMap;
import io.vertx.core.http.HttpClientRequest;
import io.vertx.core.http.HttpClientResponse;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpServerResponse;
import io.vertx.core.http.HttpVersion;
import io.vertx.core.net.NetSocket;
import java.util.Locale;

/** An upgrade such as WebSocket: once the upstream agrees, bytes go both ways as they are. */
final class Tunnel {
    private final Proxy proxy;
    private final Upstreams.Pooled upstream;
    private final Target target;
    private final HttpServerRequest request;

    Tunnel(Proxy proxy, Upstreams.Pooled upstream, Target target, HttpServerRequest request) {
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
                && !Passing.hasBody(request);
    }

    void start() {
        MultiMap headers = proxy.headers().ofRequest(request);
        headers.set(HttpHeaderNames.CONNECTION, "upgrade");
        headers.set(HttpHeaderNames.UPGRADE, request.getHeader(HttpHeaderNames.UPGRADE));
        request.pause();
        upstream.request(request.method(), target.uri(), headers, target.host()).onComplete(connected -> {
            if (connected.failed()) {
                proxy.errors().upstreamFailed(request, upstream.upstream(), connected.cause());
                return;
            }
            HttpClientRequest forward = connected.result();
            // Failures show up in the answer.
            forward.exceptionHandler(failure -> {});
            forward.connect().onComplete(answered -> {
                if (answered.failed()) {
                    proxy.errors().upstreamFailed(request, upstream.upstream(), answered.cause());
                } else if (answered.result().statusCode() == 101) {
                    join(answered.result());
                } else {
                    refuse(answered.result());
                }
            });
        });
    }

    private void join(HttpClientResponse answer) {
        HttpServerResponse response = request.response();
        response.setStatusCode(101);
        response.headers().addAll(answer.headers());
        NetSocket back = answer.netSocket();
        back.pause();
        request.toNetSocket().onComplete(opened -> {
            if (opened.failed()) {
                back.close();
                return;
            }
            proxy.clients().tunnelled(request);
            NetSocket client = opened.result();
            pump(client, back);
            pump(back, client);
            client.closeHandler(closed -> {
                proxy.clients().tunnelClosed();
                back.close();
            });
            back.resume();
        });
    }

    private static void pump(NetSocket from, NetSocket to) {
        from.handler(bytes -> {
            to.write(bytes);
            if (to.writeQueueFull()) {
                from.pause();
                to.drainHandler(drained -> from.resume());
            }
        });
        from.endHandler(ended -> to.end());
        from.exceptionHandler(failure -> to.close());
        from.closeHandler(closed -> to.close());
    }

    /** The upstream does not want to: the client gets its answer, which may be of any length. */
    private void refuse(HttpClientResponse answer) {
        request.resume();
        new Passing(proxy, upstream, target, request).answered(answer);
    }
}
