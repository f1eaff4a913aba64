package dev.onlyonce.prove;

import dev.onlyonce.Codec;
import dev.onlyonce.Key;
import dev.onlyonce.Onlyonce;
import dev.onlyonce.Reconciler;
import dev.onlyonce.fingerprint.Fingerprint;
import dev.onlyonce.store.StoreException;
import dev.onlyonce.testservers.DatabaseServer;
import dev.onlyonce.testservers.PostgresServer;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.stream.Collectors;

/**
 * Measures what a large table costs: PostgreSQL with many live keys beside an empty one, in the same server and by turns.
 *
 * <ol>
 *   <li>Claims and settlements on both.
 *   <li>A sweep after an outage: leases that lapsed in two hours.
 *   <li>What a node costs the database while all those are unknown, and when none is.
 *   <li>The purge of expired entries, alone and under load.
 *   <li>The pruning of the audit.
 * </ol>
 */
final class Scale {
    private static final int THREADS = 16;
    private static final Duration TURN = Duration.ofSeconds(10);
    private static final int TURNS = 3;
    private static final Duration HURRY = Duration.ofMinutes(1);
    private static final long LAPSED = 100_000;
    private static final long EXPIRED = 500_000;
    private static final long AUDIT = 1_000_000;
    private static final String UNKNOWN = "SELECT count(*) FROM onlyonce_entry WHERE unknown_since IS NOT NULL";
    private static final String READ =
            "SELECT tup_returned + tup_fetched FROM pg_stat_database WHERE datname = current_database()";

    private final long keys;
    private final Consumer<String> told;

    Scale(long keys, Consumer<String> told) {
        this.keys = keys;
        this.told = told;
    }

    void run() throws Exception {
        try (DatabaseServer server = PostgresServer.start(
                "fsync=off",
                "full_page_writes=off",
                "shared_buffers=1GB",
                "max_wal_size=8GB",
                "maintenance_work_mem=512MB")) {
            ScaleTable empty = table(server.createDatabase());
            ScaleTable full = table(server.createDatabase());
            long begun = System.nanoTime();
            full.fill(keys);
            told.accept("%d live keys filled in %.0f s: %d MB of table, %d MB of indexes"
                    .formatted(
                            keys,
                            seconds(begun),
                            full.number("SELECT pg_table_size('onlyonce_entry') / 1000000"),
                            full.number("SELECT pg_indexes_size('onlyonce_entry') / 1000000")));
            claims(empty, full);
            sweep(full);
            purge(full);
            audit(full);
        }
    }

    private static double seconds(long begun) {
        return (System.nanoTime() - begun) / 1e9;
    }

    /** With the tables, and one entry to copy. */
    private static ScaleTable table(String url) {
        try (StoreAccess access = StoreAccess.open(url);
                Onlyonce once = Onlyonce.builder(access.store()).build()) {
            once.execute(Key.of("template", "pay", "template"), print(), Codec.text(), claim -> "x".repeat(200));
        }
        return new ScaleTable(url);
    }

    private static Fingerprint print() {
        return Fingerprint.of(new byte[0]);
    }

    private void claims(ScaleTable empty, ScaleTable full) throws InterruptedException {
        List<Double> ratios = new ArrayList<>();
        // The first turn warms up.
        for (int i = 0; i <= TURNS; i++) {
            Cost one = executions(empty.url());
            Cost other = executions(full.url());
            if (i > 0) {
                ratios.add(other.micros / one.micros);
                told.accept("  fresh keys: empty " + one + ", full " + other);
            }
        }
        told.accept("claim and settle on the full table take %.2f times the server's processor time (median)"
                .formatted(ratios.stream().sorted().toList().get(TURNS / 2)));
    }

    /**
     * What a fresh key costs. On a busy machine only the second figure tells anything.
     *
     * @param micros of the server's processor time for each
     */
    private record Cost(double aSecond, double micros) {
        @Override
        public String toString() {
            return "%.0f a second, %.0f us of the server each".formatted(aSecond, micros);
        }
    }

    /** The processor time of each process of the server until now: they run below this one. */
    private static Map<Long, Duration> processor() {
        return ProcessHandle.current()
                .descendants()
                .collect(Collectors.toMap(
                        ProcessHandle::pid,
                        process -> process.info().totalCpuDuration().orElse(Duration.ZERO)));
    }

    /** What they have used since. Processes that have ended meanwhile are not counted. */
    private static double seconds(Map<Long, Duration> before) {
        return processor().entrySet().stream()
                        .mapToLong(each -> each.getValue()
                                .minus(before.getOrDefault(each.getKey(), Duration.ZERO))
                                .toMillis())
                        .sum()
                / 1e3;
    }

    private static Cost executions(String url) throws InterruptedException {
        AtomicLong done = new AtomicLong();
        long begun = System.nanoTime();
        Map<Long, Duration> processor = processor();
        try (StoreAccess access = StoreAccess.open(url);
                Onlyonce once = Onlyonce.builder(access.store()).build()) {
            List<Thread> threads = new ArrayList<>();
            for (int i = 0; i < THREADS; i++) {
                Thread thread = new Thread(() -> {
                    while (System.nanoTime() - begun < TURN.toNanos()) {
                        done.addAndGet(execute(once));
                    }
                });
                thread.start();
                threads.add(thread);
            }
            for (Thread thread : threads) {
                thread.join();
            }
            return new Cost(done.get() / seconds(begun), 1e6 * seconds(processor) / done.get());
        }
    }

    /** A fresh key; 0 if the machine was too busy for it. */
    private static int execute(Onlyonce once) {
        try {
            once.execute(
                    Key.of("load", "pay", UUID.randomUUID().toString()),
                    print(),
                    Codec.text(),
                    claim -> "x".repeat(200));
            return 1;
        } catch (StoreException e) {
            return 0;
        }
    }

    private void sweep(ScaleTable full) throws SQLException {
        double before = rowsRead(full);
        full.addLapsed(LAPSED);
        long begun = System.nanoTime();
        Map<Long, Duration> processor = processor();
        try (StoreAccess access = StoreAccess.open(full.url());
                Onlyonce once = Onlyonce.builder(access.store()).build()) {
            while (once.liveClaims() == 0 && full.number(UNKNOWN) < LAPSED) {
                Pause.millis(200);
            }
        }
        told.accept("%d leases that lapsed in a two-hour outage: swept in %.1f s, %.1f s of the server's processor"
                .formatted(LAPSED, seconds(begun), seconds(processor)));
        told.accept("a node that only watches reads %.0f rows a second with nothing unknown, %.0f with %d unknown"
                .formatted(before, rowsRead(full), LAPSED));
    }

    /** By a node that has a reconciler which cannot tell, and no requests. */
    private static double rowsRead(ScaleTable full) throws SQLException {
        try (StoreAccess access = StoreAccess.open(full.url());
                Onlyonce once = Onlyonce.builder(access.store())
                        .reconciler("pay", unknown -> new Reconciler.Finding.CannotTell("nobody knows"))
                        .build()) {
            // First it hurries over what an outage may have left behind.
            Pause.millis(HURRY.toMillis());
            long first = full.number(READ);
            long begun = System.nanoTime();
            Pause.millis(TURN.toMillis());
            double read = (full.number(READ) - first) / seconds(begun);
            if (once.liveClaims() > 0) {
                throw new IllegalStateException("somebody uses this node");
            }
            return read;
        }
    }

    private void purge(ScaleTable full) throws SQLException {
        full.addExpired(EXPIRED);
        try (StoreAccess access = StoreAccess.open(full.url());
                Onlyonce once = Onlyonce.builder(access.store()).build()) {
            long purged = 0;
            long begun = System.nanoTime();
            Map<Long, Duration> processor = processor();
            for (int last = 1; last > 0; purged += last) {
                last = once.operator().purge();
            }
            told.accept("purge: %d entries in %.1f s, %.0f a second on one node; %.0f us of the server each"
                    .formatted(purged, seconds(begun), purged / seconds(begun), 1e6 * seconds(processor) / purged));
        }
    }

    private void audit(ScaleTable full) throws SQLException {
        full.addAudit(AUDIT);
        try (StoreAccess access = StoreAccess.open(full.url());
                Onlyonce once = Onlyonce.builder(access.store())
                        .auditRetention(Duration.ofHours(1))
                        .build()) {
            long begun = System.nanoTime();
            Map<Long, Duration> processor = processor();
            while (once.operator().purge() > 0) {
                // The next batch.
            }
            long left = full.number("SELECT count(*) FROM onlyonce_audit WHERE at < 1000000000");
            long pruned = AUDIT - left;
            told.accept("audit: %d records pruned in %.1f s, %.0f a second; %.0f us of the server each"
                    .formatted(pruned, seconds(begun), pruned / seconds(begun), 1e6 * seconds(processor) / pruned));
        }
    }
}
