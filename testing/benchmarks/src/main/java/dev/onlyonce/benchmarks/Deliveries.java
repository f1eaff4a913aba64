package dev.onlyonce.benchmarks;

import com.zaxxer.hikari.HikariDataSource;
import dev.onlyonce.Event;
import dev.onlyonce.Onlyonce;
import dev.onlyonce.sql.SqlStore;
import dev.onlyonce.sql.outbox.Delivery;
import dev.onlyonce.sql.outbox.Outbox;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import javax.sql.DataSource;

/**
 * Rows that a worker delivers to a provider that does nothing, on PostgreSQL: the outbox against a hand-written worker that
 * takes one row in each transaction with {@code SKIP LOCKED}. Both leave the entry completed with a result of 512 bytes.
 */
final class Deliveries {
    private static final String TOPIC = "charge";
    private static final int NAIVE_THREADS = 16;
    /** More than anybody delivers in a turn. */
    private static final int ROWS_A_SECOND = 30_000;

    private static final String ACCEPT_ENTRIES = """
            INSERT INTO onlyonce_entry (
                tenant, space, key_, operation, fingerprint_version, fingerprint, state, token, owner, attempt,
                lease_us, on_lease_lost, retention_us, tombstone_us, created_at, lease_until, reap_at)
            SELECT 'acme', '', gen_random_uuid()::text, 'POST /payments', 1, sha256(i::text::bytea), 1, gen_random_uuid(),
                   'node', 0, 3600000000, 1, 86400000000, 0, t, t + 3600000000, t + 86400000000
            FROM generate_series(1, ROWS) AS i, (SELECT (extract(epoch FROM now()) * 1000000)::bigint AS t) AS clock""";
    private static final String ACCEPT_ROWS = """
            INSERT INTO onlyonce_outbox (tenant, space, key_, operation, entry_created_at, topic, payload, due_at)
            SELECT tenant, space, key_, operation, created_at, 'charge', sha256(key_::bytea), created_at
            FROM onlyonce_entry e
            WHERE state = 1 AND NOT EXISTS (SELECT FROM onlyonce_outbox o WHERE o.key_ = e.key_)""";

    private static final String CREATE_NAIVE = """
            CREATE TABLE naive_outbox (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, tenant text NOT NULL,
                key_ text NOT NULL, payload bytea NOT NULL)""";
    private static final String ACCEPT_NAIVE_ENTRIES = """
            INSERT INTO naive (tenant, key_, operation, fingerprint, state, token, owner, attempt, created_at, lease_until,
                expires_at)
            SELECT 'acme', gen_random_uuid()::text, 'POST /payments', sha256(i::text::bytea), 1, gen_random_uuid(), 'node', 1,
                   now(), now() + interval '30 s', now() + interval '1 d'
            FROM generate_series(1, ROWS) AS i""";
    private static final String ACCEPT_NAIVE_ROWS = """
            INSERT INTO naive_outbox (tenant, key_, payload)
            SELECT tenant, key_, sha256(key_::bytea) FROM naive n
            WHERE state = 1 AND NOT EXISTS (SELECT FROM naive_outbox o WHERE o.key_ = n.key_)""";
    private static final String TAKE = """
            SELECT id, tenant, key_, payload FROM naive_outbox ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED""";
    private static final String COMPLETE = """
            UPDATE naive SET state = 3, response = ?, settled_at = now() WHERE tenant = ? AND key_ = ?""";
    private static final String DONE = "DELETE FROM naive_outbox WHERE id = ?";

    private final Options options;
    private final Databases databases;
    private final Report report;

    Deliveries(Options options, Databases databases, Report report) {
        this.options = options;
        this.databases = databases;
        this.report = report;
    }

    void run() throws Exception {
        report.title("Outbox: rows delivered to a provider that does nothing, PostgreSQL");
        String url = databases.create(Databases.Kind.POSTGRESQL);
        try (HikariDataSource pool = databases.pool(url, Databases.POOL);
                SqlStore store = SqlStore.open(pool)) {
            Naive.createTable(Databases.Kind.POSTGRESQL, pool);
            execute(pool, CREATE_NAIVE);
            double outbox = 0;
            double one = 0;
            double many = 0;
            for (int turn = 0; turn <= options.rounds(); turn++) {
                fill(pool);
                double outboxNow = outbox(store);
                double oneNow = naive(pool, 1);
                double manyNow = naive(pool, NAIVE_THREADS);
                if (turn > 0) { // the first lets the compiler do its work
                    outbox += outboxNow / options.rounds();
                    one += oneNow / options.rounds();
                    many += manyNow / options.rounds();
                }
            }
            report.header(" worker", "rows/s", "outbox is");
            report.line("| outbox, one node | **%.0f** | |", outbox);
            report.line("| one row a transaction, 1 thread | %.0f | **%.2fx** |", one, outbox / one);
            report.line("| one row a transaction, %d threads | %.0f | **%.2fx** |", NAIVE_THREADS, many, outbox / many);
        }
    }

    private void fill(DataSource pool) throws SQLException {
        String rows = String.valueOf(rows());
        execute(pool, "TRUNCATE naive, naive_outbox, onlyonce_outbox, onlyonce_audit");
        execute(pool, "DELETE FROM onlyonce_entry WHERE fingerprint_version > 0");
        execute(pool, ACCEPT_ENTRIES.replace("ROWS", rows));
        execute(pool, ACCEPT_ROWS);
        execute(pool, ACCEPT_NAIVE_ENTRIES.replace("ROWS", rows));
        execute(pool, ACCEPT_NAIVE_ROWS);
        execute(pool, "VACUUM ANALYZE naive, naive_outbox, onlyonce_entry, onlyonce_outbox");
        execute(pool, "CHECKPOINT");
    }

    private double outbox(SqlStore store) throws InterruptedException {
        CountDownLatch left = new CountDownLatch(rows());
        try (Onlyonce once = Onlyonce.builder(store)
                        .listener(event -> {
                            if (event instanceof Event.Delivery) {
                                left.countDown();
                            }
                        })
                        .build();
                Outbox outbox = Outbox.builder(once)
                        .handler(TOPIC, row -> new Delivery.Delivered("provider-" + row.id(), Work.response()))
                        .build()) {
            long begun = System.nanoTime();
            outbox.start();
            if (left.await(options.round().toNanos(), TimeUnit.NANOSECONDS)) {
                throw new IllegalStateException("there was nothing left to deliver");
            }
            return (rows() - left.getCount()) * 1e9 / (System.nanoTime() - begun);
        }
    }

    private int rows() {
        return (int) options.round().toSeconds() * ROWS_A_SECOND;
    }

    private double naive(DataSource pool, int threads) throws Exception {
        return new Load(Threads.platform(), threads)
                .run(number -> () -> deliverOne(pool), options.round())
                .perSecond();
    }

    private static void deliverOne(DataSource pool) throws SQLException {
        try (Connection connection = pool.getConnection()) {
            connection.setAutoCommit(false);
            try (PreparedStatement take = connection.prepareStatement(TAKE);
                    ResultSet row = take.executeQuery()) {
                if (!row.next()) {
                    throw new IllegalStateException("there was nothing left to deliver");
                }
                byte[] result = Work.response(); // the call
                try (PreparedStatement complete = connection.prepareStatement(COMPLETE)) {
                    complete.setBytes(1, result);
                    complete.setString(2, row.getString(2));
                    complete.setString(3, row.getString(3));
                    complete.executeUpdate();
                }
                try (PreparedStatement done = connection.prepareStatement(DONE)) {
                    done.setLong(1, row.getLong(1));
                    done.executeUpdate();
                }
            }
            connection.commit();
        }
    }

    private static void execute(DataSource pool, String sql) throws SQLException {
        try (Connection connection = pool.getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }
}
