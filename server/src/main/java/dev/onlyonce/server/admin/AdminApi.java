package dev.onlyonce.server.admin;

import static java.util.Objects.requireNonNull;

import dev.onlyonce.server.config.HostNames;
import dev.onlyonce.server.config.Settings;
import dev.onlyonce.server.observe.Metrics;
import dev.onlyonce.sql.connections.SqlDatabase;
import dev.onlyonce.sql.schema.Schema;
import dev.onlyonce.store.StoreException;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaderValues;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.WorkerExecutor;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpServer;
import io.vertx.core.http.HttpServerOptions;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.net.HostAndPort;
import java.nio.charset.StandardCharsets;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The operators' listener: {@code /v1/…} with a credential; health and metrics without, because the programs that read them
 * have none and they tell no keys. Listens on loopback unless configured otherwise.
 */
public final class AdminApi {
    private static final Logger log = LoggerFactory.getLogger(AdminApi.class);
    private static final int BODY_BYTES_MAX = 20 << 20;
    private static final long LINGER_MILLIS = 2000;
    private static final int PAGE = 100;
    /** One that hangs does not hold up the next. */
    private static final int PROBES_MAX = 2;

    private static final String NOT_MEANT =
            "The admin API is not known by this host name: use its address, or list the name under admin: {names: […]}";
    /** Tells an admin API from a service: clients look for it before they send their credential. */
    static final String CHALLENGE = "Bearer realm=\"onlyonce-admin\"";

    private final Vertx vertx;
    /** Threads of their own: operators may wait for long, such as for an eviction. */
    private final WorkerExecutor probes;

    private final AdminOperator operator;
    private final AdminToken token;
    private final Metrics metrics;
    private final BooleanSupplier ready;
    private final Supplier<List<String>> risks;
    private final Set<String> names = new HashSet<>();
    private @Nullable HttpServer server;

    /**
     * What it needs.
     *
     * @param health the answers to probes
     */
    public record Parts(Vertx vertx, AdminOperator operator, AdminToken token, Metrics metrics, Health health) {}

    /**
     * The answers to probes.
     *
     * @param ready whether the gateway takes requests and its store answers; may block
     * @param risks what the store may lose because its owner has accepted that
     */
    public record Health(BooleanSupplier ready, Supplier<List<String>> risks) {}

    /** Does not listen yet. */
    public AdminApi(Parts parts) {
        vertx = parts.vertx();
        probes = vertx.createSharedWorkerExecutor("onlyonce-probes", PROBES_MAX);
        operator = parts.operator();
        token = parts.token();
        metrics = parts.metrics();
        ready = parts.health().ready();
        risks = parts.health().risks();
    }

    /** Opens the port. */
    public Future<HttpServer> listen(Settings.Admin admin) {
        admin.names().forEach(name -> names.add(HostNames.normal(name)));
        names.add(HostNames.normal(admin.host()));
        server = vertx.createHttpServer(
                new HttpServerOptions().setIdleTimeout(60).setHttp2ClearTextEnabled(false));
        return server.requestHandler(this::handle).listen(admin.port(), admin.host());
    }

    /** The port. */
    public int port() {
        return server == null ? -1 : server.actualPort();
    }

    private record Reply(int status, String type, byte[] body) {
        static Reply json(int status, Object value) {
            return new Reply(status, "application/json", Json.write(value));
        }

        static Reply problem(int status, String detail) {
            return new Reply(
                    status,
                    "application/problem+json",
                    Json.write(Map.of("type", "about:blank", "status", status, "detail", detail)));
        }

        static Reply text(int status, String type, String text) {
            return new Reply(status, type, text.getBytes(StandardCharsets.UTF_8));
        }
    }

    private void handle(HttpServerRequest request) {
        String path = request.path() == null ? "" : request.path();
        switch (path) {
            case "/health/live" -> send(request, Reply.text(200, "text/plain", "live\n"));
            case "/health/ready" -> answer(request, probes.executeBlocking(this::readiness, false));
            default -> {
                if (isMeant(request)) {
                    answer(request, path);
                } else {
                    send(request, Reply.problem(421, NOT_MEANT));
                }
            }
        }
    }

    private void answer(HttpServerRequest request, String path) {
        if (path.equals("/metrics")) {
            inBackground(request, () -> Reply.text(200, "text/plain; version=0.0.4; charset=utf-8", metrics.scrape()));
        } else {
            withCredential(request, path);
        }
    }

    /** A page that an operator looks at may come here under a name of its own (DNS rebinding); an address cannot be lent. */
    private boolean isMeant(HttpServerRequest request) {
        HostAndPort authority = request.authority();
        if (authority == null) {
            // Browsers take names that are none here.
            return !request.headers().contains(HttpHeaderNames.HOST);
        }
        return HostNames.isMachine(authority.host()) || names.contains(HostNames.normal(authority.host()));
    }

    private Reply readiness() {
        return ready.getAsBoolean()
                ? Reply.text(200, "text/plain", "ready\n" + acceptedRisks())
                : Reply.text(503, "text/plain", "not ready\n");
    }

    /** A line for each; the state stays ready, because somebody has decided so. */
    private String acceptedRisks() {
        return risks.get().stream().map(risk -> "accepted risk: " + risk + "\n").collect(Collectors.joining());
    }

    private void withCredential(HttpServerRequest request, String path) {
        String given = request.getHeader(HttpHeaderNames.AUTHORIZATION);
        if (!token.matches(given)) {
            request.response().putHeader(HttpHeaderNames.WWW_AUTHENTICATE, CHALLENGE);
            String detail = given == null
                    ? "A credential is needed: Authorization: Bearer <admin token>"
                    : "The credential is wrong: it is not the one in this gateway's admin-token file";
            send(request, Reply.problem(401, detail));
            request.resume();
            return;
        }
        Buffer body = Buffer.buffer();
        request.handler(chunk -> {
            if (request.response().ended()) {
                return;
            }
            if (body.length() + chunk.length() > BODY_BYTES_MAX) {
                tooLarge(request);
            } else {
                body.appendBuffer(chunk);
            }
        });
        request.endHandler(ended -> {
            if (!request.response().ended()) {
                inBackground(request, () -> answer(request, path, body.getBytes()));
            }
        });
    }

    /** Closes, but not before there was time to read the answer: closing on one who still sends would take it away. */
    private void tooLarge(HttpServerRequest request) {
        request.response().putHeader(HttpHeaderNames.CONNECTION, HttpHeaderValues.CLOSE);
        send(request, Reply.problem(413, "The body is larger than " + (BODY_BYTES_MAX >> 20) + " MiB"));
        vertx.setTimer(LINGER_MILLIS, over -> request.connection().close());
    }

    private void inBackground(HttpServerRequest request, Callable<Reply> work) {
        answer(request, vertx.executeBlocking(work, false));
    }

    private static void answer(HttpServerRequest request, Future<Reply> reply) {
        reply.onComplete(done -> {
            if (done.succeeded()) {
                send(request, done.result());
            } else {
                log.error("The admin API failed", done.cause());
                send(request, Reply.problem(500, "It failed; the gateway's log says why"));
            }
        });
    }

    private static void send(HttpServerRequest request, Reply reply) {
        if (!request.response().ended() && !request.response().closed()) {
            request.response()
                    .setStatusCode(reply.status())
                    .putHeader(HttpHeaderNames.CONTENT_TYPE, reply.type())
                    .putHeader(HttpHeaderNames.CACHE_CONTROL, "no-store")
                    .end(Buffer.buffer(reply.body()));
        }
    }

    private Reply answer(HttpServerRequest request, String path, byte[] body) {
        try {
            Optional<AdminAction> action = AdminAction.of(request.method().name(), path);
            return action.isPresent()
                    ? act(action.get(), request, body)
                    : Reply.problem(
                            404, "There is no " + request.method() + " " + path + "; see docs/reference/admin-api.md");
        } catch (AdminOperator.Refused e) {
            return Reply.problem(e.isAbsent() ? 404 : 409, String.valueOf(e.getMessage()));
        } catch (IllegalArgumentException e) {
            return Reply.problem(400, String.valueOf(e.getMessage()));
        } catch (StoreException e) {
            return Reply.problem(503, "The store cannot be used: " + e.getMessage());
        }
    }

    /** What is posted to {@code /v1/keys/resolve}; also what a service posts that found out about an outcome by itself. */
    public record Resolve(AdminOperator.KeyName key, AdminOperator.Finding finding) {
        /** Checks that what came from outside is whole. */
        public Resolve {
            requireNonNull(key, "key is missing");
            requireNonNull(finding, "finding is missing");
        }
    }

    /** What is posted to {@code /v1/keys/evict}. */
    public record Evict(AdminOperator.KeyName key, String reason) {
        /** Checks that what came from outside is whole. */
        public Evict {
            requireNonNull(key, "key is missing");
            requireNonNull(reason, "reason is missing");
        }
    }

    /** What is posted to {@code /v1/outbox/retry} and {@code /v1/outbox/drop}. */
    public record Letter(long id, String reason) {
        /** Checks that what came from outside is whole. */
        public Letter {
            requireNonNull(reason, "reason is missing");
        }
    }

    private Reply act(AdminAction action, HttpServerRequest request, byte[] body) {
        return switch (action) {
            case KEYS_LIST -> Reply.json(200, operator.keys(filter(request)));
            case KEYS_SHOW ->
                operator.key(name(request))
                        .map(view -> Reply.json(200, view))
                        .orElseGet(() -> Reply.problem(404, "There is no such key of this tenant"));
            case KEYS_HISTORY -> Reply.json(200, operator.history(name(request)));
            case KEYS_RESOLVE -> {
                Resolve resolve = Json.read(body, Resolve.class);
                yield Reply.json(200, operator.resolve(resolve.key(), resolve.finding()));
            }
            case KEYS_EVICT -> {
                Evict evict = Json.read(body, Evict.class);
                operator.evict(evict.key(), evict.reason());
                yield Reply.json(200, Map.of("evicted", true));
            }
            case RECONCILE_LIST -> Reply.json(200, operator.reconcileList(limit(request)));
            case RECONCILE_RUN -> Reply.json(200, operator.reconcileRun());
            case OUTBOX_LIST -> Reply.json(200, operator.outboxList(after(request), limit(request)));
            case OUTBOX_RETRY -> {
                Letter letter = Json.read(body, Letter.class);
                operator.outboxRetry(letter.id(), letter.reason());
                yield Reply.json(200, Map.of("retried", true));
            }
            case OUTBOX_DROP -> {
                Letter letter = Json.read(body, Letter.class);
                operator.outboxDrop(letter.id(), letter.reason());
                yield Reply.json(200, Map.of("dropped", true));
            }
            case SCHEMA_STATUS -> Reply.json(200, operator.schemaStatus());
            case SCHEMA_PRINT ->
                Reply.text(200, "text/plain; charset=utf-8", Schema.script(database(request.getParam("database"))));
            case SCHEMA_APPLY -> Reply.json(200, operator.schemaApply());
            case STATS -> Reply.json(200, operator.stats());
        };
    }

    private static SqlDatabase database(@Nullable String name) {
        if (name == null) {
            throw new IllegalArgumentException("say which database: ?database=postgresql, mysql, sqlite or h2");
        }
        try {
            return SqlDatabase.valueOf(name.toUpperCase(Locale.ROOT));
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException("no database \"" + name + "\"; use postgresql, mysql, sqlite or h2", e);
        }
    }

    private static AdminOperator.KeyName name(HttpServerRequest request) {
        String tenant = request.getParam("tenant");
        String key = request.getParam("key");
        if (tenant == null || key == null) {
            throw new IllegalArgumentException("say which key: ?tenant=…&key=…");
        }
        return new AdminOperator.KeyName(tenant, key, request.getParam("operation"));
    }

    private static AdminOperator.KeyFilter filter(HttpServerRequest request) {
        return new AdminOperator.KeyFilter(
                request.getParam("tenant"),
                request.getParam("operation"),
                request.getParam("state"),
                request.getParam("olderThan"),
                request.getParam("after"),
                limit(request));
    }

    private static int limit(HttpServerRequest request) {
        long limit = number(request, "limit", PAGE);
        // What is no int is refused as that would be.
        return limit == (int) limit ? (int) limit : Integer.MAX_VALUE;
    }

    private static long after(HttpServerRequest request) {
        return number(request, "after", 0);
    }

    private static long number(HttpServerRequest request, String name, long otherwise) {
        String number = request.getParam(name);
        try {
            return number == null ? otherwise : Long.parseLong(number);
        } catch (NumberFormatException e) {
            throw new IllegalArgumentException("\"" + name + "\" is not a number", e);
        }
    }
}
