package dev.onlyonce.dynamodb;

import dev.onlyonce.store.Store;
import dev.onlyonce.testkit.StoreContract;
import dev.onlyonce.testservers.DynamoDbServer;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.condition.DisabledIfSystemProperty;

@DisplayName("DynamoDB")
@Order(1)
@DisabledIfSystemProperty(named = DynamoDbServer.PROPERTY, matches = "false", disabledReason = "-Ddynamodb.local=false")
final class DynamoDbStoreTest extends StoreContract {
    private static final AtomicInteger TABLES = new AtomicInteger();
    private static DynamoDbServer server;

    private final ManualClock clock = new ManualClock();
    private final String table = "contract-" + TABLES.incrementAndGet();

    @BeforeAll
    static void start() {
        server = DynamoDbServer.shared();
    }

    @Override
    protected Store open() {
        return DynamoDbStore.builder(
                        "dynamodb:" + table + "?region=eu-central-1&timeout=20s&endpoint=" + server.endpoint())
                .credentials("local", "local")
                .create(true)
                .clock(clock)
                .build();
    }

    @Override
    public int resultBytesKept() {
        return DynamoDbStore.RESULT_BYTES_MAX;
    }

    @Override
    protected void advance(Duration span) {
        clock.advance(span);
    }
}
