package dev.onlyonce.benchmarks;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.onlyonce.sql.SqlStore;
import dev.onlyonce.store.Store;
import dev.onlyonce.testservers.DatabaseServer;
import dev.onlyonce.testservers.MariaDbServer;
import dev.onlyonce.testservers.PostgresServer;
import dev.onlyonce.testservers.SqliteFile;
import java.io.Closeable;
import java.io.IOException;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** The servers that are measured, each started when it is first needed and stopped in the end. */
final class Databases implements AutoCloseable {
    /** The size of the pool that the "obvious code" uses; both sides get one of this size. */
    static final int POOL = 16;
    /** As durable as the store opens its file. */
    private static final String SQLITE_SETTINGS = "?journal_mode=WAL&synchronous=FULL&busy_timeout=60000";

    private final List<Closeable> opened = new ArrayList<>();
    private @Nullable DatabaseServer postgres;
    private @Nullable DatabaseServer mariadb;

    /** What is measured. */
    enum Kind {
        POSTGRESQL("PostgreSQL"),
        MARIADB("MariaDB"),
        SQLITE("SQLite");

        private final String shown;

        Kind(String shown) {
            this.shown = shown;
        }

        String shown() {
            return shown;
        }
    }

    /** Returns the URL of a new, empty database that keeps what it acknowledges. */
    String create(Kind kind) throws Exception {
        String url = switch (kind) {
            case POSTGRESQL -> postgres().createDatabase();
            case MARIADB -> mariadb().createDatabase();
            case SQLITE -> sqlite();
        };
        checkDurable(kind, url);
        return url;
    }

    private DatabaseServer postgres() {
        if (postgres == null) {
            // Room for the work, so that neither side waits for checkpoints; both run on the same server.
            postgres = PostgresServer.start(
                    "shared_buffers=512MB",
                    "max_wal_size=4GB",
                    "shared_preload_libraries=pg_stat_statements",
                    "pg_stat_statements.track=none");
            opened.add(postgres::close);
        }
        return postgres;
    }

    private DatabaseServer mariadb() {
        if (mariadb == null) {
            mariadb = MariaDbServer.start("innodb-buffer-pool-size=512M", "innodb-log-file-size=1G");
            opened.add(mariadb::close);
        }
        return mariadb;
    }

    private String sqlite() throws IOException {
        TemporaryFolder folder = TemporaryFolder.create("onlyonce-sqlite");
        opened.add(folder);
        return SqliteFile.in(folder.path()).jdbcUrl() + SQLITE_SETTINGS;
    }

    private static void checkDurable(Kind kind, String url) throws SQLException {
        try (Connection connection = DriverManager.getConnection(url);
                Statement statement = connection.createStatement()) {
            switch (kind) {
                case POSTGRESQL -> {
                    check(statement, "SHOW fsync", "on");
                    check(statement, "SHOW synchronous_commit", "on");
                    check(statement, "SHOW full_page_writes", "on");
                }
                case MARIADB -> {
                    check(statement, "SELECT @@innodb_flush_log_at_trx_commit", "1");
                    check(statement, "SELECT @@innodb_doublewrite", "on", "1");
                }
                case SQLITE -> {
                    check(statement, "PRAGMA journal_mode", "wal");
                    check(statement, "PRAGMA synchronous", "2");
                }
            }
        }
    }

    private static void check(Statement statement, String query, String... expected) throws SQLException {
        try (ResultSet rows = statement.executeQuery(query)) {
            rows.next();
            String actual = rows.getString(1).toLowerCase(Locale.ROOT);
            if (!List.of(expected).contains(actual)) {
                throw new IllegalStateException(query + " says " + actual + ", so the benchmark would lie");
            }
        }
    }

    /** The store as an application opens it: on a pool, or on the file. */
    Store store(Kind kind, String url) {
        if (kind == Kind.SQLITE) {
            String file = url.substring("jdbc:sqlite:".length(), url.length() - SQLITE_SETTINGS.length());
            return SqlStore.sqlite(Path.of(file));
        }
        return SqlStore.open(pool(url, POOL));
    }

    /** A pool of the given size, filled. */
    HikariDataSource pool(String url, int size) {
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl(url);
        config.setMaximumPoolSize(size);
        config.setMinimumIdle(size);
        config.setConnectionTimeout(60_000);
        HikariDataSource pool = new HikariDataSource(config);
        opened.add(pool);
        return pool;
    }

    @Override
    public void close() throws IOException {
        for (int i = opened.size() - 1; i >= 0; i--) {
            opened.get(i).close();
        }
    }
}
