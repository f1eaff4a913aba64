package dev.onlyonce.server;

import java.io.IOException;
import org.junit.jupiter.api.DisplayName;

@DisplayName("A gateway in front of a service in Node")
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
