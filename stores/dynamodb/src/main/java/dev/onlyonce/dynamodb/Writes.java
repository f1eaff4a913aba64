package dev.onlyonce.dynamodb;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import software.amazon.awssdk.services.dynamodb.model.ConditionCheck;
import software.amazon.awssdk.services.dynamodb.model.Delete;
import software.amazon.awssdk.services.dynamodb.model.Put;
import software.amazon.awssdk.services.dynamodb.model.TransactWriteItem;
import software.amazon.awssdk.services.dynamodb.model.Update;

/** The writes of an action, which are executed together with its record or not at all. For one thread. */
public final class Writes {
    /** DynamoDB takes a hundred in one transaction; one is the entry. */
    public static final int MAX = 99;

    private final List<TransactWriteItem> items = new ArrayList<>();

    Writes() {}

    /**
     * Adds a write.
     *
     * @throws IllegalStateException if there are {@value #MAX} already
     */
    public Writes add(TransactWriteItem item) {
        if (items.size() == MAX) {
            throw new IllegalStateException("a transaction takes " + MAX + " writes beside the entry");
        }
        items.add(item);
        return this;
    }

    /** Adds a put. */
    public Writes put(Consumer<Put.Builder> put) {
        return add(TransactWriteItem.builder().put(put).build());
    }

    /** Adds an update. */
    public Writes update(Consumer<Update.Builder> update) {
        return add(TransactWriteItem.builder().update(update).build());
    }

    /** Adds a deletion. */
    public Writes delete(Consumer<Delete.Builder> delete) {
        return add(TransactWriteItem.builder().delete(delete).build());
    }

    /** Adds a condition on an item that is not written. */
    public Writes check(Consumer<ConditionCheck.Builder> check) {
        return add(TransactWriteItem.builder().conditionCheck(check).build());
    }

    List<TransactWriteItem> items() {
        return List.copyOf(items);
    }
}
