package dev.onlyonce.payments.db;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import java.time.Duration;
import org.sqlite.SQLiteConfig;
import org.sqlite.SQLiteDataSource;

/** Opens the pool of connections that each database needs. */
public final class DataSources {
    /** A request that gets no connection in time is answered 503: waiting longer helps nobody. */
    private static final Duration PATIENCE = Duration.ofSeconds(5);
    /** More than the cores of a database server that the payments have for themselves do not help. */
    private static final int CONNECTIONS = 16;
    /** SQLite has one writer; some more connections read at the same time. */
    private static final int SQLITE_CONNECTIONS = 4;
    /** How long a writer waits for the one before. */
    private static final Duration SQLITE_PATIENCE = Duration.ofSeconds(10);

    private DataSources() {}

    /** Opens a pool; the caller closes it. */
    public static HikariDataSource open(String jdbcUrl) {
        HikariConfig config = new HikariConfig();
        config.setPoolName("payments");
        config.setConnectionTimeout(PATIENCE.toMillis());
        // The application starts when the database is there, however long that takes, and not before.
        config.setInitializationFailTimeout(Duration.ofMinutes(1).toMillis());
        if (Dialect.of(jdbcUrl) == Dialect.SQLITE) {
            config.setMaximumPoolSize(SQLITE_CONNECTIONS);
            config.setDataSource(sqlite(jdbcUrl));
        } else {
            config.setMaximumPoolSize(CONNECTIONS);
            config.setJdbcUrl(driverUrl(jdbcUrl));
        }
        return new HikariDataSource(config);
    }

    /** As the driver wants it: MariaDB's, which MySQL understands too, takes no other name. */
    public static String driverUrl(String jdbcUrl) {
        return jdbcUrl.replaceFirst("^jdbc:mysql:", "jdbc:mariadb:");
    }

    private static SQLiteDataSource sqlite(String jdbcUrl) {
        SQLiteConfig config = new SQLiteConfig();
        config.setJournalMode(SQLiteConfig.JournalMode.WAL);
        config.setSynchronous(SQLiteConfig.SynchronousMode.FULL);
        config.setBusyTimeout((int) SQLITE_PATIENCE.toMillis());
        // A transaction that reads first and writes later could find the file changed in between, and fail.
        config.setTransactionMode(SQLiteConfig.TransactionMode.IMMEDIATE);
        SQLiteDataSource source = new SQLiteDataSource(config);
        source.setUrl(jdbcUrl);
        return source;
    }
}
