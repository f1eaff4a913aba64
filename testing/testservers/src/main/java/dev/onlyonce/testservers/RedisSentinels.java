package dev.onlyonce.testservers;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;

/** A Redis master with replicas, and three Sentinels that replace the master when it is down for a second. */
public final class RedisSentinels implements AutoCloseable {
    /** What the master is called. */
    public static final String NAME = "payments";

    private static final int SENTINELS = 3;

    private final List<RedisServer> servers = new ArrayList<>();
    private final List<RedisServer> sentinels = new ArrayList<>();

    private RedisSentinels() {}

    /** Starts them with one replica; returns when it follows its master and the Sentinels agree. */
    public static RedisSentinels start() {
        return start(1);
    }

    /**
     * The same with this many replicas.
     *
     * @param settings of all servers, as in redis.conf
     */
    public static RedisSentinels start(int replicas, String... settings) {
        RedisSentinels all = new RedisSentinels();
        try {
            all.launch(replicas, settings);
            return all;
        } catch (RuntimeException e) {
            all.close();
            throw e;
        }
    }

    private void launch(int replicas, String... settings) {
        servers.add(RedisServer.start(settings));
        int port = servers.get(0).port();
        String[] following = Arrays.copyOf(settings, settings.length + 1);
        following[settings.length] = "replicaof 127.0.0.1 " + port;
        for (int i = 0; i < replicas; i++) {
            servers.add(RedisServer.start(following));
        }
        servers.subList(1, servers.size())
                .forEach(replica -> replica.await("master_link_status:up", "INFO", "replication"));
        for (int i = 0; i < SENTINELS; i++) {
            sentinels.add(RedisServer.startSentinel(
                    "sentinel monitor " + NAME + " 127.0.0.1 " + port + " 2",
                    "sentinel down-after-milliseconds " + NAME + " 1000",
                    "sentinel failover-timeout " + NAME + " 5000"));
        }
        sentinels.forEach(sentinel -> sentinel.await("OK " + SENTINELS, "SENTINEL", "CKQUORUM", NAME));
        sentinels.forEach(sentinel -> sentinel.await("slaves=" + replicas, "INFO", "sentinel"));
    }

    /** The first one was the master in the beginning, the others its replicas. */
    public List<RedisServer> servers() {
        return List.copyOf(servers);
    }

    /** The Sentinels, which agree on the name of the master. */
    public List<RedisServer> sentinels() {
        return List.copyOf(sentinels);
    }

    /** Has a replica take over from a master that is well. */
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
