package dev.onlyonce.server;

import java.io.IOException;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;

/** All tests of gateways run on it with {@code -Dio-uring=true}. */
@DisplayName("A gateway on io_uring")
@Tag("thorough")
class IoUringConformanceTest extends GatewayConformance {
    /** The first thing that is done. */
    @Override
    Service launch() throws IOException {
        IoUringTest.assumeAllowed();
        return super.launch();
    }

    @Override
    String database() {
        return "";
    }

    @Override
    boolean ioUring() {
        return true;
    }
}
