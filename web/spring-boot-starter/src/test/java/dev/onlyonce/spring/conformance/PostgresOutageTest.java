package dev.onlyonce.spring.conformance;

import dev.onlyonce.testservers.PostgresServer;
import dev.onlyonce.testservers.ScriptedNetwork;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.DisplayName;

@DisplayName("The starter while PostgreSQL cannot be reached")
class PostgresOutageTest extends StarterOutage {
    private ScriptedNetwork proxy;

    @Override
    String database() {
        String url = PostgresServer.shared().createDatabase();
        proxy = ScriptedNetwork.to(url);
        return proxy.through(url);
    }

    @AfterAll
    void closeProxy() {
        proxy.close();
    }

    @Override
    protected void stopStore() {
        proxy.down();
    }

    @Override
    protected void startStore() {
        proxy.heal();
    }
}
