package dev.onlyonce.prove;

import dev.onlyonce.testservers.DynamoDbServer;
import java.util.List;
import java.util.Random;

/** DynamoDB Local, which has its data in memory: its process cannot be killed, but paused and cut off. */
final class DynamoDbArena implements Arena {
    private static final String TABLE = "dynamodb:prove?region=eu-central-1&timeout=2s&endpoint=http:";

    private final DynamoDbServer server = DynamoDbServer.start();
    private final Networks networks;

    DynamoDbArena(Setting setting) {
        networks = Networks.toPort("the store", server.port(), setting.nodes(), new Random(setting.seed()));
    }

    @Override
    public String name() {
        return "dynamodb";
    }

    @Override
    public boolean isSql() {
        return false;
    }

    @Override
    public String url(int node) {
        return TABLE + "//127.0.0.1:" + networks.port(node);
    }

    @Override
    public String directUrl() {
        return TABLE.replaceFirst("http:$", server.endpoint());
    }

    @Override
    public List<Disaster> disasters() {
        return networks.disasters(Networks.STORE_MILLIS_MAX);
    }

    @Override
    public void heal() {
        networks.heal();
    }

    @Override
    public void close() {
        networks.close();
        server.close();
    }
}
