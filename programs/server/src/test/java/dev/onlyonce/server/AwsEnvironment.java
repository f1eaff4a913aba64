package dev.onlyonce.server;

import dev.onlyonce.testservers.DynamoDbServer;

/** DynamoDB Local, with credentials where the AWS SDK looks for them. */
final class AwsEnvironment implements AutoCloseable {
    private static final String ID = "aws.accessKeyId";
    private static final String SECRET = "aws.secretAccessKey";

    private final DynamoDbServer server = DynamoDbServer.start();

    AwsEnvironment() {
        System.setProperty(ID, "local");
        System.setProperty(SECRET, "local");
    }

    DynamoDbServer server() {
        return server;
    }

    String url(String table) {
        return "dynamodb:" + table + "?region=eu-central-1&timeout=10s&endpoint=" + server.endpoint();
    }

    @Override
    public void close() {
        System.clearProperty(ID);
        System.clearProperty(SECRET);
        server.close();
    }
}
