package dev.onlyonce.cassandra;

import com.datastax.oss.driver.api.core.ConsistencyLevel;
import com.datastax.oss.driver.api.core.CqlSession;
import com.datastax.oss.driver.api.core.cql.Row;
import com.datastax.oss.driver.api.core.cql.SimpleStatement;
import com.datastax.oss.driver.api.core.cql.Statement;
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
    /** So far apart that no test sees the times of another, nor does a store that remembers what it has found empty. */
    private static final long NEXT = Micros.of(Duration.ofDays(20_000));

    private static final int SHARDS = 16;

    private final AtomicLong now = new AtomicLong();
    private long start = START;
    private final String url;
    private final List<CassandraStore> nodes = new ArrayList<>();

    ManualClock(String keyspace) {
        url = CassandraCluster.shared().url(keyspace);
    }

    /** Deletes everything that an earlier test has left and starts the clock again. Truncating would take a second. */
    void start() {
        node(0);
        CqlSession session = nodes.get(0).session();
        List<Statement<?>> deletes = new ArrayList<>();
        for (Row row : session.execute("SELECT DISTINCT tenant, scope, key FROM entry")) {
            if (row.getString(0).isEmpty()) {
                // The mark.
                continue;
            }
            deletes.add(SimpleStatement.newInstance(
                    "DELETE FROM entry WHERE tenant = ? AND scope = ? AND key = ?",
                    row.getString(0),
                    row.getString(1),
                    row.getString(2)));
        }
        for (IndexRow.List list : IndexRow.List.values()) {
            for (int shard = 0; shard < SHARDS; shard++) {
                deletes.add(SimpleStatement.newInstance(
                        "DELETE FROM listed WHERE kind = " + list.code() + " AND shard = " + shard));
            }
        }
        for (IndexRow.Kind kind : IndexRow.Kind.values()) {
            deletes.add(SimpleStatement.newInstance("DELETE FROM bucket WHERE kind = " + kind.code()));
        }
        CompletableFuture.allOf(deletes.stream()
                        .map(delete -> session.executeAsync(delete.setConsistencyLevel(ConsistencyLevel.ALL))
                                .toCompletableFuture())
                        .toArray(CompletableFuture<?>[]::new))
                .join();
        now.set(start);
        start += NEXT;
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
