package dev.onlyonce.server.admin;

import dev.onlyonce.http.Headers;
import dev.onlyonce.http.HttpAnswer;
import dev.onlyonce.http.admin.Access;
import dev.onlyonce.http.admin.AdminHandler;
import dev.onlyonce.http.admin.AdminRequest;
import dev.onlyonce.http.admin.LocalOperator;
import dev.onlyonce.http.admin.Replies;
import dev.onlyonce.server.config.Settings;
import dev.onlyonce.server.observe.Metrics;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaderValues;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.WorkerExecutor;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpServer;
import io.vertx.core.http.HttpServerOptions;
import io.vertx.core.http.HttpServerRequest;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The operators' listener: the console, and {@code /v1/…} for programs, as {@link AdminHandler} answers them; health and metrics
 * without a credential, because the programs that read them have none and they tell no keys. Listens on loopback unless configured
 * otherwise.
 */
public final class AdminApi {
    /** Where the console is. A path of its own keeps its cookie from services at other ports of this host. */
    static final String CONSOLE = "/console";

    private static final Logger log = LoggerFactory.getLogger(AdminApi.class);
    private static final long LINGER_MILLIS = 2000;
    /** One that hangs does not hold up the next. */
    private static final int PROBES_MAX = 2;

    private final Vertx vertx;
    /** Threads of their own: operators may wait for long, such as for an eviction. */
    private final WorkerExecutor probes;

    private final AdminHandler handler;
    private final Access access;
    private final Metrics metrics;
    private final BooleanSupplier ready;
    private final Supplier<List<String>> risks;
    private @Nullable HttpServer server;

    /**
     * What it needs.
     *
     * @param health the answers to probes
     */
    public record Parts(Vertx vertx, LocalOperator operator, Access access, Metrics metrics, Health health) {}

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
        access = parts.access();
        handler = new AdminHandler(parts.operator(), access, null);
        metrics = parts.metrics();
        ready = parts.health().ready();
        risks = parts.health().risks();
    }

    /** Opens the port. */
    public Future<HttpServer> listen(Settings.Admin admin) {
        server = vertx.createHttpServer(
                new HttpServerOptions().setIdleTimeout(60).setHttp2ClearTextEnabled(false));
        return server.requestHandler(this::handle).listen(admin.port(), admin.host());
    }

    /** The port. */
    public int port() {
        return server == null ? -1 : server.actualPort();
    }

    private void handle(HttpServerRequest request) {
        String path = request.path() == null ? "" : request.path();
        switch (path) {
            case "/health/live" -> send(request, Replies.text(200, "text/plain", "live\n"));
            case "/health/ready" -> answer(request, probes.executeBlocking(this::readiness, false));
            case "/metrics" -> metrics(request);
            default -> handled(request, handler.open(head(request, path)));
        }
    }

    private HttpAnswer readiness() {
        return ready.getAsBoolean()
                ? Replies.text(200, "text/plain", "ready\n" + acceptedRisks())
                : Replies.text(503, "text/plain", "not ready\n");
    }

    /** A line for each; the state stays ready, because somebody has decided so. */
    private String acceptedRisks() {
        return risks.get().stream().map(risk -> "accepted risk: " + risk + "\n").collect(Collectors.joining());
    }

    private void metrics(HttpServerRequest request) {
        Optional<HttpAnswer> refused = access.refuse(head(request, "/metrics"));
        if (refused.isPresent()) {
            send(request, refused.get());
        } else {
            inBackground(
                    request, () -> Replies.text(200, "text/plain; version=0.0.4; charset=utf-8", metrics.scrape()));
        }
    }

    private static AdminRequest head(HttpServerRequest request, String path) {
        boolean console = path.equals("/") || path.equals(CONSOLE) || path.startsWith(CONSOLE + "/");
        List<Headers.Field> fields = new ArrayList<>();
        request.headers().forEach(line -> fields.add(new Headers.Field(line.getKey(), line.getValue())));
        boolean loopback = request.remoteAddress() != null
                && request.remoteAddress().hostAddress() != null
                && request.remoteAddress().hostAddress().startsWith("127.");
        return new AdminRequest(
                request.method().name(),
                console ? CONSOLE : "",
                console && !path.equals("/") ? path.substring(CONSOLE.length()) : console ? "" : path,
                request.query(),
                new Headers(fields),
                new AdminRequest.Peer(
                        String.valueOf(
                                request.remoteAddress() == null
                                        ? ""
                                        : request.remoteAddress().hostAddress()),
                        loopback,
                        request.isSSL()));
    }

    private void handled(HttpServerRequest request, AdminHandler.Step step) {
        if (step instanceof AdminHandler.Step.Answered answered) {
            send(request, answered.answer());
            request.resume();
            return;
        }
        AdminHandler.Step.Read read = (AdminHandler.Step.Read) step;
        Buffer body = Buffer.buffer();
        request.handler(chunk -> {
            if (request.response().ended()) {
                return;
            }
            if (body.length() + chunk.length() > read.bytesMax()) {
                tooLarge(request, read.bytesMax());
            } else {
                body.appendBuffer(chunk);
            }
        });
        request.endHandler(ended -> {
            if (!request.response().ended()) {
                inBackground(request, () -> read.work().apply(body.getBytes()));
            }
        });
    }

    /** Closes, but not before there was time to read the answer: closing on one who still sends would take it away. */
    private void tooLarge(HttpServerRequest request, int bytesMax) {
        request.response().putHeader(HttpHeaderNames.CONNECTION, HttpHeaderValues.CLOSE);
        send(request, AdminHandler.tooLarge(bytesMax));
        vertx.setTimer(LINGER_MILLIS, over -> request.connection().close());
    }

    private void inBackground(HttpServerRequest request, Callable<HttpAnswer> work) {
        answer(request, vertx.executeBlocking(work, false));
    }

    private static void answer(HttpServerRequest request, Future<HttpAnswer> answer) {
        answer.onComplete(done -> {
            if (done.succeeded()) {
                send(request, done.result());
            } else {
                log.error("The admin API failed", done.cause());
                send(request, Replies.problem(500, "It failed; the gateway's log says why"));
            }
        });
    }

    private static void send(HttpServerRequest request, HttpAnswer answer) {
        if (request.response().ended() || request.response().closed()) {
            return;
        }
        request.response().setStatusCode(answer.status());
        answer.headers().fields().forEach(field -> request.response().headers().add(field.name(), field.value()));
        if (request.method().equals(HttpMethod.HEAD)) {
            request.response().end();
        } else {
            request.response().end(Buffer.buffer(answer.body()));
        }
    }
}
