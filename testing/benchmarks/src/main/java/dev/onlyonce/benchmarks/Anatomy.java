package dev.onlyonce.benchmarks;

import com.zaxxer.hikari.HikariDataSource;
import dev.onlyonce.Onlyonce;
import dev.onlyonce.sql.SqlStore;
import dev.onlyonce.store.Store;
import java.lang.management.ManagementFactory;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.concurrent.atomic.LongAdder;

/** Where a fresh operation's time goes on PostgreSQL: in the server, in its statements, in the log, in the callers. */
final class Anatomy {
    private static final String COUNTERS = """
            SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::bigint,
                   (SELECT wal_sync FROM pg_stat_wal),
                   (SELECT coalesce(sum(xact_commit), 0)::bigint FROM pg_stat_database WHERE datname = current_database()),
                   (SELECT coalesce(sum(total_exec_time) * 1000, 0)::bigint
                    FROM pg_stat_statements WHERE dbid = (SELECT oid FROM pg_database WHERE datname = current_database()))""";
    /** Everything of a table: the rows, their indexes, and the audit's. */
    private static final String DISK = """
            SELECT coalesce(sum(pg_table_size(oid)), 0)::bigint, coalesce(sum(pg_indexes_size(oid)), 0)::bigint
            FROM pg_class WHERE relname IN ('onlyonce_entry', 'onlyonce_audit', 'naive')""";

    private final Options options;
    private final Databases databases;
    private final Report report;
    private final LongAdder callersNanos = new LongAdder();

    Anatomy(Options options, Databases databases, Report report) {
        this.options = options;
        this.databases = databases;
        this.report = report;
    }

    /** What the server has counted so far. */
    private record Counters(long walBytes, long walSyncs, long commits, long statementMicros) {
        static Counters of(String url) throws SQLException {
            try (Connection connection = DriverManager.getConnection(url);
                    Statement statement = connection.createStatement();
                    ResultSet row = statement.executeQuery(COUNTERS)) {
                row.next();
                return new Counters(row.getLong(1), row.getLong(2), row.getLong(3), row.getLong(4));
            }
        }
    }

    /** Opens what a contender works with. */
    @FunctionalInterface
    private interface Contender {
        Load.Caller open(HikariDataSource pool, Closing opened) throws SQLException;
    }

    void run() throws Exception {
        report.title("Where a fresh operation's time goes: PostgreSQL, for each operation");
        report.line(
                "Bytes of the log, syncs, commits and times for one claim and one settlement; times in microseconds.");
        report.line("");
        report.header(
                "callers",
                " what",
                "operations/s",
                "p50 ms",
                "commits",
                "log syncs",
                "log bytes",
                "row bytes",
                "index bytes",
                "statements",
                "server CPU",
                "callers' CPU",
                "other CPU");
        for (int callers : options.callers()) {
            measure(callers, "engine", (pool, opened) -> {
                Store store = SqlStore.open(pool);
                Onlyonce once = Onlyonce.builder(store).build();
                opened.add(store::close);
                opened.add(once::close);
                return () -> Work.execute(once);
            });
            measure(callers, "naive", (pool, opened) -> {
                Naive.createTable(Databases.Kind.POSTGRESQL, pool);
                return Naive.on(Databases.Kind.POSTGRESQL).pooled(pool);
            });
        }
    }

    /** On a database and connections of its own: a server's process tells its counters when it ends at the latest. */
    private void measure(int callers, String name, Contender contender) throws Exception {
        String url = databases.create(Databases.Kind.POSTGRESQL);
        try (Connection connection = DriverManager.getConnection(url);
                Statement statement = connection.createStatement()) {
            statement.execute("CREATE EXTENSION pg_stat_statements");
            statement.execute("ALTER DATABASE " + connection.getCatalog() + " SET pg_stat_statements.track = 'top'");
        }
        Counters before;
        Measured warm;
        Measured measured;
        long servers;
        Load load = new Load(Threads.platform(), callers);
        try (HikariDataSource pool = databases.pool(url, Databases.POOL);
                Closing opened = new Closing()) {
            Load.Caller caller = contender.open(pool, opened);
            before = Counters.of(url);
            warm = load.run(number -> caller, options.warmUp());
            callersNanos.reset();
            long serversBefore = Load.cpuNanosOfServers();
            measured = load.run(number -> timed(caller), options.round().multipliedBy(options.rounds()));
            servers = Load.cpuNanosOfServers() - serversBefore;
        }
        Counters after = Counters.of(url);
        double all = warm.sorted().length + (double) measured.sorted().length;
        double counted = measured.sorted().length;
        long[] disk = disk(url);
        report.line(
                "| %d | %s | %.0f | %.2f | %.2f | %.2f | %.0f | %.0f | %.0f | %.0f | %.0f | %.0f | %.0f |",
                callers,
                name,
                measured.perSecond(),
                measured.millis(0.5),
                (after.commits - before.commits) / all,
                (after.walSyncs - before.walSyncs) / all,
                (after.walBytes - before.walBytes) / all,
                disk[0] / all,
                disk[1] / all,
                (after.statementMicros - before.statementMicros) / all,
                servers / 1e3 / counted,
                callersNanos.sum() / 1e3 / counted,
                (measured.cpuNanos() - servers - callersNanos.sum()) / 1e3 / counted);
    }

    /** Adds up the processor time of the thread that calls it. */
    private Load.Caller timed(Load.Caller caller) {
        var threads = ManagementFactory.getThreadMXBean();
        return () -> {
            long begun = threads.getCurrentThreadCpuTime();
            caller.call();
            callersNanos.add(threads.getCurrentThreadCpuTime() - begun);
        };
    }

    private static long[] disk(String url) throws SQLException {
        try (Connection connection = DriverManager.getConnection(url);
                Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(DISK)) {
            row.next();
            return new long[] {row.getLong(1), row.getLong(2)};
        }
    }
}
