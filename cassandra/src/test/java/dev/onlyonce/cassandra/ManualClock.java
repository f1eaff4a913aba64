package dev.onlyonce.cassandra;

import dev.onlyonce.store.Store;
import dev.onlyonce.testservers.CassandraCluster;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;

/** A clock for tests that all nodes follow, and that stands still. */
final class ManualClock implements Clock, AutoCloseable {
    private static final long START = Micros.of(Duration.ofDays(11_000));
    private static final List<String> TABLES = List.of("entry", "due", "bucket", "listed");

    private final AtomicLong now = new AtomicLong(START);
    private final String url;
    private final List<CassandraStore> nodes = new ArrayList<>();

    ManualClock(String keyspace) {
        url = CassandraCluster.shared().url(keyspace);
    }

    /** Deletes everything and starts the clock again. */
    void start() {
        node(0);
        CompletableFuture.allOf(TABLES.stream()
                        .map(table -> nodes.get(0)
                                .session()
                                .executeAsync("TRUNCATE " + table)
                                .toCompletableFuture())
                        .toArray(CompletableFuture<?>[]::new))
                .join();
        now.set(START);
    }

    void advance(Duration span) {
        now.addAndGet(Micros.of(span));
    }

    @Override
    public long now() {
        return now.get();
    }

    @Override
    public long error() {
        return 0;
    }

    /** A node of its own for each number; all follow this clock. Kept for the next test: closing it does nothing. */
    Store node(int number) {
        while (nodes.size() <= number) {
            nodes.add(CassandraStore.builder(url)
                    .clock(this)
                    .clockTolerance(Duration.ZERO)
                    .timeout(Duration.ofSeconds(20))
                    .build());
        }
        CassandraStore node = nodes.get(number);
        return (Store) Proxy.newProxyInstance(
                Store.class.getClassLoader(), new Class<?>[] {Store.class}, (proxy, method, arguments) -> {
                    try {
                        return method.getName().equals("close") ? null : method.invoke(node, arguments);
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    }
                });
    }

    @Override
    public void close() {
        nodes.forEach(CassandraStore::close);
    }
}
