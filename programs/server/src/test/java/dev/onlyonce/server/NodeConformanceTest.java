package dev.onlyonce.server;

import java.io.IOException;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;

@DisplayName("A gateway in front of a service in Node")
@Tag("thorough")
class NodeConformanceTest extends GatewayConformance {
    @Override
    String database() {
        return "";
    }

    @Override
    Service launch() throws IOException {
        return NodeUpstream.start();
    }
}
