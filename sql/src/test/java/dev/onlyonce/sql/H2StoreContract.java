package dev.onlyonce.sql;

import com.zaxxer.hikari.HikariDataSource;
import dev.onlyonce.store.Store;
import dev.onlyonce.testkit.StoreContract;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.io.TempDir;

/** The store's contract on H2: in a file or in memory, in one of its modes. The tests of a class share a database. */
abstract class H2StoreContract extends StoreContract {
    static final String REGULAR = ";MODE=REGULAR";
    static final String POSTGRESQL = ";MODE=PostgreSQL;DATABASE_TO_LOWER=TRUE;DEFAULT_NULL_ORDERING=HIGH";

    @TempDir
    static Path folder;

    private static HikariDataSource dataSource;
    private static SqlClock clock;

    static void connect(String place) {
        dataSource = Pools.open("jdbc:h2:" + place + ";DB_CLOSE_DELAY=5", 70);
        clock = SqlClock.start(dataSource);
        SqlStore.open(dataSource).close();
    }

    H2StoreContract() {
        SqlClock.execute(dataSource, "DELETE FROM onlyonce_entry", "DELETE FROM onlyonce_audit");
    }

    @AfterAll
    static void disconnect() {
        dataSource.close();
    }

    @Override
    protected final Store open() {
        return SqlClock.store(dataSource).build();
    }

    @Override
    protected final void advance(Duration span) {
        clock.advance(span);
    }
}
