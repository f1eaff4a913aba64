package dev.onlyonce.server;

import dev.onlyonce.testkit.http.HttpConformance;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** A gateway under the conformance suite. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Execution(ExecutionMode.CONCURRENT)
abstract class GatewayConformance extends HttpConformance {
    private Service service;
    private Running gateway;

    /** The application that the suite wants, unprotected. */
    interface Service extends AutoCloseable {
        URI url();

        @Override
        void close();
    }

    /** The URL of an empty database; the empty string for SQLite in the data directory. */
    abstract String database();

    /** Whether it is asked for; see {@link Running#IO_URING}. */
    boolean ioUring() {
        return Running.IO_URING;
    }

    /** What stands behind the gateway. */
    Service launch() throws IOException {
        return new ConformanceUpstream();
    }

    @BeforeAll
    void start(@TempDir Path folder) throws IOException {
        service = launch();
        gateway = Running.start(folder, service.url(), Running.listen(ioUring()) + ConformanceConfig.yaml(database()));
    }

    @AfterAll
    void stop() {
        if (service != null) {
            service.close();
            gateway.close();
        }
    }

    @Override
    protected URI base() {
        return gateway.url("");
    }

    @Override
    protected String authorization(String tenant) {
        return ConformanceConfig.authorization(tenant);
    }
}
