package dev.onlyonce.benchmarks;

import dev.onlyonce.Onlyonce;
import dev.onlyonce.store.Store;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;

/** Fresh operations on a table with many rows against one with few, on PostgreSQL. */
final class Size {
    private static final int SMALL = 10_000;
    private static final int CALLERS = 64;
    /** Settled entries of the last hour with responses of 512 bytes, indexed after loading. */
    private static final String LOAD = """
            BEGIN;
            ALTER TABLE onlyonce_entry SET (fillfactor = 100);
            ALTER TABLE onlyonce_entry DROP CONSTRAINT onlyonce_entry_pkey;
            DROP INDEX onlyonce_entry_lease, onlyonce_entry_reap;
            INSERT INTO onlyonce_entry (
                tenant, space, key_, operation, fingerprint_version, fingerprint, state, token, owner, attempt,
                lease_us, on_lease_lost, retention_us, tombstone_us, created_at, lease_until,
                settled_at, expires_at, purge_at, reap_at, result)
            SELECT 'acme', '', gen_random_uuid()::text, 'POST /payments', 1, sha256(i::text::bytea), 3, gen_random_uuid(),
                   'node', 1, 30000000, 1, 86400000000, 0, t, t + 30000000, t + 1000, t + 86400001000, t + 86400001000,
                   t + 86400000000, decode(repeat(md5(i::text), 32), 'hex')
            FROM (SELECT i, (extract(epoch FROM now()) * 1000000)::bigint - 3600000000 + i::bigint * 3000000000 / ROWS AS t
                  FROM generate_series(1, ROWS) AS i) AS series;
            ALTER TABLE onlyonce_entry ADD CONSTRAINT onlyonce_entry_pkey PRIMARY KEY (tenant, space, key_);
            CREATE INDEX onlyonce_entry_lease ON onlyonce_entry (lease_until);
            CREATE INDEX onlyonce_entry_reap ON onlyonce_entry (reap_at);
            ALTER TABLE onlyonce_entry SET (fillfactor = 20);
            COMMIT""";

    private final Options options;
    private final Databases databases;
    private final Report report;

    Size(Options options, Databases databases, Report report) {
        this.options = options;
        this.databases = databases;
        this.report = report;
    }

    void run() throws Exception {
        report.title("Fresh operations by the size of the table, PostgreSQL, " + CALLERS + " callers");
        String small = databases.create(Databases.Kind.POSTGRESQL);
        String large = databases.create(Databases.Kind.POSTGRESQL);
        try (Store smallStore = databases.store(Databases.Kind.POSTGRESQL, small);
                Store largeStore = databases.store(Databases.Kind.POSTGRESQL, large)) {
            load(small, SMALL);
            load(large, options.rows());
            try (Onlyonce few = Onlyonce.builder(smallStore).build();
                    Onlyonce many = Onlyonce.builder(largeStore).build()) {
                Contest.Results measured = new Contest(options)
                        .add("few", number -> () -> Work.execute(few))
                        .add("many", number -> () -> Work.execute(many))
                        .warmUp()
                        .run(Threads.platform(), CALLERS);
                Measured one = measured.of("few");
                Measured other = measured.of("many");
                report.header("rows at first", "operations/s", "p50 ms", "p99 ms", "CPU µs", "cost");
                row(SMALL, one, 1);
                row(options.rows(), other, one.perSecond() / other.perSecond());
            }
        }
    }

    private void row(int rows, Measured measured, double cost) {
        report.line(
                "| %d | %.0f | %.2f | %.2f | %.0f | **%.2fx** |",
                rows, measured.perSecond(), measured.millis(0.5), measured.millis(0.99), measured.cpuMicros(), cost);
    }

    /** Fills an empty table. */
    static void load(String url, int rows) throws SQLException {
        try (Connection connection = DriverManager.getConnection(url);
                Statement statement = connection.createStatement()) {
            statement.execute("SET maintenance_work_mem = '256MB'");
            statement.execute(LOAD.replace("ROWS", String.valueOf(rows)));
            statement.execute("VACUUM ANALYZE onlyonce_entry");
            statement.execute("CHECKPOINT");
        }
    }
}
