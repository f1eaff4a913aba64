package dev.onlyonce.cassandra;

import com.datastax.oss.driver.api.core.CqlSession;
import com.datastax.oss.driver.api.core.cql.AsyncResultSet;
import com.datastax.oss.driver.api.core.cql.BatchStatement;
import com.datastax.oss.driver.api.core.cql.BatchStatementBuilder;
import com.datastax.oss.driver.api.core.cql.BoundStatement;
import com.datastax.oss.driver.api.core.cql.BoundStatementBuilder;
import com.datastax.oss.driver.api.core.cql.DefaultBatchType;
import com.datastax.oss.driver.api.core.cql.PreparedStatement;
import dev.onlyonce.cassandra.IndexRow.Due;
import dev.onlyonce.cassandra.IndexRow.Listed;
import dev.onlyonce.cassandra.IndexRow.Partition;
import dev.onlyonce.store.StoreException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.IntSupplier;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Writes and deletes index rows. Rows of one partition travel together, so that the rows of a whole batch of entries cost one or two
 * writes. Rows are ordinary writes: all are idempotent, and the driver repeats them.
 */
final class Indexes {
    /** Bounds a message. */
    private static final int ROWS_MAX = 128;

    /** A node uses a handful of buckets at a time. */
    private static final int KNOWN_MAX = 10_000;

    private static final Logger log = LoggerFactory.getLogger(Indexes.class);

    private final Link link;
    private final PreparedStatement addDue;
    private final PreparedStatement dropDue;
    private final PreparedStatement addListed;
    private final PreparedStatement dropListed;
    private final PreparedStatement addBucket;
    /** Other nodes may notice this much later that the clock was set back, and close buckets until then. */
    private static final Duration UNSURE = Duration.ofSeconds(30);

    /** Buckets of the present and future that this node has announced. */
    private final Set<Partition> announced = ConcurrentHashMap.newKeySet();

    private final IntSupplier clockSetBack;
    private int clockWasSetBack; // guarded by announced
    private volatile long sureFromNanos = System.nanoTime();

    /**
     * Prepares the statements.
     *
     * @param clockSetBack how often the clock was set back. While it was ahead, buckets that are now of the future were closed
     */
    Indexes(Link link, IntSupplier clockSetBack) {
        this.link = link;
        this.clockSetBack = clockSetBack;
        CqlSession session = link.session();
        String due = " due (kind, bucket, shard, at, tenant, scope, key, mark, home)"
                + " VALUES (:kind, :bucket, :shard, :at, :tenant, :scope, :key, :mark, :home)";
        addDue = session.prepare("INSERT INTO" + due);
        dropDue = session.prepare(
                "DELETE FROM due WHERE kind = :kind AND bucket = :bucket AND shard = :shard AND at = :at"
                        + " AND tenant = :tenant AND scope = :scope AND key = :key AND mark = :mark");
        addListed = session.prepare("INSERT INTO listed (kind, shard, tenant, scope, key, mark)"
                + " VALUES (:kind, :shard, :tenant, :scope, :key, :mark)");
        dropListed = session.prepare("DELETE FROM listed WHERE kind = :kind AND shard = :shard"
                + " AND tenant = :tenant AND scope = :scope AND key = :key AND mark = :mark");
        addBucket = session.prepare("INSERT INTO bucket (kind, bucket) VALUES (:kind, :bucket)");
    }

    /**
     * Writes rows; returns when a majority has them.
     *
     * @param now buckets before it may have been closed, so they are announced again
     * @throws StoreException if that fails: the changes that need the rows must not take place
     */
    void add(List<IndexRow> rows, long now) {
        announce(rows, now);
        Link.await(send(rows, true));
    }

    private void announce(List<IndexRow> rows, long now) {
        forgetWhatWasClosed();
        List<Partition> unknown = new ArrayList<>();
        for (IndexRow row : rows) {
            if (row instanceof Due due) {
                Partition bucket =
                        new Partition("bucket", due.kind().code(), due.kind().bucket(due.at()), 0);
                boolean isPast = due.kind().end(bucket.bucket()) < now;
                if ((isPast || !announced.contains(bucket)) && !unknown.contains(bucket)) {
                    unknown.add(bucket);
                }
            }
        }
        if (unknown.isEmpty()) {
            return;
        }
        Link.await(unknown.stream()
                .map(bucket -> link.request(addBucket
                        .boundStatementBuilder()
                        .setByte("kind", (byte) bucket.kind())
                        .setLong("bucket", bucket.bucket())
                        .setIdempotence(true)
                        .build()))
                .toList());
        if (announced.size() > KNOWN_MAX) {
            announced.clear();
        }
        if (System.nanoTime() - sureFromNanos >= 0) {
            announced.addAll(unknown);
        }
    }

    private void forgetWhatWasClosed() {
        int times = clockSetBack.getAsInt();
        synchronized (announced) {
            if (times != clockWasSetBack) {
                clockWasSetBack = times;
                sureFromNanos = System.nanoTime() + UNSURE.toNanos();
                announced.clear();
            }
        }
    }

    /** Deletes rows that nobody needs any more, without waiting: rows that stay are found later, and lead nowhere. */
    void drop(List<IndexRow> rows) {
        for (CompletableFuture<AsyncResultSet> each : send(rows, false)) {
            var unused = each.whenComplete((done, failure) -> {
                if (failure != null) {
                    log.debug("Index rows were not deleted; a sweep or purge will", failure);
                }
            });
        }
    }

    /** The same, and waits. */
    void dropNow(List<IndexRow> rows) {
        Link.await(send(rows, false));
    }

    private List<CompletableFuture<AsyncResultSet>> send(List<IndexRow> rows, boolean isNew) {
        Map<Partition, List<IndexRow>> partitions = rows.stream().collect(Collectors.groupingBy(IndexRow::partition));
        List<CompletableFuture<AsyncResultSet>> sent = new ArrayList<>();
        for (List<IndexRow> together : partitions.values()) {
            for (int i = 0; i < together.size(); i += ROWS_MAX) {
                BatchStatementBuilder batch = BatchStatement.builder(DefaultBatchType.UNLOGGED);
                together.subList(i, Math.min(i + ROWS_MAX, together.size()))
                        .forEach(row -> batch.addStatement(bound(row, isNew)));
                sent.add(link.request(batch.setIdempotence(true).build()));
            }
        }
        return sent;
    }

    private BoundStatement bound(IndexRow row, boolean isNew) {
        Partition partition = row.partition();
        BoundStatementBuilder bound;
        if (row instanceof Due due) {
            bound = Statements.on(isNew ? addDue : dropDue, due.id())
                    .setLong("bucket", partition.bucket())
                    .setLong("at", due.at())
                    .setUuid("mark", due.mark());
            bound = isNew ? bound.setShort("home", (short) due.home()) : bound;
        } else {
            Listed listed = (Listed) row;
            bound = Statements.on(isNew ? addListed : dropListed, listed.id()).setUuid("mark", listed.mark());
        }
        return bound.setByte("kind", (byte) partition.kind())
                .setShort("shard", (short) partition.shard())
                .build();
    }
}
