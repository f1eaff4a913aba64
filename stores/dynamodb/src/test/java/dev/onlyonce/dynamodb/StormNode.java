package dev.onlyonce.dynamodb;

import dev.onlyonce.Key;
import dev.onlyonce.Onlyonce;
import dev.onlyonce.fingerprint.Fingerprint;
import dev.onlyonce.testkit.KillStorm;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Random;
import software.amazon.awssdk.services.dynamodb.DynamoDbAsyncClient;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;

/** A node of the storm: executes every key in both ways, in an order of its own, and ends when all are decided. */
final class StormNode {
    static final int KEYS = 160;
    static final String LEASED = "POST /leased";
    static final String TOGETHER = "POST /together";
    static final String EFFECTS = "effects";
    private static final Fingerprint REQUEST = Fingerprint.of(new byte[] {1});

    private StormNode() {}

    /** Takes the endpoint and a seed. */
    public static void main(String[] arguments) {
        List<Key> keys = new ArrayList<>(keys());
        Collections.shuffle(keys, new Random(Long.parseLong(arguments[1])));
        try (DynamoDbAsyncClient client = BusinessTables.client(arguments[0]);
                DynamoDbStore store = store(arguments[0], false);
                Onlyonce once = Onlyonce.builder(store)
                        .lease(Duration.ofSeconds(1))
                        .sweepEvery(Duration.ofMillis(200))
                        .build()) {
            DynamoDbTransactions transactions = DynamoDbTransactions.of(once);
            KillStorm.work(once, keys, key -> {
                if (key.operation().equals(LEASED)) {
                    once.execute(key, REQUEST, String.class, claim -> {
                        client.updateItem(r -> r.tableName(EFFECTS)
                                        .key(id(key))
                                        .updateExpression("ADD effects :one")
                                        .expressionAttributeValues(Map.of(":one", AttributeValue.fromN("1"))))
                                .join();
                        return "done";
                    });
                } else {
                    transactions.execute(key, REQUEST, String.class, (claim, writes) -> {
                        writes.update(u -> u.tableName(EFFECTS)
                                .key(id(key))
                                .updateExpression("ADD effects :one")
                                .expressionAttributeValues(Map.of(":one", AttributeValue.fromN("1"))));
                        return "done";
                    });
                }
            });
        }
    }

    static List<Key> keys() {
        List<Key> keys = new ArrayList<>();
        for (int i = 0; i < KEYS; i++) {
            keys.add(Key.of("acme", i % 2 == 0 ? LEASED : TOGETHER, "key-" + i));
        }
        return keys;
    }

    static DynamoDbStore store(String endpoint, boolean create) {
        return DynamoDbStore.builder("dynamodb:storm?region=eu-central-1&timeout=10s&endpoint=" + endpoint)
                .credentials("local", "local")
                .create(create)
                .build();
    }

    /** How often a key took effect. */
    static int effects(DynamoDbAsyncClient client, Key key) {
        var found = client.getItem(r -> r.tableName(EFFECTS).key(id(key)).consistentRead(true))
                .join();
        return found.hasItem() ? Integer.parseInt(found.item().get("effects").n()) : 0;
    }

    private static Map<String, AttributeValue> id(Key key) {
        return Map.of("id", AttributeValue.fromS(key.value()));
    }
}
