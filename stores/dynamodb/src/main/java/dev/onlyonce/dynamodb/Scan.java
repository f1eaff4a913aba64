package dev.onlyonce.dynamodb;

import dev.onlyonce.store.EntryId;
import dev.onlyonce.store.UnreadableEntries;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.services.dynamodb.DynamoDbAsyncClient;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;
import software.amazon.awssdk.services.dynamodb.model.ScanResponse;

/** Reads the whole table, for operators. Several segments at once; each page has up to 1 MiB. An item that cannot be
 * read is reported and left out. */
record Scan(DynamoDbAsyncClient client, String table, UnreadableEntries unreadable) {
    private static final int SEGMENTS = 4;

    /** Everything but results, which may be large. */
    static final String HEADS = "pk, f, t, sc, k, o, fp, s, tk, ow, n, ls, ol, rt, tb, ca, la, sa, ea";

    /** What the audit is made of. */
    static final String AUDIT = "pk, f, t, sc, k, o, s, ow, n, sa, cf, cs, ct, sf, st, sw, wy, lg, lc";

    /**
     * Gives every item to the reader, in no order.
     *
     * @param attributes which of them are read
     * @param tenant null for all tenants
     * @param reader returns whether to go on
     */
    void read(String attributes, @Nullable String tenant, Predicate<Item> reader) {
        Map<Integer, @Nullable Map<String, AttributeValue>> unfinished = new HashMap<>();
        for (int segment = 0; segment < SEGMENTS; segment++) {
            unfinished.put(segment, null);
        }
        while (!unfinished.isEmpty()) {
            List<Integer> segments = List.copyOf(unfinished.keySet());
            List<CompletableFuture<ScanResponse>> pages = new ArrayList<>();
            segments.forEach(segment -> pages.add(page(attributes, tenant, segment, unfinished.get(segment))));
            List<ScanResponse> answers = Reads.all(pages);
            for (int i = 0; i < answers.size(); i++) {
                ScanResponse page = answers.get(i);
                for (Map<String, AttributeValue> item : page.items()) {
                    if (!MarkItem.is(item)
                            && !unreadable
                                    .read(name(item), () -> reader.test(Item.of(item)))
                                    .orElse(true)) {
                        return;
                    }
                }
                if (page.hasLastEvaluatedKey()) {
                    unfinished.put(segments.get(i), page.lastEvaluatedKey());
                } else {
                    unfinished.remove(segments.get(i));
                }
            }
        }
    }

    /** The name of an item that may be unreadable, for the log. */
    static Object name(Map<String, AttributeValue> item) {
        AttributeValue tenant = item.get(Attribute.TENANT);
        AttributeValue scope = item.get(Attribute.SCOPE);
        AttributeValue key = item.get(Attribute.KEY);
        return tenant == null || scope == null || key == null
                ? "the item " + item.get(Attribute.PK)
                : new EntryId(String.valueOf(tenant.s()), String.valueOf(scope.s()), String.valueOf(key.s()));
    }

    private CompletableFuture<ScanResponse> page(
            String attributes, @Nullable String tenant, int segment, @Nullable Map<String, AttributeValue> after) {
        return client.scan(r -> {
            r.tableName(table)
                    .consistentRead(true)
                    .projectionExpression(attributes)
                    .segment(segment)
                    .totalSegments(SEGMENTS)
                    .exclusiveStartKey(after);
            if (tenant != null) {
                r.filterExpression("t = :t").expressionAttributeValues(Map.of(":t", AttributeValue.fromS(tenant)));
            }
        });
    }
}
