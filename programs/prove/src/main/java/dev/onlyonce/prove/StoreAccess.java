package dev.onlyonce.prove;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.onlyonce.sql.SqlStore;
import dev.onlyonce.store.Store;
import dev.onlyonce.store.StoreOptions;
import dev.onlyonce.store.StoreProvider;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import org.jspecify.annotations.Nullable;

/** A store by its URL, and what is closed with it. */
record StoreAccess(Store store, String url, @Nullable HikariDataSource pool) implements AutoCloseable {
    private static final String SQLITE = "jdbc:sqlite:";
    private static final int CONNECTIONS = 8;

    static StoreAccess open(String url) {
        if (url.startsWith(SQLITE)) {
            return new StoreAccess(SqlStore.sqlite(Path.of(url.substring(SQLITE.length()))), url, null);
        }
        if (url.startsWith("jdbc:")) {
            HikariConfig config = new HikariConfig();
            config.setJdbcUrl(url);
            config.setMaximumPoolSize(CONNECTIONS);
            config.setConnectionTimeout(3_000);
            HikariDataSource pool = new HikariDataSource(config);
            try {
                return new StoreAccess(SqlStore.open(pool), url, pool);
            } catch (RuntimeException e) {
                pool.close();
                throw e;
            }
        }
        StoreProvider provider = StoreProvider.of(url)
                .orElseThrow(() -> new IllegalArgumentException(
                        StoreOptions.shown(url) + " is no URL of a store; write jdbc:postgresql://... or redis://..."));
        return new StoreAccess(provider.open(new StoreOptions(url, user(url), user(url), null, true)), url, null);
    }

    /** A store may be down, or slow, when a node starts: whoever runs it would start it again. */
    static StoreAccess await(String url) {
        long begun = System.nanoTime();
        while (true) {
            try {
                return open(url);
            } catch (RuntimeException e) {
                if (System.nanoTime() - begun > Timing.UP_MAX.toNanos()) {
                    throw e;
                }
                System.err.println("not open yet: " + e);
                Pause.millis(200);
            }
        }
    }

    /** DynamoDB Local wants any; the others need none. */
    static @Nullable String user(String url) {
        return url.startsWith("dynamodb:") ? "local" : null;
    }

    boolean isSql() {
        return store.origin() instanceof SqlStore;
    }

    /** A connection to the same database, for an application's own transaction. */
    Connection connection() throws SQLException {
        return pool == null ? DriverManager.getConnection(url) : pool.getConnection();
    }

    @Override
    public void close() {
        store.close();
        if (pool != null) {
            pool.close();
        }
    }
}
