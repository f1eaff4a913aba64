package dev.onlyonce.benchmarks;

import dev.onlyonce.Onlyonce;
import dev.onlyonce.store.Store;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;

/** Fresh operations on PostgreSQL while a million expired entries are purged, against the same without purging. */
final class Purge {
    private static final int EXPIRED = 1_000_000;
    private static final int CALLERS = 16;
    /** Purging begins when we say so, and loading holds locks that the sweeper would complain about. */
    private static final Duration NEVER = Duration.ofDays(1);

    private static final String EXPIRE = """
            UPDATE onlyonce_entry SET expires_at = 1, purge_at = 1, reap_at = 1 WHERE fingerprint_version > 0""";

    private final Options options;
    private final Databases databases;
    private final Report report;

    Purge(Options options, Databases databases, Report report) {
        this.options = options;
        this.databases = databases;
        this.report = report;
    }

    void run() throws Exception {
        report.title(EXPIRED + " expired entries purged while serving, PostgreSQL, " + CALLERS + " callers");
        String url = databases.create(Databases.Kind.POSTGRESQL);
        try (Store store = databases.store(Databases.Kind.POSTGRESQL, url);
                Onlyonce once = Onlyonce.builder(store)
                        .purgeEvery(NEVER)
                        .sweepEvery(NEVER)
                        .build()) {
            Load load = new Load(Threads.platform(), CALLERS);
            Load.Callers work = number -> () -> Work.execute(once);
            Size.load(url, EXPIRED);
            load.run(work, options.warmUp());
            Measured without = load.run(work, options.round().multipliedBy(options.rounds()));
            execute(url, EXPIRE);
            execute(url, "VACUUM ANALYZE onlyonce_entry");
            execute(url, "CHECKPOINT");
            long begun = System.nanoTime();
            CompletableFuture<Integer> purge = CompletableFuture.supplyAsync(once.operator()::purge);
            Measured during = load.until(work, purge);
            double seconds = (System.nanoTime() - begun) / 1e9;
            report.header(" ", "operations/s", "p50 ms", "p99 ms", "max ms");
            row("without purging", without);
            row("while purging", during);
            report.line("");
            report.line(
                    "Purged %d entries in %.0f s, %.0f a second. p99 is **%.2fx** of its value without.",
                    purge.get(), seconds, purge.get() / seconds, during.millis(0.99) / without.millis(0.99));
        }
    }

    private void row(String name, Measured measured) {
        report.line(
                "| %s | %.0f | %.2f | %.2f | %.2f |",
                name, measured.perSecond(), measured.millis(0.5), measured.millis(0.99), measured.millis(1));
    }

    private static void execute(String url, String sql) throws SQLException {
        try (Connection connection = DriverManager.getConnection(url);
                Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }
}
