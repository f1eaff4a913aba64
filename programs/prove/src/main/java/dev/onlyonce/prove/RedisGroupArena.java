package dev.onlyonce.prove;

import dev.onlyonce.testservers.RedisCluster;
import dev.onlyonce.testservers.RedisSentinels;
import dev.onlyonce.testservers.RedisServer;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Several Redis servers, of which replicas replace masters: Sentinel, or a cluster. Nodes wait for one replica, so nothing may be lost. There
 * is no network between: servers name each other to clients.
 */
final class RedisGroupArena implements Arena {
    private static final String WAITING = "replicas=1&timeout=2s";
    private static final String FORGETFUL = "replicas=0&acceptDataLoss=true&timeout=2s";
    private static final int AWAY_MILLIS_MAX = 4_000;

    private final String name;
    private final String url;
    private final List<RedisServer> servers;
    private final AutoCloseable group;
    private final Random random;
    private final Set<RedisServer> down = ConcurrentHashMap.newKeySet();
    private final Set<RedisServer> frozen = ConcurrentHashMap.newKeySet();

    private RedisGroupArena(String name, String url, List<RedisServer> servers, AutoCloseable group, long seed) {
        this.name = name;
        this.url = url;
        this.servers = servers;
        this.group = group;
        this.random = new Random(seed);
    }

    /**
     * A master, a replica and three Sentinels.
     *
     * @param waits whether nodes wait for the replica
     */
    static RedisGroupArena sentinels(Setting setting, boolean waits) {
        RedisSentinels sentinels = waits
                ? RedisSentinels.start(1, "min-replicas-to-write 1", "min-replicas-max-lag 2")
                : RedisSentinels.start();
        String url = sentinels.url().replace("#", "?" + (waits ? WAITING : FORGETFUL) + "#");
        String name = waits ? "redis-sentinel" : "redis-asynchronous";
        return new RedisGroupArena(name, url, sentinels.servers(), sentinels, setting.seed());
    }

    static RedisGroupArena cluster(Setting setting) {
        RedisCluster cluster = RedisCluster.start();
        return new RedisGroupArena(
                "redis-cluster", cluster.url() + "?" + WAITING, cluster.servers(), cluster, setting.seed());
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public boolean isSql() {
        return false;
    }

    @Override
    public String url(int node) {
        return url;
    }

    @Override
    public String directUrl() {
        return url;
    }

    @Override
    public boolean mayForget() {
        return url.contains(FORGETFUL);
    }

    @Override
    public List<Disaster> disasters() {
        List<Disaster> all = new ArrayList<>();
        if (mayForget()) {
            all.add(new Disaster("let the replica lag, and kill the master", 3, this::lagged));
        }
        all.add(new Disaster("kill a server and start it again", 3, this::killed));
        all.add(new Disaster("stop a server's process for a while", 3, this::frozen));
        all.add(new Disaster(
                "end all clients of a server", 2, () -> any().command("CLIENT", "KILL", "TYPE", "normal")));
        all.add(new Disaster("let a server evict entries for a while (maxmemory-policy)", 1, () -> {
            RedisServer server = any();
            server.command("CONFIG", "SET", "maxmemory-policy", "allkeys-lru");
            Pause.millis(2_000);
            server.command("CONFIG", "SET", "maxmemory-policy", "noeviction");
        }));
        return all;
    }

    private RedisServer any() {
        return servers.get(random.nextInt(servers.size()));
    }

    private void lagged() {
        RedisServer replica = servers.stream()
                .filter(server -> server.command("INFO", "replication").contains("role:slave"))
                .findFirst()
                .orElse(servers.get(1));
        RedisServer master = servers.get(servers.indexOf(replica) == 0 ? 1 : 0);
        frozen.add(replica);
        down.add(master);
        replica.freeze();
        Pause.millis(1_000);
        master.kill();
        replica.thaw();
        frozen.remove(replica);
        Pause.millis(AWAY_MILLIS_MAX);
        master.restart();
        down.remove(master);
    }

    private void killed() {
        RedisServer server = any();
        down.add(server);
        server.kill();
        Pause.millis(random.nextInt(AWAY_MILLIS_MAX));
        server.restart();
        down.remove(server);
    }

    private void frozen() {
        RedisServer server = any();
        frozen.add(server);
        server.freeze();
        Pause.millis(random.nextInt(AWAY_MILLIS_MAX));
        server.thaw();
        frozen.remove(server);
    }

    @Override
    public void heal() {
        frozen.forEach(RedisServer::thaw);
        down.forEach(RedisServer::restart);
        servers.forEach(server -> server.command("CONFIG", "SET", "maxmemory-policy", "noeviction"));
    }

    @Override
    public void close() {
        try {
            group.close();
        } catch (Exception e) {
            throw new IllegalStateException("the servers do not end", e);
        }
    }
}
