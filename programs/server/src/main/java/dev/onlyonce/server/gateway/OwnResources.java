package dev.onlyonce.server.gateway;

import dev.onlyonce.http.Boundary;
import dev.onlyonce.http.Headers;
import dev.onlyonce.http.HttpRequest;
import dev.onlyonce.server.proxy.RequestTarget;
import io.vertx.core.http.HttpServerRequest;
import java.util.concurrent.RejectedExecutionException;

/** What the gateway answers clients itself: how its keys work, and the status of one. */
final class OwnResources {
    private static final byte[] NO_BODY = {};

    private final GatewayLoop loop;

    OwnResources(GatewayLoop loop) {
        this.loop = loop;
    }

    void answer(HttpServerRequest request, RequestTarget target) {
        GatewayLoop.Protection protection = loop.protection();
        Boundary boundary = protection.boundary();
        if (target.path().equals(Boundary.SPECIFICATION_PATH)) {
            loop.send(request, boundary.specification());
            return;
        }
        Headers headers = HttpMessages.headers(request.headers());
        String tenant = protection
                .tenants()
                .of(headers, request.remoteAddress().hostAddress(), target.host())
                .orElse(null);
        HttpRequest asked = new HttpRequest("GET", target.path(), target.query(), headers, NO_BODY, tenant);
        GatewayLoop.follow(
                () -> loop.elsewhere(loop.workers()::begin, () -> boundary.status(asked)),
                answer -> loop.send(request, answer),
                failure -> {
                    if (failure instanceof RejectedExecutionException) {
                        request.response()
                                .setStatusCode(503)
                                .putHeader("Retry-After", "1")
                                .end();
                    } else {
                        loop.proxy().failed(request, failure);
                    }
                });
    }
}
