package dev.onlyonce.server.proxy;

import dev.onlyonce.server.config.Listen;
import dev.onlyonce.server.config.Upstream;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaderValues;
import io.vertx.core.Future;
import io.vertx.core.Handler;
import io.vertx.core.Promise;
import io.vertx.core.VerticleBase;
import io.vertx.core.http.HttpServer;
import io.vertx.core.http.HttpServerOptions;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpVersion;
import io.vertx.core.net.PemKeyCertOptions;
import io.vertx.core.net.ServerSSLOptions;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * The gateway's face to its clients on one event loop: accepts connections, refuses what cannot be trusted, and hands the rest
 * to its handler. Deployed once for each event loop; all of them share the port.
 */
public final class Front extends VerticleBase {
    /** How often connections are looked at. */
    private static final long LOOK_MILLIS = 1000;
    /** An answer from upstream must not find that the client's connection was closed for being quiet meanwhile. */
    private static final Duration SLACK = Duration.ofSeconds(15);
    /** Any free port, but the same for all event loops: with 0 each would get one of its own. */
    private static final int SHARED_FREE_PORT = -1;

    private final Plan plan;
    private final Clients clients;
    private @Nullable HttpServer server;

    /**
     * What all event loops share.
     *
     * @param reserved header lines that are not passed on
     * @param eventLoops how many there are
     * @param connections how many client connections there are
     * @param memory what all clients together may pin
     * @param errors for requests that cannot be passed on
     * @param receiver makes what takes the requests of one event loop
     */
    public record Plan(
            Listen listen,
            List<Upstream> upstreams,
            ReservedHeaders reserved,
            int eventLoops,
            AtomicInteger connections,
            MemoryBudget memory,
            Errors errors,
            Receiver receiver) {}

    /** Makes the handler of one event loop. */
    @FunctionalInterface
    public interface Receiver {
        /** Called once on each event loop. */
        Handling on(Proxy proxy, Upstreams upstreams);
    }

    /** Takes requests. */
    @FunctionalInterface
    public interface Handling {
        /** Answers a request, now or later. */
        void handle(HttpServerRequest request, RequestTarget target, Upstreams.Pooled upstream);
    }

    /** For deploying. */
    public Front(Plan plan) {
        this.plan = plan;
        this.clients = new Clients(plan.listen().limits(), System::nanoTime, plan.connections(), plan.memory());
    }

    /**
     * Opens the port; to be called when all event loops have theirs deployed. What this creates takes an event loop in turn, so
     * between two deployments it could give one event loop two of them, and another none.
     */
    public Future<Void> listen() {
        Promise<Void> listening = Promise.promise();
        context.runOnContext(now -> SafeHandlers.run(() -> open().onComplete(listening), listening::tryFail));
        return listening.future();
    }

    private Future<Void> open() {
        Upstreams upstreams = new Upstreams(vertx, plan.upstreams(), plan.eventLoops());
        Proxy proxy = new Proxy(
                new ForwardedHeaders(plan.listen().trustedProxies(), plan.reserved()), clients, plan.errors());
        Handling handling = plan.receiver().on(proxy, upstreams);
        vertx.setPeriodic(LOOK_MILLIS, tick -> clients.closeIdle());
        int port = plan.listen().port();
        HttpServer starting = vertx.createHttpServer(options());
        server = starting;
        return starting.connectionHandler(clients::connected)
                .invalidRequestHandler(plan.errors()::malformed)
                .exceptionHandler(failure -> {})
                .requestHandler(receive(proxy, upstreams, handling))
                .listen(port == 0 ? SHARED_FREE_PORT : port, plan.listen().host())
                .mapEmpty();
    }

    private Handler<HttpServerRequest> receive(Proxy proxy, Upstreams upstreams, Handling handling) {
        return request -> {
            if (clients.isClosing(request)) {
                return;
            }
            clients.begun(request);
            // When the answer begins and not when the request comes: a client that was not told would use the
            // connection again.
            request.response().headersEndHandler(begins -> {
                if (clients.isLeaving(request) && !Tunnel.isWanted(request)) {
                    request.response().putHeader(HttpHeaderNames.CONNECTION, HttpHeaderValues.CLOSE);
                    clients.last(request);
                }
            });
            boolean last = isLast(request);
            if (last) {
                // Whatever is pipelined after it was not asked for.
                clients.closing(request);
            }
            request.response().endHandler(ended -> {
                clients.ended(request);
                if (last) {
                    request.connection().close();
                }
            });
            RequestTarget target;
            try {
                target = RequestTarget.of(request);
            } catch (RequestTarget.Refused e) {
                refuse(request, e.status(), "request_malformed", String.valueOf(e.getMessage()));
                return;
            }
            if (!isExpectationKnown(request)) {
                refuse(request, 417, "expectation_failed", "Expect has another value than 100-continue");
                return;
            }
            Upstreams.Pooled upstream = upstreams.forPath(target.path());
            if (upstream == null) {
                plan.errors().refuse(request, 404, "no_upstream", "No upstream is configured for this path");
                return;
            }
            SafeHandlers.run(
                    () -> handling.handle(request, target, upstream), failure -> proxy.failed(request, failure));
        };
    }

    /** Answers without having looked at the body, so the connection cannot be used again. */
    private void refuse(HttpServerRequest request, int status, String code, String detail) {
        if (request.version() != HttpVersion.HTTP_2) {
            request.response().putHeader(HttpHeaderNames.CONNECTION, HttpHeaderValues.CLOSE);
        }
        plan.errors().refuse(request, status, code, detail);
        clients.closing(request);
        plan.errors().closeSoon(request);
    }

    private static boolean isExpectationKnown(HttpServerRequest request) {
        for (String expected : request.headers().getAll(HttpHeaderNames.EXPECT)) {
            if (!HttpHeaderValues.CONTINUE.contentEqualsIgnoreCase(expected)) {
                return false;
            }
        }
        return true;
    }

    /**
     * Whether the client closes after this one. A proxy keeps no connection of HTTP/1.0 (RFC 9112): only its end tells such a
     * client where a response without a length ends.
     */
    private static boolean isLast(HttpServerRequest request) {
        if (request.version() == HttpVersion.HTTP_1_0) {
            return true;
        }
        return request.version() != HttpVersion.HTTP_2
                && ForwardedHeaders.namedByConnection(request.headers()).contains("close");
    }

    private HttpServerOptions options() {
        Listen listen = plan.listen();
        Listen.Limits limits = listen.limits();
        HttpServerOptions options = new HttpServerOptions()
                .setHandle100ContinueAutomatically(false)
                .setDecompressionSupported(false)
                .setCompressionSupported(false)
                // Upgrades are between the client and the upstream.
                .setPerFrameWebSocketCompressionSupported(false)
                .setPerMessageWebSocketCompressionSupported(false)
                .setMaxInitialLineLength(Listen.REQUEST_LINE_BYTES_MAX)
                .setMaxHeaderSize(limits.headerBytesMax())
                // Without TLS it would be negotiated inside HTTP/1.1, past the strict decoder; and hardly anybody does.
                .setHttp2ClearTextEnabled(false)
                .setTcpNoDelay(true)
                .setAcceptBacklog(4096)
                .setIdleTimeout((int) idleTimeout().toMillis())
                .setIdleTimeoutUnit(TimeUnit.MILLISECONDS);
        options.getInitialSettings().setMaxHeaderListSize(limits.headerBytesMax());
        Listen.Tls tls = listen.tls();
        if (tls != null) {
            options.setSsl(true)
                    .setKeyCertOptions(pair(tls))
                    .setUseAlpn(true)
                    .setAlpnVersions(
                            listen.http2()
                                    ? List.of(HttpVersion.HTTP_2, HttpVersion.HTTP_1_1)
                                    : List.of(HttpVersion.HTTP_1_1));
        }
        return options;
    }

    private static PemKeyCertOptions pair(Listen.Tls tls) {
        return new PemKeyCertOptions()
                .addCertPath(tls.certificate().toString())
                .addKeyPath(tls.key().toString());
    }

    /** Reads the certificate again, for connections that come from now on. It stays as it was if it cannot be used. */
    public Future<Void> renew(Listen.Tls tls) {
        Promise<Void> renewed = Promise.promise();
        context.runOnContext(now -> SafeHandlers.run(
                () -> {
                    HttpServer running = server;
                    ServerSSLOptions changed = options().getSslOptions();
                    if (running == null || changed == null) {
                        renewed.fail("it does not listen with TLS");
                        return;
                    }
                    // The paths are the same; what is in the files is not.
                    running.updateSSLOptions(changed.setKeyCertOptions(pair(tls)), true)
                            .<Void>mapEmpty()
                            .onComplete(renewed);
                },
                renewed::tryFail));
        return renewed.future();
    }

    private Duration idleTimeout() {
        Duration longest = plan.listen().limits().idleTimeout();
        for (Upstream upstream : plan.upstreams()) {
            Duration needed = upstream.timeouts().response().plus(SLACK);
            longest = needed.compareTo(longest) > 0 ? needed : longest;
        }
        return longest;
    }

    /** The port it listens on. */
    public int port() {
        return server == null ? -1 : server.actualPort();
    }

    /** Tells clients on HTTP/1.x with each answer that its connection ends; all are still served. */
    public void leave() {
        context.runOnContext(now -> clients.leave());
    }

    /** Accepts no more connections and no more requests, and ends when the open exchanges have, or when the time is over. */
    public Future<Void> drain(Duration max) {
        if (server == null) {
            return Future.succeededFuture();
        }
        Future<Void> ended = server.shutdown(max);
        context.runOnContext(now -> clients.drain());
        return ended;
    }
}
