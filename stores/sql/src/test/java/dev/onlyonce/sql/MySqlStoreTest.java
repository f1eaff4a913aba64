package dev.onlyonce.sql;

import com.zaxxer.hikari.HikariDataSource;
import dev.onlyonce.store.Store;
import dev.onlyonce.testkit.StoreContract;
import dev.onlyonce.testservers.MySqlServer;
import java.time.Duration;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Order;

@Order(1)
@DisplayName("MySQL")
final class MySqlStoreTest extends StoreContract {
    private static HikariDataSource dataSource;
    private static SqlClock clock;

    @BeforeAll
    static void connect() {
        dataSource = Pools.open(MySqlServer.shared().createDatabase(), 70);
        clock = SqlClock.start(dataSource);
        SqlStore.open(dataSource).close();
    }

    @AfterAll
    static void disconnect() {
        dataSource.close();
    }

    MySqlStoreTest() {
        SqlClock.execute(
                dataSource, "DELETE FROM onlyonce_entry WHERE fingerprint_version > 0", "DELETE FROM onlyonce_audit");
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
