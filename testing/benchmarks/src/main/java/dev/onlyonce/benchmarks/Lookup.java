package dev.onlyonce.benchmarks;

import com.zaxxer.hikari.HikariDataSource;
import dev.onlyonce.Codec;
import dev.onlyonce.Key;
import dev.onlyonce.Onlyonce;
import dev.onlyonce.store.Store;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadLocalRandom;

/** Reading an entry from the store, past the cache: grouped against one SELECT for each. */
final class Lookup {
    private static final int ENTRIES = 10_000;
    private static final int CALLERS = 64;

    private final Options options;
    private final Databases databases;
    private final Report report;

    Lookup(Options options, Databases databases, Report report) {
        this.options = options;
        this.databases = databases;
        this.report = report;
    }

    void run() throws Exception {
        report.title("Looking an entry up in the store (" + ENTRIES + " entries)");
        report.header(
                " database",
                "callers",
                "engine/s",
                "naive/s",
                "engine/naive",
                "engine p50",
                "naive p50",
                "engine p99",
                "naive p99");
        for (Databases.Kind kind : options.databases()) {
            run(kind);
        }
    }

    private void run(Databases.Kind kind) throws Exception {
        String url = databases.create(kind);
        HikariDataSource naivePool = databases.pool(url, Databases.POOL);
        Naive.createTable(kind, naivePool);
        try (Store store = databases.store(kind, url);
                Onlyonce once = Onlyonce.builder(store).build()) {
            List<Key> keys = fill(kind, once, naivePool);
            Contest contest = new Contest(options)
                    .add("engine", number -> () -> {
                        if (once.find(pick(keys)).isEmpty()) {
                            throw new IllegalStateException("an entry is missing");
                        }
                    })
                    .add("naive", number -> () -> {
                        if (Naive.find(naivePool, pick(keys).value()) == null) {
                            throw new IllegalStateException("an entry is missing");
                        }
                    });
            contest.warmUp();
            Contest.Results measured = contest.run(Threads.platform(), CALLERS);
            Measured engine = measured.of("engine");
            Measured naive = measured.of("naive");
            report.line(
                    "| %s | %d | %.0f | %.0f | **%.2fx** | %.2f | %.2f | %.2f | %.2f |",
                    kind.shown(),
                    CALLERS,
                    engine.perSecond(),
                    naive.perSecond(),
                    engine.perSecond() / naive.perSecond(),
                    engine.millis(0.5),
                    naive.millis(0.5),
                    engine.millis(0.99),
                    naive.millis(0.99));
        } finally {
            naivePool.close();
        }
    }

    private static Key pick(List<Key> keys) {
        return keys.get(ThreadLocalRandom.current().nextInt(keys.size()));
    }

    /** The same entries in both tables. */
    private static List<Key> fill(Databases.Kind kind, Onlyonce once, HikariDataSource pool) throws Exception {
        List<Key> keys = new ArrayList<>();
        for (int i = 0; i < ENTRIES; i++) {
            keys.add(Key.of(Work.TENANT, Work.OPERATION, Work.newKey()));
        }
        ExecutorService threads = Executors.newFixedThreadPool(64);
        List<Future<?>> executions = new ArrayList<>();
        for (Key key : keys) {
            Callable<?> execution = () -> once.execute(key, Work.FINGERPRINT, Codec.bytes(), claim -> Work.response());
            executions.add(threads.submit(execution));
        }
        for (Future<?> execution : executions) {
            execution.get();
        }
        threads.shutdown();
        fillNaive(kind, keys, pool);
        return keys;
    }

    private static void fillNaive(Databases.Kind kind, List<Key> keys, HikariDataSource pool) throws SQLException {
        String now = switch (kind) {
            case POSTGRESQL -> "now()";
            case MARIADB -> "now(6)";
            case SQLITE -> "unixepoch()";
        };
        String sql =
                ("INSERT INTO naive (tenant, key_, operation, fingerprint, state, token, owner, attempt, created_at,"
                                + " lease_until, settled_at, expires_at, response)"
                                + " VALUES (?, ?, ?, ?, 3, ?, 'node', 1, NOW, NOW, NOW, NOW, ?)")
                        .replace("NOW", now);
        try (Connection connection = pool.getConnection();
                PreparedStatement insert = connection.prepareStatement(sql)) {
            connection.setAutoCommit(false);
            for (Key key : keys) {
                insert.setString(1, key.tenant());
                insert.setString(2, key.value());
                insert.setString(3, key.operation());
                insert.setBytes(4, Work.DIGEST);
                Naive.setToken(kind, insert, 5);
                insert.setBytes(6, Work.response());
                insert.addBatch();
            }
            insert.executeBatch();
            connection.commit();
            connection.setAutoCommit(true);
        }
    }
}
