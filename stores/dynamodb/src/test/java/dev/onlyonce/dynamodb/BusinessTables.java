package dev.onlyonce.dynamodb;

import java.net.URI;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.dynamodb.DynamoDbAsyncClient;
import software.amazon.awssdk.services.dynamodb.model.AttributeDefinition;
import software.amazon.awssdk.services.dynamodb.model.BillingMode;
import software.amazon.awssdk.services.dynamodb.model.GlobalSecondaryIndex;
import software.amazon.awssdk.services.dynamodb.model.KeySchemaElement;
import software.amazon.awssdk.services.dynamodb.model.KeyType;
import software.amazon.awssdk.services.dynamodb.model.ProjectionType;
import software.amazon.awssdk.services.dynamodb.model.ScalarAttributeType;

/** Tables of an application, beside the store's. */
final class BusinessTables {
    private BusinessTables() {}

    static DynamoDbAsyncClient client(String endpoint) {
        return DynamoDbAsyncClient.builder()
                .endpointOverride(URI.create(endpoint))
                .region(Region.EU_CENTRAL_1)
                .credentialsProvider(StaticCredentialsProvider.create(AwsBasicCredentials.create("local", "local")))
                .build();
    }

    /** A table like a store's, whose key may have another type. */
    static void createEntries(DynamoDbAsyncClient client, String table, ScalarAttributeType type) {
        client.createTable(r -> r.tableName(table)
                        .billingMode(BillingMode.PAY_PER_REQUEST)
                        .attributeDefinitions(
                                attribute("pk", type),
                                attribute("dk", ScalarAttributeType.S),
                                attribute("da", ScalarAttributeType.N))
                        .keySchema(key("pk", KeyType.HASH))
                        .globalSecondaryIndexes(GlobalSecondaryIndex.builder()
                                .indexName("due")
                                .keySchema(key("dk", KeyType.HASH), key("da", KeyType.RANGE))
                                .projection(p -> p.projectionType(ProjectionType.KEYS_ONLY))
                                .build()))
                .join();
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

    /** A table with a text {@code id} as its key. */
    static void create(DynamoDbAsyncClient client, String table) {
        client.createTable(r -> r.tableName(table)
                        .billingMode(BillingMode.PAY_PER_REQUEST)
                        .attributeDefinitions(attribute("id", ScalarAttributeType.S))
                        .keySchema(key("id", KeyType.HASH)))
                .join();
    }
}
