package dev.onlyonce.cassandra;

import dev.onlyonce.store.Store;
import dev.onlyonce.testkit.StoreContract;
import java.time.Duration;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Order;

@Order(1)
@DisplayName("Cassandra")
final class CassandraStoreTest extends StoreContract {
    private static ManualClock clock;

    private int opened;

    @BeforeAll
    static void connect() {
        clock = new ManualClock("contract");
    }

    @AfterAll
    static void disconnect() {
        clock.close();
    }

    CassandraStoreTest() {
        clock.start();
    }

    @Override
    protected Store open() {
        return clock.node(opened++);
    }

    @Override
    protected void advance(Duration span) {
        clock.advance(span);
    }
}
