package dev.onlyonce.dynamodb;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.services.dynamodb.DynamoDbAsyncClient;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;
import software.amazon.awssdk.services.dynamodb.model.QueryRequest;
import software.amazon.awssdk.services.dynamodb.model.QueryResponse;

/**
 * Finds entries by the work that is due for them. The index is late by moments, so whatever it finds is read from the table and
 * checked again, and what it misses is found the next time.
 */
record DueIndex(DynamoDbAsyncClient client, String table) {
    static final String NAME = "due";

    private static final String DUE = "dk = :dk AND da <= :until";

    private record Found(ItemKey key, long at) {}

    /**
     * The keys that are due at this time, the longest due first: at most {@code limit} from each shard. The caller may not need all of
     * them: the index lags, and may still list items that were changed before.
     */
    List<ItemKey> find(IndexKind kind, long until, int limit) {
        List<CompletableFuture<List<Found>>> shards = new ArrayList<>();
        for (int shard = 0; shard < ItemKey.SHARDS; shard++) {
            shards.add(page(kind.partition(shard), until, limit, null).thenApply(DueIndex::found));
        }
        return Reads.all(shards).stream()
                .flatMap(List::stream)
                .sorted(Comparator.comparingLong(Found::at))
                .map(Found::key)
                .toList();
    }

    /** The key of each shard that is due last of all. */
    List<ItemKey> last(IndexKind kind) {
        List<CompletableFuture<List<Found>>> shards = new ArrayList<>();
        for (int shard = 0; shard < ItemKey.SHARDS; shard++) {
            String partition = kind.partition(shard);
            shards.add(client.query(r -> query(r, partition, Long.MAX_VALUE)
                            .scanIndexForward(false)
                            .limit(1))
                    .thenApply(DueIndex::found));
        }
        return Reads.all(shards).stream().flatMap(List::stream).map(Found::key).toList();
    }

    /** All keys of a kind. */
    List<ItemKey> all(IndexKind kind) {
        List<ItemKey> keys = new ArrayList<>();
        Map<String, @Nullable Map<String, AttributeValue>> unfinished = new HashMap<>();
        for (int shard = 0; shard < ItemKey.SHARDS; shard++) {
            unfinished.put(kind.partition(shard), null);
        }
        while (!unfinished.isEmpty()) {
            Map<String, CompletableFuture<QueryResponse>> pages = new HashMap<>();
            unfinished.forEach(
                    (partition, after) -> pages.put(partition, page(partition, Long.MAX_VALUE, null, after)));
            pages.forEach((partition, request) -> {
                QueryResponse page = Reads.one(request);
                found(page).forEach(found -> keys.add(found.key));
                if (page.hasLastEvaluatedKey()) {
                    unfinished.put(partition, page.lastEvaluatedKey());
                } else {
                    unfinished.remove(partition);
                }
            });
        }
        return keys;
    }

    private CompletableFuture<QueryResponse> page(
            String partition, long until, @Nullable Integer limit, @Nullable Map<String, AttributeValue> after) {
        return client.query(
                r -> query(r, partition, until).exclusiveStartKey(after).limit(limit));
    }

    private QueryRequest.Builder query(QueryRequest.Builder request, String partition, long until) {
        return request.tableName(table)
                .indexName(NAME)
                .keyConditionExpression(DUE)
                .expressionAttributeValues(Map.of(":dk", AttributeValue.fromS(partition), ":until", Item.value(until)));
    }

    private static List<Found> found(QueryResponse page) {
        return page.items().stream()
                .map(Item::of)
                .map(item -> new Found(item.key(), item.number(Attribute.DUE_AT)))
                .toList();
    }
}
