package dev.onlyonce.dynamodb;

import dev.onlyonce.store.StoreException;
import dev.onlyonce.store.StoreMark;
import dev.onlyonce.store.StoreUnavailable;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletionException;
import software.amazon.awssdk.awscore.AwsRequestOverrideConfiguration;
import software.amazon.awssdk.services.dynamodb.DynamoDbAsyncClient;
import software.amazon.awssdk.services.dynamodb.model.AttributeDefinition;
import software.amazon.awssdk.services.dynamodb.model.BillingMode;
import software.amazon.awssdk.services.dynamodb.model.CreateTableRequest;
import software.amazon.awssdk.services.dynamodb.model.GlobalSecondaryIndex;
import software.amazon.awssdk.services.dynamodb.model.KeySchemaElement;
import software.amazon.awssdk.services.dynamodb.model.KeyType;
import software.amazon.awssdk.services.dynamodb.model.ProjectionType;
import software.amazon.awssdk.services.dynamodb.model.ResourceInUseException;
import software.amazon.awssdk.services.dynamodb.model.ResourceNotFoundException;
import software.amazon.awssdk.services.dynamodb.model.ScalarAttributeType;
import software.amazon.awssdk.services.dynamodb.model.TableDescription;
import software.amazon.awssdk.services.dynamodb.model.TimeToLiveDescription;
import software.amazon.awssdk.services.dynamodb.model.TimeToLiveStatus;

/** The table: creates it, or checks that it is what the store needs. */
record Schema(DynamoDbAsyncClient client, String table) {
    static final int VERSION = 1;

    /** The first requests of a process load its classes, and tables are another service's work. */
    private static final Duration PATIENCE = Duration.ofSeconds(10);

    private static final List<AttributeDefinition> ATTRIBUTES = List.of(
            attribute(Attribute.PK, ScalarAttributeType.B),
            attribute(Attribute.DUE_KIND, ScalarAttributeType.S),
            attribute(Attribute.DUE_AT, ScalarAttributeType.N));

    /** Checks the table, after creating what is missing if asked to; throws {@link StoreException}. */
    void prepare(boolean create) {
        try {
            if (create) {
                create();
            }
            check(client.describeTable(r -> r.tableName(table).overrideConfiguration(patient()))
                    .join()
                    .table());
            if (create) {
                finish();
            }
        } catch (CompletionException e) {
            StoreException failure = ServiceFailure.ofRead(e);
            String message = String.valueOf(failure.getMessage())
                    .replace(
                            ServiceFailure.CONNECTION_LOST,
                            ServiceFailure.CONNECTION_LOST + "; if the endpoint is https, does it speak TLS?");
            throw new StoreUnavailable("table " + table + ": " + message, failure.getCause());
        }
    }

    private void create() {
        try {
            var unused = client.describeTable(r -> r.tableName(table).overrideConfiguration(patient()))
                    .join();
        } catch (CompletionException e) {
            if (!(ServiceFailure.cause(e) instanceof ResourceNotFoundException)) {
                throw e;
            }
            createTable();
        }
        var unused =
                client.waiter().waitUntilTableExists(r -> r.tableName(table)).join();
    }

    /** The TTL comes last: a table without it is not finished, and whoever comes next finishes it if its creator has died. */
    private void finish() {
        if (!hasTtl()) {
            new MarkItem(client, table).create(StoreMark.fresh());
            enableTtl();
        }
    }

    private boolean hasTtl() {
        TimeToLiveDescription ttl = client.describeTimeToLive(
                        r -> r.tableName(table).overrideConfiguration(patient()))
                .join()
                .timeToLiveDescription();
        boolean on = ttl.timeToLiveStatus() == TimeToLiveStatus.ENABLED
                || ttl.timeToLiveStatus() == TimeToLiveStatus.ENABLING;
        if (on && !Attribute.TTL.equals(ttl.attributeName())) {
            throw new StoreUnavailable(
                    "table " + table + " has its TTL on the attribute " + ttl.attributeName()
                            + "; Onlyonce needs it on " + Attribute.TTL
                            + ": turn it off, and run \"onlyonce schema apply\"",
                    null);
        }
        return on;
    }

    private static AwsRequestOverrideConfiguration patient() {
        return AwsRequestOverrideConfiguration.builder()
                .apiCallAttemptTimeout(PATIENCE)
                .apiCallTimeout(PATIENCE.multipliedBy(2))
                .build();
    }

    private void enableTtl() {
        try {
            var unused = client.updateTimeToLive(r -> r.tableName(table)
                            .overrideConfiguration(patient())
                            .timeToLiveSpecification(s -> s.enabled(true).attributeName(Attribute.TTL)))
                    .join();
        } catch (CompletionException e) {
            // Another node was faster, or it was not.
            if (!hasTtl()) {
                throw e;
            }
        }
    }

    private void createTable() {
        try {
            var unused = client.createTable(definition(table)).join();
        } catch (CompletionException e) {
            // Another node was faster.
            if (!(ServiceFailure.cause(e) instanceof ResourceInUseException)) {
                throw e;
            }
        }
    }

    /** On demand, with deletion protection: without the table every key is new. */
    static CreateTableRequest definition(String table) {
        return CreateTableRequest.builder()
                .tableName(table)
                .overrideConfiguration(patient())
                .billingMode(BillingMode.PAY_PER_REQUEST)
                .deletionProtectionEnabled(true)
                .attributeDefinitions(ATTRIBUTES)
                .keySchema(key(Attribute.PK, KeyType.HASH))
                .globalSecondaryIndexes(GlobalSecondaryIndex.builder()
                        .indexName(DueIndex.NAME)
                        .keySchema(key(Attribute.DUE_KIND, KeyType.HASH), key(Attribute.DUE_AT, KeyType.RANGE))
                        .projection(p -> p.projectionType(ProjectionType.KEYS_ONLY))
                        .build())
                .build();
    }

    private static AttributeDefinition attribute(String name, ScalarAttributeType type) {
        return AttributeDefinition.builder()
                .attributeName(name)
                .attributeType(type)
                .build();
    }

    private static KeySchemaElement key(String name, KeyType type) {
        return KeySchemaElement.builder().attributeName(name).keyType(type).build();
    }

    private void check(TableDescription found) {
        boolean typed = found.attributeDefinitions().containsAll(ATTRIBUTES);
        boolean keyed = found.keySchema().equals(List.of(key(Attribute.PK, KeyType.HASH)));
        boolean indexed = found.globalSecondaryIndexes().stream()
                .anyMatch(index -> DueIndex.NAME.equals(index.indexName())
                        && index.keySchema()
                                .equals(List.of(
                                        key(Attribute.DUE_KIND, KeyType.HASH), key(Attribute.DUE_AT, KeyType.RANGE))));
        if (!typed || !keyed || !indexed) {
            throw new StoreUnavailable(
                    "table " + table + " is not a table of Onlyonce: its key must be " + Attribute.PK
                            + " (binary), and it must have the index " + DueIndex.NAME
                            + " on " + Attribute.DUE_KIND + " (string) and " + Attribute.DUE_AT
                            + " (number). Name another table, and create it with \"onlyonce schema apply\"",
                    null);
        }
    }
}
