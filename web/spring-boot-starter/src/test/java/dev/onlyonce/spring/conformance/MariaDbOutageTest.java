package dev.onlyonce.spring.conformance;

import dev.onlyonce.testservers.DatabaseServer;
import dev.onlyonce.testservers.MariaDbServer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;

@DisplayName("The starter while MariaDB is stopped")
@Tag("thorough")
class MariaDbOutageTest extends StarterOutage {
    private DatabaseServer server;

    @Override
    String database() {
        server = MariaDbServer.start();
        return server.createDatabase();
    }

    @AfterAll
    void stopServer() {
        server.close();
    }

    @Override
    protected void stopStore() {
        server.stop();
    }

    @Override
    protected void startStore() {
        server.restart();
    }
}
