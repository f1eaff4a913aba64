package dev.onlyonce.server.gateway;

import dev.onlyonce.Onlyonce;
import dev.onlyonce.Reconciler;
import dev.onlyonce.Way;
import dev.onlyonce.http.Boundary;
import dev.onlyonce.http.Operation;
import dev.onlyonce.http.admin.LocalOperator;
import dev.onlyonce.http.admin.NodeWatch;
import dev.onlyonce.http.admin.Operations;
import dev.onlyonce.http.admin.Program;
import dev.onlyonce.http.admin.TokenAccess;
import dev.onlyonce.micrometer.Backlog;
import dev.onlyonce.server.admin.AdminApi;
import dev.onlyonce.server.admin.AdminTokens;
import dev.onlyonce.server.admin.OperatorParts;
import dev.onlyonce.server.config.Listen;
import dev.onlyonce.server.config.Settings;
import dev.onlyonce.server.config.Tenancy;
import dev.onlyonce.server.config.Upstream;
import dev.onlyonce.server.observe.Metrics;
import dev.onlyonce.server.observe.Traces;
import dev.onlyonce.server.proxy.Errors;
import dev.onlyonce.server.proxy.Front;
import dev.onlyonce.server.proxy.MemoryBudget;
import dev.onlyonce.server.proxy.Proxy;
import dev.onlyonce.server.proxy.ReservedHeaders;
import dev.onlyonce.sql.SqlStore;
import dev.onlyonce.store.OutboxCounts;
import dev.onlyonce.store.Store;
import dev.onlyonce.store.Time;
import io.vertx.core.Context;
import io.vertx.core.DeploymentOptions;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import io.vertx.core.transport.Transport;
import java.lang.management.ManagementFactory;
import java.net.http.HttpClient;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A running gateway. Started by {@link #start}, ended by {@link #drain}; in between it needs nobody.
 */
public final class Gateway {
    private static final Logger log = LoggerFactory.getLogger(Gateway.class);

    private static final long MILLIS_PER_SECOND = 1000;
    /** One third of the memory for clients is for comparing large bodies, two thirds hold bodies and answers. */
    private static final int COMPARE_SHARE = 3;
    /** How many requests of operators and probes may block at once. */
    private static final int OPERATORS_MAX = 8;
    /** How long to wait between two looks at what is still open. */
    private static final Duration LOOK_EVERY = Duration.ofMillis(20);
    /** What is abandoned must still be recorded as unknown. */
    private static final Duration SETTLE_MAX = Duration.ofSeconds(10);

    /** Those that do not change while it runs. */
    private final Settings settings;

    private final StoreHealth health;
    private final Vertx vertx;
    /** With an event loop of its own: whatever the clients' event loops do, an operator and a probe get an answer. */
    private final Vertx operators =
            Vertx.vertx(new VertxOptions().setEventLoopPoolSize(1).setWorkerPoolSize(OPERATORS_MAX));

    private final Time time = Time.system();
    private final NodeWatch watch = new NodeWatch(time);
    private final Metrics metrics;
    private final Traces traces;
    private final Onlyonce once;
    /** Replaced when the configuration is read again. */
    private volatile Protecting protecting;

    private final AdminApi admin;
    private final Workers workers;
    private final UnmatchedRequests unmatched;
    private final MemoryBudget memory;
    private final AtomicInteger connections = new AtomicInteger();
    private final AtomicInteger open = new AtomicInteger();
    private final Backlog backlog;
    private final List<Front> fronts = new CopyOnWriteArrayList<>();
    private final List<GatewayLoop> loops = new CopyOnWriteArrayList<>();
    private volatile boolean draining;

    private Gateway(Settings settings, Store store, TokenAccess.Credentials tokens) {
        this.settings = settings;
        vertx = vertx(settings.listen());
        metrics = new Metrics(settings.observe().tenantTagsMax());
        traces = Traces.to(settings.observe().otlpEndpoint());
        int bytesMax = settings.listen().limits().bufferBytesMax();
        memory = new MemoryBudget(bytesMax - bytesMax / COMPARE_SHARE, metrics::clientsCut);
        workers = new Workers(bytesMax / COMPARE_SHARE);
        health = new StoreHealth(store::checkWritable, workers::begin, time);
        List<Operation> operations = settings.protection().operations();
        Onlyonce.Builder builder = Onlyonce.builder(store)
                .time(time)
                .auditRetention(settings.store().auditRetention())
                .listener(metrics)
                .listener(health)
                .listener(watch);
        if (settings.node() != null) {
            builder.node(settings.node());
        }
        operations.forEach(operation -> builder.operation(operation.name(), operation.policy()));
        reconcilers().forEach(builder::reconciler);
        once = builder.build();
        unmatched = new UnmatchedRequests(settings.protection().refusals(), metrics, time);
        protecting = protecting(settings.protection());
        LocalOperator operator = OperatorParts.open(once, store.origin(), new Known(), watch, "operator", () -> {});
        AdminApi.Health probes = new AdminApi.Health(this::isReady, store::acceptedRisks);
        admin = new AdminApi(new AdminApi.Parts(operators, operator, access(tokens), metrics, probes));
        backlog = metrics.watch(
                once,
                () -> store.origin() instanceof SqlStore sql ? sql.countOutbox(Backlog.COUNT_MAX) : OutboxCounts.NONE);
        metrics.gauge("gateway.connections", "Open client connections", connections::get);
        metrics.gauge("gateway.exchanges", "Protected exchanges under way", open::get);
        metrics.gauge("gateway.memory", "Bytes that clients' bodies and unread answers take", memory::reserved);
    }

    /** What is protected, and the settings that say so. */
    private record Protecting(Settings.Protection settings, GatewayLoop.Protection parts) {}

    private Protecting protecting(Settings.Protection wanted) {
        Tenancy tenancy = wanted.tenancy();
        Boundary.Builder builder = Boundary.builder(once)
                .operations(wanted.operations())
                .credentials(tenancy instanceof Tenancy.Shared shared ? shared.credentials() : List.of())
                .limits(wanted.limits());
        // A client can ask for any host name.
        boolean chosen = tenancy instanceof Tenancy.Shared shared && shared.fixed() == null;
        Boundary boundary = (chosen ? builder.limitTogether() : builder).build();
        return new Protecting(
                wanted,
                new GatewayLoop.Protection(
                        boundary,
                        new RepeatableOperations(boundary.operations()),
                        Tenants.of(tenancy, time),
                        unmatched));
    }

    /**
     * Goes on with other operations, tenants, limits and refusals, and with the certificate that is in its files now. Requests under way
     * end as they began; connections stay. Blocks.
     *
     * @param next anything else in it stays as it was, and is the caller's to compare
     * @throws IllegalArgumentException if they cannot be used, or need a restart; then nothing changes
     * @throws IllegalStateException if the certificate cannot be used; then nothing changes
     */
    public synchronized void reload(Settings next) {
        Settings.Protection wanted = next.protection();
        if (!source(wanted.tenancy()).equals(source(settings.protection().tenancy()))) {
            throw new IllegalArgumentException(
                    "where requests say whose they are changes with a restart only (tenants)");
        }
        if (!wanted.lookUps().equals(settings.protection().lookUps())) {
            throw new IllegalArgumentException("look-ups change with a restart only (operations)");
        }
        Protecting prepared = protecting(wanted);
        wanted.operations()
                .forEach(operation -> once.registry().declare(operation.name(), operation.policy(), Way.LEASED));
        Listen.Tls tls = next.listen().tls();
        if (tls != null) {
            await(Future.all(fronts.stream().map(front -> front.renew(tls)).toList()));
        }
        unmatched.use(wanted.refusals());
        protecting = prepared;
        log.info("Reloaded: {} operations", wanted.operations().size());
    }

    /** What the headers that are passed on depend on. */
    private static Object source(Tenancy tenancy) {
        if (tenancy instanceof Tenancy.ApiKeys keys) {
            return List.of("api keys", keys.header());
        } else if (tenancy instanceof Tenancy.Shared shared) {
            return List.of("shared", shared.headers());
        }
        return tenancy instanceof Tenancy.TrustedHeader trusted ? trusted : "tokens";
    }

    private TokenAccess access(TokenAccess.Credentials tokens) {
        Settings.Admin listener = settings.admin();
        List<String> names = new ArrayList<>(listener.names());
        names.add(listener.host());
        Settings.Payloads payloads = listener.console().payloads();
        TokenAccess.Sight sight = new TokenAccess.Sight(
                listener.console().wholeKeys(),
                payloads != Settings.Payloads.NOBODY,
                payloads == Settings.Payloads.EVERYBODY);
        return new TokenAccess(tokens, sight, names, time);
    }

    /** The node behind it, for tests. */
    Onlyonce once() {
        return once;
    }

    private static Vertx vertx(Listen listen) {
        VertxOptions options =
                new VertxOptions().setEventLoopPoolSize(eventLoops()).setPreferNativeTransport(true);
        if (!listen.ioUring()) {
            return Vertx.vertx(options);
        }
        // Null where there is no such thing, as on other systems than Linux.
        Transport ioUring = Transport.IO_URING;
        if (ioUring == null || !ioUring.available()) {
            throw new IllegalStateException(
                    "io_uring is not available here (containers often forbid it); remove io-uring from listen",
                    ioUring == null ? null : ioUring.unavailabilityCause());
        }
        return Vertx.builder().with(options).withTransport(ioUring).build();
    }

    private static int eventLoops() {
        return Math.max(1, Runtime.getRuntime().availableProcessors());
    }

    /**
     * Starts on a store that stays the caller's to close, and returns when the port is open.
     *
     * @throws IllegalArgumentException if the settings cannot be used
     * @throws IllegalStateException if the port cannot be opened
     */
    public static Gateway start(Settings settings, Store store) {
        TokenAccess.Credentials tokens = AdminTokens.load(settings.admin(), settings.data());
        Gateway gateway = new Gateway(settings, store, tokens);
        try {
            gateway.listen();
            return gateway;
        } catch (RuntimeException e) {
            gateway.close();
            throw e;
        }
    }

    private void listen() {
        Listen.Limits limits = settings.listen().limits();
        GatewayLoop.Shared shared = new GatewayLoop.Shared(
                vertx,
                () -> protecting.parts(),
                workers,
                new GatewayLoop.Room(open, memory, limits),
                new GatewayLoop.Telemetry(metrics, traces, time));
        Front.Plan plan = new Front.Plan(
                settings.listen(),
                settings.upstreams(),
                reservedHeaders(settings.protection().tenancy()),
                eventLoops(),
                connections,
                memory,
                new Errors(vertx, metrics::upstreamFailed),
                (proxy, upstreams) -> loop(shared, proxy));
        open(
                settings.listen().host() + ":" + settings.listen().port(),
                () -> vertx.deployVerticle(
                                () -> {
                                    Front front = new Front(plan);
                                    fronts.add(front);
                                    return front;
                                },
                                new DeploymentOptions().setInstances(eventLoops()))
                        .compose(deployed ->
                                Future.all(fronts.stream().map(Front::listen).toList())));
        open(settings.admin().host() + ":" + settings.admin().port(), () -> admin.listen(settings.admin()));
    }

    /** Those that say who the client is: another spelling must not say something else to the service. */
    private static ReservedHeaders reservedHeaders(Tenancy tenancy) {
        if (tenancy instanceof Tenancy.TrustedHeader trusted) {
            return new ReservedHeaders(List.of(trusted.header()), trusted);
        } else if (tenancy instanceof Tenancy.ApiKeys keys) {
            return new ReservedHeaders(List.of(keys.header()), null);
        }
        return new ReservedHeaders(tenancy instanceof Tenancy.Shared shared ? shared.headers() : List.of(), null);
    }

    private Map<String, Reconciler> reconcilers() {
        Map<Upstream, HttpClient> clients = new HashMap<>();
        Map<String, Reconciler> reconcilers = new HashMap<>();
        settings.protection().lookUps().forEach((operation, lookUp) -> {
            Upstream upstream = lookUp.upstream(settings.upstreams());
            if (upstream == null) {
                throw new IllegalArgumentException(
                        "the look-up of " + operation + " asks for " + lookUp.path() + ", which no upstream takes");
            }
            HttpClient client = clients.computeIfAbsent(upstream, UpstreamReconciler::client);
            reconcilers.put(operation, new UpstreamReconciler(lookUp, upstream, client));
        });
        return reconcilers;
    }

    private static void open(String where, Supplier<Future<?>> listening) {
        try {
            await(listening.get());
        } catch (IllegalStateException e) {
            throw new IllegalStateException("cannot listen on " + where + ": " + e.getMessage(), e);
        }
    }

    private GatewayLoop loop(GatewayLoop.Shared shared, Proxy proxy) {
        Context context = Vertx.currentContext();
        GatewayLoop loop = new GatewayLoop(shared, proxy, context);
        loops.add(loop);
        return loop;
    }

    /** The port for clients. */
    public int port() {
        return fronts.get(0).port();
    }

    /** The port for operators. */
    public int adminPort() {
        return admin.port();
    }

    /** What operators ask. */
    private final class Known implements Program {
        @Override
        public String kind() {
            return "gateway";
        }

        @Override
        public String handlerName() {
            return "upstream";
        }

        @Override
        public Optional<Boundary> boundary() {
            return Optional.of(protecting.parts().boundary());
        }

        @Override
        public List<Operations.Unprotected> unprotected() {
            return unmatched.seen();
        }

        @Override
        public Optional<String> coverageRule() {
            return Optional.of(
                    protecting.settings().refusals().unmatched()
                            ? "POST and PATCH requests that no operation matches are refused."
                            : "POST and PATCH requests that no operation matches pass, unprotected.");
        }

        @Override
        public List<Operations.Named> tenantLimits() {
            return Operations.limits(protecting.settings().limits());
        }

        @Override
        public Map<String, Number> numbers() {
            Map<String, Number> numbers = new LinkedHashMap<>();
            numbers.put("connections", connections.get());
            numbers.put("exchanges", open.get());
            numbers.put("liveClaims", once.liveClaims());
            once.registry().cache().ifPresent(cache -> {
                numbers.put("cacheAnswers", cache.well() ? 1 : 0);
                numbers.put("cacheReplayed", cache.replayed());
                numbers.put("cacheFailed", cache.failed());
            });
            numbers.put("uptimeSeconds", ManagementFactory.getRuntimeMXBean().getUptime() / MILLIS_PER_SECOND);
            return numbers;
        }
    }

    /** Whether it takes requests and its store answers. */
    private boolean isReady() {
        return !draining && health.isWell();
    }

    /**
     * Tells load balancers that it goes, and serves everybody for as long as the settings say, so that they have time to send
     * their clients elsewhere: it is not ready any more, and each answer of HTTP/1.x ends its connection. Blocks.
     */
    public void leave() {
        draining = true;
        Duration grace = settings.listen().limits().drainGrace();
        log.info("Leaving: not ready any more, but serving for another {} ms", grace.toMillis());
        fronts.forEach(Front::leave);
        await(() -> false, time.nanos() + grace.toNanos());
    }

    /**
     * Takes no more requests, lets those under way end, and stops. What the upstream has not answered in time is recorded as
     * unknown: no claim is left behind. Blocks.
     */
    public void drain() {
        draining = true;
        Duration max = settings.listen().limits().drainTimeout();
        log.info("Draining: {} protected exchanges are open", open.get());
        long deadline = time.nanos() + max.toNanos();
        // What is abandoned at the deadline must still be answered.
        Future<?> closed = Future.join(
                fronts.stream().map(front -> front.drain(max.plus(SETTLE_MAX))).toList());
        await(() -> open.get() == 0 && closed.isComplete(), deadline);
        if (open.get() > 0) {
            log.warn("{} exchanges did not end within {}; what the upstream has is recorded as unknown", open, max);
            loops.forEach(loop -> loop.context().runOnContext(now -> loop.abandonAll()));
            await(() -> open.get() == 0, time.nanos() + SETTLE_MAX.toNanos());
        }
        if (!closed.isComplete()) {
            log.warn("Connections are cut");
        }
        close();
        log.info("Stopped");
    }

    private void await(BooleanSupplier end, long deadline) {
        while (!end.getAsBoolean() && time.nanos() - deadline < 0) {
            try {
                time.await(new CompletableFuture<Void>(), LOOK_EVERY);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                return;
            }
        }
    }

    private void close() {
        workers.close();
        backlog.close();
        once.close();
        time.close();
        traces.close();
        try {
            await(Future.join(vertx.close(), operators.close()));
        } catch (IllegalStateException e) {
            log.warn("The event loops did not stop: {}", e.getMessage());
        }
        metrics.close();
    }

    private static <T> T await(Future<T> future) {
        try {
            return future.toCompletionStage().toCompletableFuture().get(1, TimeUnit.MINUTES);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted", e);
        } catch (ExecutionException | TimeoutException e) {
            Throwable cause = e.getCause() == null ? e : e.getCause();
            throw new IllegalStateException(cause.getMessage(), cause);
        }
    }
}
