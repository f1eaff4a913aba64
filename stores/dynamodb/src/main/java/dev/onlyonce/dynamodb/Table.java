package dev.onlyonce.dynamodb;

import dev.onlyonce.store.Tokens;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.services.dynamodb.DynamoDbAsyncClient;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;
import software.amazon.awssdk.services.dynamodb.model.ConditionalCheckFailedException;
import software.amazon.awssdk.services.dynamodb.model.ReturnValue;
import software.amazon.awssdk.services.dynamodb.model.ReturnValuesOnConditionCheckFailure;
import software.amazon.awssdk.services.dynamodb.model.TransactWriteItem;

/**
 * Conditional writes and consistent reads of single items. A write whose answer is lost is sent once more, which is safe: its condition
 * tells whether the first one was executed. A failed write is completed with the SDK's exception, see {@link ServiceFailure}.
 */
record Table(DynamoDbAsyncClient client, String name) {
    private static final String IS_NEW = "attribute_not_exists(pk)";
    private static final String IS_UNCHANGED = "rv = :rv";

    /** The answer to a conditional write. */
    sealed interface Outcome {
        /** It is stored. With the item before it, for updates only. */
        record Done(Map<String, AttributeValue> before) implements Outcome {}

        /** The condition did not hold, and nothing was changed: the item as it is now, if there is one. */
        record Refused(Optional<Item> now) implements Outcome {}
    }

    /**
     * A change without reading first.
     *
     * @param update an update expression
     * @param condition a condition expression
     * @param values of both
     */
    record Update(String update, String condition, Map<String, AttributeValue> values) {}

    CompletableFuture<Optional<Item>> get(ItemKey key) {
        return read(key).thenApply(found -> found.map(Item::of));
    }

    /** Reads what is there, whoever wrote it. */
    CompletableFuture<Optional<Map<String, AttributeValue>>> read(ItemKey key) {
        return client.getItem(r -> r.tableName(name).key(key.map()).consistentRead(true))
                .thenApply(found -> found.hasItem() ? Optional.of(found.item()) : Optional.empty());
    }

    /** Stores what is left of the old item if that has not changed, or, without one, an item where there is none. */
    CompletableFuture<Outcome> write(@Nullable Item old, Changes.Rest rest) {
        if (rest instanceof Changes.Rest.Left left) {
            return old == null ? create(left.item()) : replace(old, left.item());
        }
        return delete(Objects.requireNonNull(old, "nothing to delete"));
    }

    /** Stores an item where there is none. */
    CompletableFuture<Outcome> create(Item item) {
        return put(item, IS_NEW, null);
    }

    /** Stores the next item if the old one has not changed. */
    CompletableFuture<Outcome> replace(Item old, Item next) {
        return put(next, IS_UNCHANGED, revision(old));
    }

    private CompletableFuture<Outcome> put(Item item, String condition, @Nullable Map<String, AttributeValue> values) {
        return twice(() -> client.putItem(r -> r.tableName(name)
                        .item(item.values())
                        .conditionExpression(condition)
                        .expressionAttributeValues(values)
                        .returnValuesOnConditionCheckFailure(ReturnValuesOnConditionCheckFailure.ALL_OLD))
                .thenApply(answer -> (Outcome) new Outcome.Done(Map.of()))
                .exceptionally(Table::refused)
                .thenApply(written -> isMine(written, item) ? new Outcome.Done(Map.of()) : written));
    }

    /** The first sending was executed, although its answer was lost. */
    private static boolean isMine(Outcome written, Item item) {
        return written instanceof Outcome.Refused refused
                && refused.now.filter(now -> now.read(item::isRevision)).isPresent();
    }

    /** Deletes an item if it has not changed. */
    CompletableFuture<Outcome> delete(Item old) {
        return twice(() -> client.deleteItem(r -> r.tableName(name)
                        .key(old.key().map())
                        .conditionExpression(IS_UNCHANGED)
                        .expressionAttributeValues(revision(old)))
                .thenApply(answer -> (Outcome) new Outcome.Done(Map.of()))
                .exceptionally(Table::refused));
    }

    /** Changes an item if the condition holds. */
    CompletableFuture<Outcome> update(ItemKey key, Update update) {
        return twice(() -> client.updateItem(r -> r.tableName(name)
                        .key(key.map())
                        .updateExpression(update.update)
                        .conditionExpression(update.condition)
                        .expressionAttributeValues(update.values)
                        .returnValues(ReturnValue.ALL_OLD)
                        .returnValuesOnConditionCheckFailure(ReturnValuesOnConditionCheckFailure.ALL_OLD))
                .thenApply(answer -> (Outcome) new Outcome.Done(new HashMap<>(answer.attributes())))
                .exceptionally(Table::refused));
    }

    /**
     * Changes an item if the condition holds, together with other writes. Sent again with the same request token if its answer is lost:
     * DynamoDB then executes it once.
     */
    CompletableFuture<Void> transact(ItemKey key, Update update, List<TransactWriteItem> others) {
        List<TransactWriteItem> items = new ArrayList<>(others);
        items.add(TransactWriteItem.builder()
                .update(u -> u.tableName(name)
                        .key(key.map())
                        .updateExpression(update.update)
                        .conditionExpression(update.condition)
                        .expressionAttributeValues(update.values))
                .build());
        String token = Tokens.next().toString();
        return twice(() -> client.transactWriteItems(r -> r.transactItems(items).clientRequestToken(token))
                .thenApply(answer -> null));
    }

    private static Map<String, AttributeValue> revision(Item old) {
        return Map.of(":rv", Item.value(old.number(Attribute.REVISION)));
    }

    private static Outcome refused(Throwable thrown) {
        Throwable cause = ServiceFailure.cause(thrown);
        if (cause instanceof ConditionalCheckFailedException refused) {
            return new Outcome.Refused(refused.hasItem() ? Optional.of(Item.of(refused.item())) : Optional.empty());
        }
        throw new CompletionException(cause);
    }

    /** Sends again if the answer to the first request is lost; after that any failure leaves it in doubt. */
    private static <T> CompletableFuture<T> twice(Supplier<CompletableFuture<T>> send) {
        return send.get().exceptionallyCompose(first -> {
            Throwable cause = ServiceFailure.cause(first);
            if (!ServiceFailure.isAmbiguous(cause)) {
                return CompletableFuture.failedFuture(cause);
            }
            return send.get().exceptionallyCompose(second -> {
                cause.addSuppressed(ServiceFailure.cause(second));
                return CompletableFuture.failedFuture(cause);
            });
        });
    }
}
