package dev.onlyonce.server.proxy;

import dev.onlyonce.server.config.Authorities;
import dev.onlyonce.server.config.Upstream;
import io.vertx.core.Future;
import io.vertx.core.MultiMap;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpClientAgent;
import io.vertx.core.http.HttpClientOptions;
import io.vertx.core.http.HttpClientRequest;
import io.vertx.core.http.HttpConnection;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpVersion;
import io.vertx.core.http.PoolOptions;
import io.vertx.core.http.RequestOptions;
import io.vertx.core.http.impl.http1.Http1ClientConnection;
import io.vertx.core.net.HostAndPort;
import io.vertx.core.net.TrustOptions;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The upstreams with their connections, for one event loop. */
public final class Upstreams {
    private static final Logger log = LoggerFactory.getLogger(Upstreams.class);

    /** As much as clients may send: what an upstream answers with is not trusted either. */
    private static final int HEADER_BYTES_MAX = 64 << 10;

    /** One connection in this many is for uploads that are not protected. */
    private static final int UPLOADS_SHARE = 4;

    private final List<Pooled> pools = new ArrayList<>();

    /** An upstream and its connections. */
    public static final class Pooled {
        private final Upstream upstream;
        private final HttpClientAgent client;
        private final HttpClientAgent uploads;

        private Pooled(Upstream upstream, HttpClientAgent client, HttpClientAgent uploads) {
            this.upstream = upstream;
            this.client = client;
            this.uploads = uploads;
        }

        /** How it is configured. */
        public Upstream upstream() {
            return upstream;
        }

        /**
         * Takes a connection. If the future fails, nothing was sent; when it succeeds nothing was sent either, and the
         * request may be written.
         */
        public Future<HttpClientRequest> request(
                HttpMethod method, String uri, MultiMap headers, @Nullable HostAndPort host) {
            return request(client, method, uri, headers, host);
        }

        /**
         * The same for a request whose body is yet to come. It has connections of its own: a client that sends slowly keeps
         * one for as long as it likes, and all of them must not keep out a request that is there.
         */
        public Future<HttpClientRequest> upload(
                HttpMethod method, String uri, MultiMap headers, @Nullable HostAndPort host) {
            return request(uploads, method, uri, headers, host);
        }

        private Future<HttpClientRequest> request(
                HttpClientAgent client, HttpMethod method, String uri, MultiMap headers, @Nullable HostAndPort host) {
            RequestOptions options = new RequestOptions()
                    .setMethod(method)
                    .setHost(upstream.url().getHost())
                    .setPort(upstream.port())
                    .setSsl(upstream.isSecure())
                    .setURI(upstream.prefix() + uri)
                    .setHeaders(headers)
                    .setFollowRedirects(false)
                    .setConnectTimeout(upstream.timeouts().connect().toMillis())
                    .setIdleTimeout(upstream.timeouts().response().toMillis());
            Future<HttpClientRequest> request = client.request(options);
            return upstream.keepHost() && host != null ? request.map(it -> it.authority(host)) : request;
        }
    }

    /** Opens no connection yet. */
    public Upstreams(Vertx vertx, List<Upstream> upstreams, int eventLoops) {
        for (Upstream upstream : upstreams) {
            UnexpectedBytes unexpected = new UnexpectedBytes(upstream.name(), System::nanoTime);
            int share = Math.max(1, (upstream.pool().connectionsMax() + eventLoops - 1) / eventLoops);
            int uploads = Math.max(1, share / UPLOADS_SHARE);
            int others = Math.max(1, share - uploads);
            pools.add(new Pooled(
                    upstream,
                    client(vertx, upstream, others, unexpected),
                    client(vertx, upstream, uploads, unexpected)));
        }
    }

    private static HttpClientAgent client(
            Vertx vertx, Upstream upstream, int connectionsMax, UnexpectedBytes unexpected) {
        Upstream.Pool pool = upstream.pool();
        HttpClientOptions options = new HttpClientOptions()
                .setConnectTimeout((int) upstream.timeouts().connect().toMillis())
                .setKeepAliveTimeout(Math.max(1, (int) pool.idle().toSeconds()))
                .setMaxInitialLineLength(HEADER_BYTES_MAX)
                .setMaxHeaderSize(HEADER_BYTES_MAX)
                .setDecompressionSupported(false)
                .setTcpNoDelay(true)
                .setVerifyHost(true);
        if (pool.http2()) {
            options.setProtocolVersion(HttpVersion.HTTP_2)
                    .setUseAlpn(upstream.isSecure())
                    .setHttp2ClearTextUpgrade(false);
        }
        Authorities authorities = upstream.authorities();
        if (authorities != null) {
            options.setTrustOptions(TrustOptions.wrap(authorities.trustManagers()));
        }
        PoolOptions poolOptions = new PoolOptions()
                .setHttp1MaxSize(connectionsMax)
                .setMaxLifetimeUnit(TimeUnit.SECONDS)
                .setMaxWaitQueueSize(pool.queueMax());
        return vertx.httpClientBuilder()
                .with(options)
                .with(poolOptions)
                .withConnectHandler(connection -> connected(connection, unexpected))
                .build();
    }

    private static void connected(HttpConnection connection, UnexpectedBytes unexpected) {
        // Without a handler Vert.x logs as an error what every exchange on it hears anyway.
        connection.exceptionHandler(failure -> log.debug("A connection to an upstream failed", failure));
        if (connection instanceof Http1ClientConnection http1) {
            UpstreamCodec.install(http1, HEADER_BYTES_MAX, unexpected);
        }
        InterimFilter.install(connection);
    }

    /** The upstream for a path: the one with the longest matching prefix. */
    public @Nullable Pooled forPath(String path) {
        return Upstream.forPath(pools, pooled -> pooled.upstream, path);
    }

    /** Closes all connections. */
    public Future<Void> close() {
        return Future.all(pools.stream()
                        .flatMap(pooled -> Stream.of(pooled.client, pooled.uploads))
                        .map(HttpClientAgent::close)
                        .toList())
                .mapEmpty();
    }
}
