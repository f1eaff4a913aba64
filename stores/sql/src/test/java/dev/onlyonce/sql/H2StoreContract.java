package dev.onlyonce.sql;

import com.zaxxer.hikari.HikariDataSource;
import dev.onlyonce.store.Store;
import dev.onlyonce.testkit.StoreContract;
import java.time.Duration;

/** The store's contract on H2: in a file or in memory, in one of its modes. The tests of a class share a database. */
abstract class H2StoreContract extends StoreContract {
    static final String REGULAR = ";MODE=REGULAR";
    static final String POSTGRESQL = ";MODE=PostgreSQL;DATABASE_TO_LOWER=TRUE;DEFAULT_NULL_ORDERING=HIGH";

    private final H2 database;

    /** The database of a class, with the tables and a clock. */
    record H2(HikariDataSource dataSource, SqlClock clock) implements AutoCloseable {
        static H2 open(String place) {
            HikariDataSource dataSource = Pools.open("jdbc:h2:" + place + ";DB_CLOSE_DELAY=5", 70);
            SqlClock clock = SqlClock.start(dataSource);
            SqlStore.open(dataSource).close();
            return new H2(dataSource, clock);
        }

        @Override
        public void close() {
            dataSource.close();
        }
    }

    H2StoreContract(H2 database) {
        this.database = database;
        SqlClock.execute(
                database.dataSource(),
                "DELETE FROM onlyonce_entry WHERE fingerprint_version > 0",
                "DELETE FROM onlyonce_audit");
    }

    @Override
    protected final Store open() {
        return SqlClock.store(database.dataSource()).build();
    }

    @Override
    protected final void advance(Duration span) {
        database.clock().advance(span);
    }
}
