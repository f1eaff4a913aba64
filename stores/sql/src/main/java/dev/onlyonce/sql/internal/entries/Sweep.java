package dev.onlyonce.sql.internal.entries;

import dev.onlyonce.sql.internal.connections.Connections;
import dev.onlyonce.store.EntryId;
import dev.onlyonce.store.Transition;
import java.util.ArrayList;
import java.util.List;

/**
 * Finds the few lapsed leases among the many settled ones. Settling does not touch the index of lease ends (that would
 * cost every settlement), so settled entries stay in it, and the sweep must not read them again and again:
 *
 * <ol>
 *   <li>It remembers how far it has come, and reads only what has lapsed since; plus a little before that, for leases that
 *       were written by a transaction that committed after the sweep had passed their end.
 *   <li>It starts an hour ago, so that a node that comes up finds what its predecessor left behind at once.
 *   <li>If the clock went back (a fail-over to another machine), so does it. Then, at first, and when it sees one, it shortens
 *       {@link FarLeases}.
 *   <li>One statement looks whether there is anything of that to do: on a quiet node, a sweep is no more.
 *   <li>A second pointer first hurries over the hours before that, for what an outage of all nodes left behind. Then it walks over everything,
 *       some rows in each sweep, and starts again at the end: no entry stays behind, whatever happened to the clocks.
 * </ol>
 *
 * <p>The order of reading is only about finding. {@link LifeChanges} decides about each entry, under its lock.
 */
public final class Sweep {
    private static final long SECOND_US = 1_000_000;
    /** How far the first sweep looks back. */
    private static final long FIRST_US = 3600 * SECOND_US;
    /** Where the second pointer starts: outages of all nodes rarely last longer. */
    private static final long OUTAGE_US = 4 * FIRST_US;
    /** Bounds how far it hurries in a sweep. A table of 10,000,000 entries a day has 420,000 in an hour. */
    private static final int HURRIED_CHUNKS = 10;
    /** How much later than its lease's end a claim may commit and still be found at once. */
    private static final long LATE_US = 10 * SECOND_US;
    /** Bounds a reading statement. */
    private static final int CHUNK_ROWS = 5_000;
    /** Bounds a sweep: at 10,000 claims a second and a sweep every 5 seconds there are 50,000 new rows. */
    private static final int CHUNKS_MAX = 40;
    /** How much of the walk over everything is done in each sweep. */
    private static final int WALK_ROWS = 1_000;

    /** If there are more, it is no quiet time, and one statement more does not matter. */
    private static final int QUIET_ROWS = 200;

    /** Up to this many locked entries do not keep a sweep from those behind them. */
    private static final int SKIPPED_MAX = 100;

    /**
     * Whether there is anything to do: the clock, the far leases among the latest, the rows where the pointers are, and how many of them wait
     * for their owner or a worker.
     */
    static final String LOOK = """
            SELECT clock.now_us, far.n, fresh.n, fresh.waiting, walk.n, walk.waiting, walk.up_to
            FROM (SELECT {now} AS now_us) AS clock,
                 (
            """ + FarLeases.LATEST.replace("count(*)", "count(*) AS n") + """
            ) AS far,
                 (SELECT count(*) AS n, sum(CASE WHEN state IN (1, 2) THEN 1 ELSE 0 END) AS waiting
                  FROM (
                      SELECT lease_until, state FROM onlyonce_entry
                      WHERE lease_until > ? AND lease_until <= {now}
                      ORDER BY lease_until LIMIT ?
                  ) AS chunk) AS fresh,
                 (SELECT count(*) AS n, sum(CASE WHEN state IN (1, 2) THEN 1 ELSE 0 END) AS waiting,
                         max(lease_until) AS up_to
                  FROM (
                      SELECT lease_until, state FROM onlyonce_entry
                      WHERE lease_until > ? AND lease_until <= {now}
                      ORDER BY lease_until LIMIT ?
                  ) AS chunk) AS walk""";

    /** Where the next leases end that have lapsed, and the clock. */
    static final String CHUNK = """
            SELECT max(lease_until), count(*), {now}
            FROM (
                SELECT lease_until FROM onlyonce_entry
                WHERE lease_until > ? AND lease_until <= {now}
                ORDER BY lease_until LIMIT ?
            ) AS chunk""";

    /** The first entries that wait for their owner or a worker. */
    static final String LAPSED = """
            SELECT tenant, space, key_, lease_until
            FROM onlyonce_entry
            WHERE lease_until > ? AND lease_until <= ? AND state IN (1, 2)
            ORDER BY lease_until LIMIT ?""";

    private static final long NOWHERE = Long.MIN_VALUE;

    private final SqlDialect database;
    private final Connections connections;
    private final FarLeases far;
    private long clock = NOWHERE;
    private long position = NOWHERE;
    private long walked = NOWHERE;
    /** Where the second pointer stops hurrying; nowhere once it has. */
    private long hurriesTo = NOWHERE;

    public Sweep(SqlDialect database, Connections connections) {
        this.database = database;
        this.connections = connections;
        this.far = new FarLeases(database, connections);
    }

    /** As {@link dev.onlyonce.store.Store#sweep}. One at a time in a process. */
    public synchronized List<Transition> run(int limit) {
        Look look = look();
        if (isQuiet(look)) {
            return List.of();
        }
        long now = look.now();
        if (clock == NOWHERE || now < clock || look.far() > 0) {
            far.shorten();
        }
        clock = now;
        if (position == NOWHERE) {
            hurriesTo = now - FIRST_US;
            walked = now - OUTAGE_US;
        }
        position = position == NOWHERE ? now - FIRST_US : Math.min(position, now);
        List<Transition> ended = new ArrayList<>();
        long from = position - LATE_US;
        for (int i = 0; i < CHUNKS_MAX && ended.size() < limit; i++) {
            Step step = step(from, CHUNK_ROWS, limit - ended.size());
            ended.addAll(step.ended);
            from = step.upTo;
            position = Math.max(position, from);
            if (step.last) {
                break;
            }
        }
        walk(ended, limit);
        return ended;
    }

    /** Goes on with both pointers if there is nothing to do. */
    private boolean isQuiet(Look look) {
        boolean quiet = position != NOWHERE
                && hurriesTo == NOWHERE
                && look.now >= clock
                && look.far == 0
                && look.fresh < QUIET_ROWS
                && look.waiting == 0;
        if (quiet) {
            clock = look.now;
            position = look.now;
            walked = look.walked < WALK_ROWS || look.walkedTo >= position ? NOWHERE : look.walkedTo;
        }
        return quiet;
    }

    private void walk(List<Transition> ended, int limit) {
        for (int i = 0; hurriesTo != NOWHERE && i < HURRIED_CHUNKS && ended.size() < limit; i++) {
            walked = walked(ended, limit, CHUNK_ROWS, hurriesTo);
            hurriesTo = walked == NOWHERE ? NOWHERE : hurriesTo;
        }
        if (hurriesTo == NOWHERE && ended.size() < limit) {
            walked = walked(ended, limit, WALK_ROWS, position);
        }
    }

    /** Where the second pointer is after a step; nowhere after its last one. */
    private long walked(List<Transition> ended, int limit, int rows, long to) {
        Step step = step(walked, rows, limit - ended.size());
        ended.addAll(step.ended);
        return step.last || step.upTo >= to ? NOWHERE : step.upTo;
    }

    /**
     * What {@link #LOOK} has found.
     *
     * @param now the database's clock
     * @param far leases that end later than any can
     * @param fresh rows since the last sweep
     * @param walked rows where the second pointer is
     * @param waiting how many of both wait for their owner or a worker
     * @param walkedTo the last lease end of the second
     */
    private record Look(long now, int far, int fresh, int walked, int waiting, long walkedTo) {}

    /**
     * A piece of the index of leases.
     *
     * @param upTo the last lease end in it
     * @param rows how many rows it has
     * @param now the database's clock
     */
    private record Chunk(long upTo, int rows, long now) {}

    /** An entry whose lease ended then. */
    private record Lapsed(EntryId id, long leaseUntil) {}

    /**
     * One step over the index.
     *
     * @param upTo everything up to here has been looked at
     * @param last there are no more rows for now
     */
    private record Step(List<Transition> ended, long upTo, boolean last) {}

    private Step step(long after, int rows, int limit) {
        Chunk chunk = chunk(after, rows);
        if (chunk.rows() == 0) {
            return new Step(List.of(), Math.max(after, chunk.now()), true);
        }
        int most = limit + SKIPPED_MAX;
        List<Lapsed> lapsed = lapsed(after, chunk.upTo(), most);
        List<Transition> ended = new ArrayList<>();
        int tried = 0;
        while (tried < lapsed.size() && ended.size() < limit) {
            int next = Math.min(lapsed.size(), tried + limit - ended.size());
            ended.addAll(end(lapsed.subList(tried, next)));
            tried = next;
        }
        boolean last = chunk.rows() < rows;
        if (tried < lapsed.size()) {
            return new Step(ended, lapsed.get(tried).leaseUntil() - 1, false);
        }
        if (lapsed.size() == most) {
            // There may be more with the same lease end; but locked rows must not hold up the rest.
            long end = lapsed.get(most - 1).leaseUntil();
            return new Step(ended, ended.isEmpty() ? end : end - 1, false);
        }
        return new Step(ended, last ? chunk.now() : chunk.upTo(), last);
    }

    private List<Transition> end(List<Lapsed> lapsed) {
        List<EntryId> sorted = lapsed.stream().map(Lapsed::id).sorted().toList();
        return connections.write(c -> database.changes().sweep(c, sorted));
    }

    private Look look() {
        long from = position == NOWHERE ? Long.MAX_VALUE - 1 : position - LATE_US;
        Binding parameters = Binding.longs(FarLeases.LATEST_ROWS, from, QUIET_ROWS, walked, WALK_ROWS);
        return connections
                .read(c -> database.query(
                        c,
                        LOOK,
                        parameters,
                        row -> new Look(
                                row.getLong(1),
                                row.getInt(2),
                                row.getInt(3),
                                row.getInt(5),
                                row.getInt(4) + row.getInt(6),
                                row.getLong(7))))
                .get(0);
    }

    private Chunk chunk(long after, int rows) {
        return connections
                .read(c -> database.query(
                        c,
                        CHUNK,
                        Binding.longs(after, rows),
                        row -> new Chunk(row.getLong(1), row.getInt(2), row.getLong(3))))
                .get(0);
    }

    private List<Lapsed> lapsed(long after, long upTo, int limit) {
        Columns columns = Columns.of(database.kind());
        return connections.read(c -> database.query(
                c,
                LAPSED,
                Binding.longs(after, upTo, limit),
                row -> new Lapsed(StoredEntry.id(row, 1, columns), row.getLong(4))));
    }
}
