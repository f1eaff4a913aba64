package dev.onlyonce.benchmarks;

import com.zaxxer.hikari.HikariDataSource;
import dev.onlyonce.Onlyonce;
import dev.onlyonce.store.Store;
import java.sql.Connection;
import java.sql.DriverManager;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ThreadFactory;

/** A durable claim and a durable settlement of a fresh key: the engine against the obvious code and raw SQL. */
final class Fresh {
    /** One connection for each caller; more than this is beyond what servers are set up for. */
    private static final int RAW_CONNECTIONS_MAX = 64;

    private final Options options;
    private final Databases databases;
    private final Report report;

    Fresh(Options options, Databases databases, Report report) {
        this.options = options;
        this.databases = databases;
        this.report = report;
    }

    void run() throws Exception {
        report.title("Fresh operations: durable claim and durable settlement with a 512-byte response");
        report.line(
                "naive: pool of %d connections; raw: no pool, a connection and prepared statements for each caller,"
                        + " at most %d callers. Times are milliseconds for claim and settlement together.",
                Databases.POOL, RAW_CONNECTIONS_MAX);
        report.line("");
        report.header(
                " database",
                " threads",
                "callers",
                "engine/s",
                "naive/s",
                "raw/s",
                "engine/naive",
                "engine/raw",
                "engine p50",
                "naive p50",
                "engine p99",
                "naive p99",
                "engine CPU µs",
                "naive CPU µs");
        for (Databases.Kind kind : options.databases()) {
            run(kind);
        }
    }

    private void run(Databases.Kind kind) throws Exception {
        String url = databases.create(kind);
        HikariDataSource naivePool = databases.pool(url, Databases.POOL);
        Naive.createTable(kind, naivePool);
        Naive naive = Naive.on(kind);
        List<Connection> connections = new ArrayList<>();
        for (int i = 0; i < RAW_CONNECTIONS_MAX; i++) {
            connections.add(DriverManager.getConnection(url));
        }
        try (Store store = databases.store(kind, url);
                Onlyonce once = Onlyonce.builder(store).build()) {
            Contest contest = new Contest(options)
                    .add("engine", number -> () -> Work.execute(once))
                    .add("naive", number -> naive.pooled(naivePool))
                    .add("raw", RAW_CONNECTIONS_MAX, number -> naive.raw(connections.get(number)));
            contest.warmUp();
            for (int callers : options.callers()) {
                row(kind, "platform", callers, contest.run(Threads.platform(), callers));
            }
            Optional<ThreadFactory> virtual = Threads.virtual();
            if (virtual.isPresent() && kind != Databases.Kind.SQLITE) {
                for (int callers : options.callers()) {
                    row(kind, "virtual", callers, contest.run(virtual.get(), callers));
                }
            }
        } finally {
            for (Connection connection : connections) {
                connection.close();
            }
            naivePool.close();
        }
    }

    private void row(Databases.Kind kind, String threads, int callers, Contest.Results measured) {
        Measured engine = measured.of("engine");
        Measured naive = measured.of("naive");
        Measured raw = measured.of("raw");
        report.line(
                "| %s | %s | %d | %.0f | %.0f | %.0f | **%.2fx** | %.2fx | %.2f | %.2f | %.2f | %.2f | %.0f | %.0f |",
                kind.shown(),
                threads,
                callers,
                engine.perSecond(),
                naive.perSecond(),
                raw.perSecond(),
                engine.perSecond() / naive.perSecond(),
                engine.perSecond() / raw.perSecond(),
                engine.millis(0.5),
                naive.millis(0.5),
                engine.millis(0.99),
                naive.millis(0.99),
                engine.cpuMicros(),
                naive.cpuMicros());
    }
}
