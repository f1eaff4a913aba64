package dev.onlyonce.dynamodb;

import dev.onlyonce.store.StoreMark;
import dev.onlyonce.store.StoreRefused;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletionException;
import java.util.function.Consumer;
import software.amazon.awssdk.core.SdkBytes;
import software.amazon.awssdk.services.dynamodb.DynamoDbAsyncClient;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;
import software.amazon.awssdk.services.dynamodb.model.ConditionalCheckFailedException;
import software.amazon.awssdk.services.dynamodb.model.GetItemResponse;
import software.amazon.awssdk.services.dynamodb.model.PutItemRequest;
import software.amazon.awssdk.services.dynamodb.model.ResourceNotFoundException;

/** The item that shows that this is the table it was, see {@link StoreMark}: made by whoever creates the table. */
record MarkItem(DynamoDbAsyncClient client, String table) {
    /** The keys of entries are longer. */
    private static final AttributeValue KEY = AttributeValue.fromB(SdkBytes.fromUtf8String("onlyonce store"));

    private static final String MARK = "mark";

    /** Whether an item of the table is this one. */
    static boolean is(Map<String, AttributeValue> item) {
        return KEY.equals(item.get(Attribute.PK));
    }

    /** Reads it. */
    Optional<StoreMark> read() {
        try {
            GetItemResponse found = client.getItem(r ->
                            r.tableName(table).key(Map.of(Attribute.PK, KEY)).consistentRead(true))
                    .join();
            AttributeValue mark = found.item().get(MARK);
            return mark == null ? Optional.empty() : StoreMark.of(mark.s());
        } catch (CompletionException e) {
            if (ServiceFailure.cause(e) instanceof ResourceNotFoundException) {
                throw new StoreRefused("The table " + table + " was deleted, and all entries with it", e);
            }
            throw ServiceFailure.ofRead(e);
        }
    }

    /** Marks a table that is being created. If several nodes do, the first one's stays. */
    void create(StoreMark mark) {
        put(
                mark,
                r -> r.conditionExpression("attribute_not_exists(#pk)")
                        .expressionAttributeNames(Map.of("#pk", Attribute.PK)));
    }

    /** Writes it, whatever is there. */
    void write(StoreMark mark) {
        put(mark, r -> {});
    }

    private void put(StoreMark mark, Consumer<PutItemRequest.Builder> condition) {
        Map<String, AttributeValue> item = Map.of(Attribute.PK, KEY, MARK, AttributeValue.fromS(mark.text()));
        try {
            var unused = client.putItem(r -> condition.accept(r.tableName(table).item(item)))
                    .join();
        } catch (CompletionException e) {
            if (!(ServiceFailure.cause(e) instanceof ConditionalCheckFailedException)) {
                throw ServiceFailure.of(e);
            }
        }
    }
}
