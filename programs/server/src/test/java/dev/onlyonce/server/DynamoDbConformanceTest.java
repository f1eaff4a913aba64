package dev.onlyonce.server;

import dev.onlyonce.testservers.DynamoDbServer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.condition.DisabledIfSystemProperty;
import org.junit.jupiter.api.parallel.ResourceLock;
import org.junit.jupiter.api.parallel.Resources;

@DisplayName("A gateway on DynamoDB")
@DisabledIfSystemProperty(named = DynamoDbServer.PROPERTY, matches = "false", disabledReason = "-Ddynamodb.local=false")
@Tag("thorough")
@ResourceLock(Resources.SYSTEM_PROPERTIES)
class DynamoDbConformanceTest extends GatewayConformance {
    private final AwsEnvironment environment = new AwsEnvironment();

    @Override
    String database() {
        return environment.url("conformance");
    }

    @AfterAll
    void stopServer() {
        environment.close();
    }
}
