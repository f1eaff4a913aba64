package dev.onlyonce.cassandra;

import com.datastax.oss.driver.api.core.CqlSession;
import com.datastax.oss.driver.api.core.cql.BoundStatement;
import com.datastax.oss.driver.api.core.cql.PreparedStatement;
import com.datastax.oss.driver.api.core.cql.Row;
import dev.onlyonce.cassandra.IndexRow.Due;
import dev.onlyonce.cassandra.IndexRow.Kind;
import dev.onlyonce.cassandra.IndexRow.Partition;
import dev.onlyonce.store.EntryId;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.IntFunction;
import java.util.function.IntSupplier;
import java.util.stream.IntStream;

/**
 * Finds what is due. Deleted rows cost time to read until Cassandra has compacted them, so it does not read again what it has found
 * empty, except from time to time: a slow node may write a row late.
 */
final class Calendar {
    /** A row is seldom written later than this after the time that it is due. */
    private static final long LATE = Micros.of(Duration.ofSeconds(10));
    /** Rows that are later still are found by looking everywhere again. */
    private static final Duration AGAIN = Duration.ofMinutes(5);
    /** How long after its end an empty bucket is closed. */
    private static final long CLOSING = Micros.of(Duration.ofHours(1));

    /** Bounds the memory for rows that stay. */
    private static final int WALK_MAX = 1 << 16;

    private final Link link;
    private final int shards;
    private final PreparedStatement buckets;
    private final PreparedStatement rows;
    private final PreparedStatement close;
    /** Nothing before this instant is left in a partition. */
    private final Map<Partition, Long> empty = new ConcurrentHashMap<>();

    private volatile long again = System.nanoTime();
    private final IntSupplier clockSetBack;
    private volatile int clockWasSetBack;

    /**
     * Prepares the statements.
     *
     * @param clockSetBack how often the clock was set back. What was found empty while it was ahead may have rows now
     */
    Calendar(Link link, int shards, IntSupplier clockSetBack) {
        this.link = link;
        this.clockSetBack = clockSetBack;
        this.shards = shards;
        CqlSession session = link.session();
        buckets = session.prepare(
                "SELECT bucket FROM bucket WHERE kind = :kind AND bucket >= :first AND bucket <= :last");
        rows = session.prepare("SELECT at, tenant, scope, key, mark, home FROM due"
                + " WHERE kind = :kind AND bucket = :bucket AND shard = :shard"
                + " AND (at, tenant, scope, key) >= (:at, :tenant, :scope, :key) AND (at) <= (:last) LIMIT :most");
        close = session.prepare("DELETE FROM bucket WHERE kind = :kind AND bucket = :bucket");
    }

    /** The buckets between two instants that may have rows, oldest first. */
    List<Long> buckets(Kind kind, long from, long to) {
        return link
                .rows(buckets.boundStatementBuilder()
                        .setByte("kind", (byte) kind.code())
                        .setLong("first", kind.bucket(from))
                        .setLong("last", kind.bucket(to))
                        .setIdempotence(true)
                        .build())
                .stream()
                .map(row -> row.getLong("bucket"))
                .toList();
    }

    /**
     * Where to begin in a bucket.
     *
     * @param to the last instant
     */
    record Range(long at, EntryId id, long to) {}

    /** The first rows of each shard of a bucket. */
    List<Due> rows(Kind kind, long bucket, Range range, int most) {
        List<BoundStatement> statements = IntStream.range(0, shards)
                .mapToObj(shard -> statement(new Partition("due", kind.code(), bucket, shard), range, most))
                .toList();
        List<Due> found = new ArrayList<>();
        List<List<Row>> answers = link.rows(statements);
        for (int shard = 0; shard < shards; shard++) {
            for (Row row : answers.get(shard)) {
                found.add(due(kind, shard, row));
            }
        }
        return found;
    }

    private BoundStatement statement(Partition partition, Range range, int most) {
        return Statements.on(rows, range.id())
                .setByte("kind", (byte) partition.kind())
                .setLong("bucket", partition.bucket())
                .setShort("shard", (short) partition.shard())
                .setLong("at", range.at())
                .setLong("last", range.to())
                .setInt("most", most)
                .setIdempotence(true)
                .build();
    }

    private static Due due(Kind kind, int shard, Row row) {
        EntryId id = new EntryId(
                Objects.requireNonNull(row.getString("tenant")),
                Objects.requireNonNull(row.getString("scope")),
                Objects.requireNonNull(row.getString("key")));
        return new Due(
                kind, shard, row.getLong("at"), id, Objects.requireNonNull(row.getUuid("mark")), row.getShort("home"));
    }

    /** Rows that are due by this instant, about as many as asked for, oldest buckets first. */
    List<Due> due(Kind kind, long to, int most) {
        int times = clockSetBack.getAsInt();
        if (System.nanoTime() - again > AGAIN.toNanos() || times != clockWasSetBack) {
            empty.clear();
            again = System.nanoTime();
            clockWasSetBack = times;
        }
        List<Due> found = new ArrayList<>();
        for (long bucket : buckets(kind, 0, to)) {
            Partition whole = new Partition("due", kind.code(), bucket, 0);
            boolean isOver = kind.end(bucket) + CLOSING < to;
            long from = isOver ? 0 : empty.getOrDefault(whole, 0L);
            if (from >= kind.end(bucket)) {
                continue;
            }
            List<Due> rows = rows(kind, bucket, new Range(from, new EntryId("", "", ""), to), most);
            found.addAll(rows);
            if (rows.isEmpty() && isOver) {
                close(kind, bucket);
                empty.remove(whole);
            } else if (rows.isEmpty()) {
                empty.put(whole, to - LATE);
            }
            if (found.size() >= most) {
                break;
            }
        }
        return found;
    }

    /** Looks at each row that is due by an instant once, oldest buckets first, although some of them stay. */
    Walk walk(Kind kind, long to, int chunk) {
        return new Walk(most -> due(kind, to, most), chunk);
    }

    /** Looks at each row that is due after an instant once. */
    Walk walkFrom(Kind kind, long from, int chunk) {
        return new Walk(most -> dueFrom(kind, from, most), chunk);
    }

    private List<Due> dueFrom(Kind kind, long from, int most) {
        List<Due> found = new ArrayList<>();
        Range range = new Range(from, new EntryId("", "", ""), Long.MAX_VALUE);
        for (long bucket : buckets(kind, from, Long.MAX_VALUE)) {
            found.addAll(rows(kind, bucket, range, most));
            if (found.size() >= most) {
                break;
            }
        }
        return found;
    }

    /** Rows that stay must not hide those behind them: claims that may come yet, or what a node with a fast clock wrote. */
    static final class Walk {
        private final IntFunction<List<Due>> read;
        private final Set<Due> seen = new HashSet<>();
        private int most;

        private Walk(IntFunction<List<Due>> read, int chunk) {
            this.read = read;
            this.most = chunk;
        }

        /** About as many rows as fit into a chunk that were not seen before; empty at the end. */
        List<Due> next() {
            while (true) {
                List<Due> rows = read.apply(most);
                boolean isAll = rows.size() < most || most >= WALK_MAX;
                rows.removeIf(row -> !seen.add(row));
                if (!rows.isEmpty() || isAll) {
                    return rows;
                }
                most *= 2;
            }
        }
    }

    private void close(Kind kind, long bucket) {
        Link.await(List.of(link.request(close.boundStatementBuilder()
                .setByte("kind", (byte) kind.code())
                .setLong("bucket", bucket)
                .setIdempotence(true)
                .build())));
    }
}
