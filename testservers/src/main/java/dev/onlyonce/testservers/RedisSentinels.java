package dev.onlyonce.testservers;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

/** A Redis master with a replica, and three Sentinels that replace the master when it is down for a second. */
public final class RedisSentinels implements AutoCloseable {
    private static final String NAME = "payments";
    private static final int SENTINELS = 3;

    private final List<RedisServer> servers = new ArrayList<>();
    private final List<RedisServer> sentinels = new ArrayList<>();

    private RedisSentinels() {}

    /** Starts them; returns when the replica follows its master and the Sentinels agree. */
    public static RedisSentinels start() {
        RedisSentinels all = new RedisSentinels();
        try {
            all.launch();
            return all;
        } catch (RuntimeException e) {
            all.close();
            throw e;
        }
    }

    private void launch() {
        servers.add(RedisServer.start());
        int port = servers.get(0).port();
        servers.add(RedisServer.start("replicaof 127.0.0.1 " + port));
        servers.get(1).await("master_link_status:up", "INFO", "replication");
        for (int i = 0; i < SENTINELS; i++) {
            sentinels.add(RedisServer.startSentinel(
                    "sentinel monitor " + NAME + " 127.0.0.1 " + port + " 2",
                    "sentinel down-after-milliseconds " + NAME + " 1000",
                    "sentinel failover-timeout " + NAME + " 5000"));
        }
        sentinels.forEach(sentinel -> sentinel.await("OK " + SENTINELS, "SENTINEL", "CKQUORUM", NAME));
        sentinels.forEach(sentinel -> sentinel.await("slaves=1", "INFO", "sentinel"));
    }

    /** The first one was the master in the beginning, the other one its replica. */
    public List<RedisServer> servers() {
        return List.copyOf(servers);
    }

    /** Has the replica take over from a master that is well. */
    public void failover() {
        sentinels.get(0).await("OK", "SENTINEL", "FAILOVER", NAME);
    }

    public String url() {
        return sentinels.stream()
                .map(sentinel -> "127.0.0.1:" + sentinel.port())
                .collect(Collectors.joining(",", "redis-sentinel://", "#" + NAME));
    }

    @Override
    public void close() {
        sentinels.forEach(RedisServer::close);
        servers.forEach(RedisServer::close);
    }
}
