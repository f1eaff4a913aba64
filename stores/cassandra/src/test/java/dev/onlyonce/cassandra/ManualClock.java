package dev.onlyonce.cassandra;

import com.datastax.oss.driver.api.core.ConsistencyLevel;
import com.datastax.oss.driver.api.core.CqlSession;
import com.datastax.oss.driver.api.core.cql.Row;
import com.datastax.oss.driver.api.core.cql.SimpleStatement;
import dev.onlyonce.store.ClaimRequest;
import dev.onlyonce.store.EntryId;
import dev.onlyonce.store.Store;
import dev.onlyonce.testservers.CassandraCluster;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;

/** A clock for tests that all nodes follow, and that stands still. */
final class ManualClock implements Clock, AutoCloseable {
    private static final long START = Micros.of(Duration.ofDays(11_000));
    /** So far apart that no test sees the times of another, nor does a store that remembers what it has found empty. */
    private static final long NEXT = Micros.of(Duration.ofDays(20_000));

    private final AtomicLong now = new AtomicLong();
    private long start = START;
    private final String url;
    private final List<CassandraStore> nodes = new ArrayList<>();
    private final Set<EntryId> claimed = ConcurrentHashMap.newKeySet();

    ManualClock(String keyspace) {
        url = CassandraCluster.shared().url(keyspace);
    }

    /** Deletes everything that an earlier test has left and starts the clock again. Truncating would take a second. */
    void start() {
        node(0);
        CqlSession session = nodes.get(0).session();
        List<SimpleStatement> deletes = new ArrayList<>();
        for (EntryId id : claimed) {
            deletes.add(SimpleStatement.newInstance(
                    "DELETE FROM entry WHERE tenant = ? AND scope = ? AND key = ?", id.tenant(), id.scope(), id.key()));
        }
        claimed.clear();
        for (Row row : session.execute(SimpleStatement.newInstance("SELECT DISTINCT kind, shard FROM listed")
                .setConsistencyLevel(ConsistencyLevel.ALL))) {
            deletes.add(SimpleStatement.newInstance(
                    "DELETE FROM listed WHERE kind = ? AND shard = ?", row.getByte(0), row.getShort(1)));
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
                    if (method.getName().equals("claim")) {
                        ((List<?>) arguments[0]).forEach(claim -> claimed.add(((ClaimRequest) claim).id()));
                    }
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
