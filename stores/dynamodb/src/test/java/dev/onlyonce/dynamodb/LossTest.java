package dev.onlyonce.dynamodb;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onlyonce.store.AuditQuery;
import dev.onlyonce.store.ClaimResult;
import dev.onlyonce.store.Store;
import dev.onlyonce.store.StoreRefused;
import dev.onlyonce.testkit.LossContract;
import dev.onlyonce.testservers.DynamoDbServer;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledIfSystemProperty;
import software.amazon.awssdk.services.dynamodb.DynamoDbAsyncClient;

@DisplayName("DynamoDB that loses its entries")
@DisabledIfSystemProperty(named = DynamoDbServer.PROPERTY, matches = "false", disabledReason = "-Ddynamodb.local=false")
final class LossTest extends LossContract {
    private static final AtomicInteger TABLES = new AtomicInteger();
    private static DynamoDbServer server;
    private static DynamoDbAsyncClient client;

    private final String table = "loss-" + TABLES.incrementAndGet();

    @BeforeAll
    static void start() {
        server = DynamoDbServer.shared();
        client = BusinessTables.client(server.endpoint());
    }

    @AfterAll
    static void stop() {
        client.close();
    }

    @Override
    protected Store open() {
        return DynamoDbStore.builder(
                        "dynamodb:" + table + "?region=eu-central-1&timeout=20s&endpoint=" + server.endpoint())
                .credentials("local", "local")
                .create(true)
                .build();
    }

    @Override
    protected void empty() {
        client.scan(r -> r.tableName(table))
                .join()
                .items()
                .forEach(item -> client.deleteItem(
                                r -> r.tableName(table).key(Map.of(Attribute.PK, item.get(Attribute.PK))))
                        .join());
    }

    @Override
    protected void startOver() {
        client.updateTable(r -> r.tableName(table).deletionProtectionEnabled(false))
                .join();
        client.deleteTable(r -> r.tableName(table)).join();
        client.waiter().waitUntilTableNotExists(r -> r.tableName(table)).join();
    }

    @Test
    @DisplayName("D1 a table whose creator died before it was marked is finished by the next node")
    void halfCreated() {
        client.createTable(Schema.definition(table)).join();
        try (Store store = open()) {
            assertThat(store.claim(List.of(Calls.claim("key"))).get(0)).isInstanceOf(ClaimResult.Claimed.class);
        }
        open().close();
    }

    @Test
    @DisplayName("E5 a table that was deleted is refused, and the mark is in no list")
    void deleted() {
        try (Store store = open()) {
            assertThat(store.audit(AuditQuery.all(10))).isEmpty();
            startOver();
            assertThatThrownBy(store::recheck).isInstanceOf(StoreRefused.class).hasMessageContaining("was deleted");
            assertThatThrownBy(() -> store.claim(List.of(Calls.claim("key")))).isInstanceOf(StoreRefused.class);
        }
    }
}
