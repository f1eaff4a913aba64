package dev.onlyonce.sql;

import com.zaxxer.hikari.HikariDataSource;
import dev.onlyonce.store.Store;
import dev.onlyonce.testkit.StoreContract;
import dev.onlyonce.testservers.PostgresServer;
import java.time.Duration;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;

/** In a table of many pages a lone settlement is another statement; what is peculiar to it is in {@link PostgresGrownTest}. */
@Tag("thorough")
@DisplayName("PostgreSQL, a table that has grown")
final class PostgresGrownStoreTest extends StoreContract {
    private static HikariDataSource dataSource;
    private static SqlClock clock;

    @BeforeAll
    static void connect() {
        dataSource = Pools.open(PostgresServer.shared().createDatabase(), 70);
        clock = SqlClock.start(dataSource);
        SqlStore.open(dataSource).close();
        PostgresGrownTest.grow(dataSource);
    }

    @AfterAll
    static void disconnect() {
        dataSource.close();
    }

    PostgresGrownStoreTest() {
        SqlClock.execute(
                dataSource, "DELETE FROM onlyonce_entry WHERE fingerprint_version > 0", "TRUNCATE onlyonce_audit");
    }

    @Override
    protected Store open() {
        return SqlClock.store(dataSource).build();
    }

    @Override
    protected void advance(Duration span) {
        clock.advance(span);
    }
}
