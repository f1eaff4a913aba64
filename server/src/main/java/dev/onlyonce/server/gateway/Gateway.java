package dev.onlyonce.server.gateway;

import dev.onlyonce.Listener;
import dev.onlyonce.Onlyonce;
import dev.onlyonce.http.Boundary;
import dev.onlyonce.http.TenantLimits;
import dev.onlyonce.server.config.Settings;
import dev.onlyonce.server.proxy.Errors;
import dev.onlyonce.server.proxy.Front;
import dev.onlyonce.server.proxy.Proxy;
import dev.onlyonce.store.Store;
import dev.onlyonce.store.Time;
import io.vertx.core.Context;
import io.vertx.core.DeploymentOptions;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A running gateway. Started by {@link #start}, ended by {@link #drain}; in between it needs nobody.
 */
public final class Gateway {
    private static final Logger log = LoggerFactory.getLogger(Gateway.class);

    /** How long to wait between two looks at what is still open. */
    private static final Duration LOOK = Duration.ofMillis(20);
    /** What is abandoned must still be recorded as unknown. */
    private static final Duration SETTLE_MAX = Duration.ofSeconds(10);

    private final Settings settings;
    private final Vertx vertx;
    private final Time time = Time.system();
    private final Onlyonce once;
    private final Boundary boundary;
    private final Workers workers = new Workers();
    private final AtomicInteger connections = new AtomicInteger();
    private final AtomicInteger open = new AtomicInteger();
    private final List<Front> fronts = new CopyOnWriteArrayList<>();
    private final List<GatewayLoop> loops = new CopyOnWriteArrayList<>();
    private volatile boolean draining;

    private Gateway(Settings settings, Store store, List<Listener> listeners) {
        this.settings = settings;
        vertx = Vertx.vertx(
                new VertxOptions().setEventLoopPoolSize(eventLoops()).setPreferNativeTransport(true));
        Onlyonce.Builder builder = Onlyonce.builder(store).name(nodeName()).time(time);
        listeners.forEach(builder::listener);
        settings.protection()
                .operations()
                .forEach(operation -> builder.operation(operation.name(), operation.policy()));
        once = builder.build();
        Settings.TenantLimit limit = settings.protection().limits();
        boundary = Boundary.builder(once)
                .operations(settings.protection().operations())
                .limits(new TenantLimits(limit.newKeysPerSecond(), limit.liveMax(), limit.lookUpsPerSecond(), time))
                .build();
    }

    private static int eventLoops() {
        return Math.max(1, Runtime.getRuntime().availableProcessors());
    }

    private static String nodeName() {
        String name = ManagementFactory.getRuntimeMXBean().getName();
        return name.substring(0, Math.min(255, name.length()));
    }

    /**
     * Starts on a store that stays the caller's to close, and returns when the port is open.
     *
     * @throws IllegalArgumentException if the settings cannot be used
     * @throws IllegalStateException if the port cannot be opened
     */
    public static Gateway start(Settings settings, Store store, List<Listener> listeners) {
        Gateway gateway = new Gateway(settings, store, listeners);
        try {
            gateway.listen();
            return gateway;
        } catch (RuntimeException e) {
            gateway.close();
            throw e;
        }
    }

    private void listen() {
        Tenants tenants = Tenants.of(settings.protection().tenancy(), time);
        Runnable upstreamFailed = () -> {};
        GatewayLoop.Shared shared = new GatewayLoop.Shared(vertx, boundary, tenants, workers, open, upstreamFailed);
        Front.Plan plan = new Front.Plan(
                settings.listen(),
                settings.upstreams(),
                eventLoops(),
                connections,
                new Errors(upstreamFailed),
                (proxy, upstreams) -> loop(shared, proxy));
        try {
            await(vertx.deployVerticle(
                    () -> {
                        Front front = new Front(plan);
                        fronts.add(front);
                        return front;
                    },
                    new DeploymentOptions().setInstances(eventLoops())));
        } catch (IllegalStateException e) {
            throw new IllegalStateException(
                    "cannot listen on " + settings.listen().host() + ":"
                            + settings.listen().port() + ": " + e.getMessage(),
                    e);
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

    /** The engine, for operators. */
    public Onlyonce once() {
        return once;
    }

    /** The event loops, for the admin API. */
    public Vertx vertx() {
        return vertx;
    }

    /** How many client connections are open. */
    public int connections() {
        return connections.get();
    }

    /** How many protected exchanges are with the upstream or being settled. */
    public int openExchanges() {
        return open.get();
    }

    /** Whether it takes new requests. */
    public boolean isAccepting() {
        return !draining;
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
        List<Future<Void>> closing =
                fronts.stream().map(front -> front.drain(max)).toList();
        awaitNoneOpen(deadline);
        if (open.get() > 0) {
            log.warn("{} exchanges did not end within {} and are recorded as unknown", open.get(), max);
            loops.forEach(loop -> loop.context().runOnContext(now -> loop.abandonAll()));
            awaitNoneOpen(time.nanos() + SETTLE_MAX.toNanos());
        }
        try {
            await(Future.join(closing));
        } catch (IllegalStateException e) {
            log.warn("Connections were cut: {}", e.getMessage());
        }
        close();
        log.info("Stopped");
    }

    private void awaitNoneOpen(long deadline) {
        while (open.get() > 0 && time.nanos() - deadline < 0) {
            try {
                time.await(new CompletableFuture<Void>(), LOOK);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                return;
            }
        }
    }

    private void close() {
        workers.close();
        once.close();
        time.close();
        try {
            await(vertx.close());
        } catch (IllegalStateException e) {
            log.warn("The event loops did not stop: {}", e.getMessage());
        }
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
