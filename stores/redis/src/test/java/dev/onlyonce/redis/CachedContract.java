package dev.onlyonce.redis;

import dev.onlyonce.store.CacheOptions;
import dev.onlyonce.store.MemoryStore;
import dev.onlyonce.store.Store;
import dev.onlyonce.store.Time;
import dev.onlyonce.testkit.ManualTime;
import dev.onlyonce.testkit.StoreContract;
import io.lettuce.core.resource.ClientResources;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.CompletableFuture;

/** The whole contract, on a store behind a shared cache. */
abstract class CachedContract extends StoreContract {
    /** For all classes; its threads end with the JVM. */
    private static final ClientResources RESOURCES = ClientResources.create();

    private final ManualTime time = new ManualTime();
    private final MemoryStore origin = new MemoryStore(time);

    /** Where the cache is. */
    abstract String url();

    /** What happens in Redis before every call. */
    abstract void interfere();

    @Override
    protected final Store open() {
        CacheOptions options = new CacheOptions(url(), "contract", null, CachedStores.SECRET);
        CachedStore node = CachedStore.builder(origin, options)
                .time(new OneThread(time.alone()))
                .resources(RESOURCES)
                .timeout(Duration.ofSeconds(10))
                .build();
        return (Store) Proxy.newProxyInstance(
                Store.class.getClassLoader(), new Class<?>[] {Store.class}, (proxy, method, arguments) -> {
                    try {
                        interfere();
                        return method.invoke(node, arguments);
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    } finally {
                        node.awaitWrites();
                    }
                });
    }

    /** Without the tasks: a test that passes over a month does not try to connect every second of it. */
    private record OneThread(Time time) implements Time {
        @Override
        public Instant now() {
            return time.now();
        }

        @Override
        public long nanos() {
            return time.nanos();
        }

        @Override
        public Scheduled schedule(Duration delay, Runnable task) {
            return () -> {};
        }

        @Override
        public boolean await(CompletableFuture<?> signal, Duration max) throws InterruptedException {
            return time.await(signal, max);
        }

        @Override
        public void close() {}
    }

    @Override
    protected final void advance(Duration span) {
        if (span.isNegative()) {
            time.jump(span);
        } else {
            time.advance(span);
        }
    }
}
