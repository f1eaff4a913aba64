package dev.onlyonce.benchmarks;

import com.zaxxer.hikari.HikariDataSource;
import io.vertx.core.DeploymentOptions;
import io.vertx.core.Future;
import io.vertx.core.VerticleBase;
import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpClient;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.PoolOptions;
import java.io.IOException;
import java.io.PrintStream;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * The gateway that one would write by hand: the same proxy stack, one statement to claim and one to record for each request,
 * with a connection from a pool for each. It leaves out everything else that a gateway does (fingerprints, limits, profiles,
 * leases), which is in its favour. In a process of its own: {@code port-of-the-service JDBC-URL}.
 */
final class StatementProxy extends VerticleBase {
    static final String CHILD = "statement-proxy-child";
    /** More would only wait for connections. */
    private static final int THREADS = 4 * Databases.POOL;

    /** Any free port, the same for all event loops. */
    private static final int SHARED_FREE_PORT = -1;

    private final int service;
    private final HikariDataSource pool;
    private final AtomicInteger port;
    private final Naive naive = Naive.on(Databases.Kind.POSTGRESQL);

    private StatementProxy(int service, HikariDataSource pool, AtomicInteger port) {
        this.service = service;
        this.pool = pool;
        this.port = port;
    }

    /** Serves on as many event loops as the gateway has, until its standard input ends. */
    static void serve(String[] args, PrintStream out) throws Exception {
        int loops = Runtime.getRuntime().availableProcessors();
        Vertx vertx = Vertx.vertx(new VertxOptions()
                .setPreferNativeTransport(true)
                .setEventLoopPoolSize(loops)
                .setWorkerPoolSize(THREADS));
        try (Databases databases = new Databases()) {
            HikariDataSource pool = databases.pool(args[2], Databases.POOL);
            Naive.createTable(Databases.Kind.POSTGRESQL, pool);
            AtomicInteger port = new AtomicInteger();
            vertx.deployVerticle(
                            () -> new StatementProxy(Integer.parseInt(args[1]), pool, port),
                            new DeploymentOptions().setInstances(loops))
                    .toCompletionStage()
                    .toCompletableFuture()
                    .get();
            out.println(port);
            awaitEnd();
        }
    }

    @Override
    public Future<?> start() {
        HttpClient toService = vertx.createHttpClient(new PoolOptions().setHttp1MaxSize(512));
        return vertx.createHttpServer()
                .requestHandler(request -> handle(request, toService))
                .listen(SHARED_FREE_PORT, "127.0.0.1")
                .onSuccess(server -> port.set(server.actualPort()));
    }

    private static void awaitEnd() throws IOException {
        while (System.in.read() >= 0) {
            // Nothing is expected.
        }
    }

    private void handle(HttpServerRequest request, HttpClient client) {
        String key = request.getHeader("Idempotency-Key");
        Object token = naive.newToken();
        request.body()
                .compose(body -> blocking(() -> {
                            naive.claim(pool, key, token);
                            return body;
                        })
                        .compose(claimed -> client.request(HttpMethod.POST, service, "127.0.0.1", request.uri()))
                        .compose(forward -> forward.send(body))
                        .compose(answer -> answer.body()
                                .compose(bytes -> blocking(() -> {
                                    naive.settle(pool, key, token, bytes.getBytes());
                                    return bytes;
                                }))
                                .onSuccess(bytes -> request.response()
                                        .setStatusCode(answer.statusCode())
                                        .end(bytes))))
                .onFailure(failure -> request.response().setStatusCode(500).end());
    }

    private Future<Buffer> blocking(Callable<Buffer> work) {
        return vertx.executeBlocking(work, false);
    }
}
