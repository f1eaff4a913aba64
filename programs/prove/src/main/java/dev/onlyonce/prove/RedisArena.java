package dev.onlyonce.prove;

import dev.onlyonce.testservers.RedisServer;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/** One Redis server that writes each change to its disk before it answers. */
final class RedisArena implements Arena {
    private static final String JDBC = "jdbc:";

    private final RedisServer server = RedisServer.start();
    private final Networks networks;
    private final Random random;
    private final ServerProcesses processes;
    private boolean killed;
    private boolean frozen;

    RedisArena(Setting setting) {
        random = new Random(setting.seed());
        networks = new Networks("the store", JDBC + server.url() + "/0", setting.nodes(), random);
        processes = new ServerProcesses(String.valueOf(server.port()));
    }

    @Override
    public String name() {
        return "redis";
    }

    @Override
    public boolean isSql() {
        return false;
    }

    @Override
    public String url(int node) {
        return networks.url(node).substring(JDBC.length());
    }

    @Override
    public String directUrl() {
        return server.url();
    }

    @Override
    public List<Disaster> disasters() {
        List<Disaster> all = new ArrayList<>(networks.disasters(Networks.STORE_MILLIS_MAX));
        all.add(new Disaster("kill the server and start it again", 2, this::killed));
        all.add(new Disaster("stop the server's process for a while", 2, this::frozen));
        all.add(new Disaster("let the server's writes fail for a while, as on a full disk", 1, this::unwritable));
        all.add(new Disaster(
                "end all clients of the server", 2, () -> server.command("CLIENT", "KILL", "TYPE", "normal")));
        all.add(new Disaster("let the server's memory be full for a while (maxmemory)", 1, () -> {
            server.command("CONFIG", "SET", "maxmemory", "1");
            Pause.millis(random.nextInt(2_000));
            server.command("CONFIG", "SET", "maxmemory", "0");
        }));
        all.add(new Disaster("let the server evict entries for a while (maxmemory-policy)", 1, () -> {
            server.command("CONFIG", "SET", "maxmemory-policy", "allkeys-lru");
            Pause.millis(2_000);
            server.command("CONFIG", "SET", "maxmemory-policy", "noeviction");
        }));
        return all;
    }

    private synchronized void killed() {
        killed = true;
        server.kill();
        Pause.millis(random.nextInt(1_500));
        server.restart();
        killed = false;
    }

    /** Redis ends when it cannot write its log. */
    private synchronized void unwritable() throws IOException, InterruptedException {
        killed = true;
        processes.failWrites();
        Pause.millis(random.nextInt(2_000));
        processes.healWrites();
        server.kill();
        server.restart();
        killed = false;
    }

    private synchronized void frozen() {
        frozen = true;
        server.freeze();
        Pause.millis(random.nextInt(3_000));
        server.thaw();
        frozen = false;
    }

    @Override
    public synchronized void heal() {
        networks.heal();
        if (frozen) {
            server.thaw();
        }
        if (killed) {
            server.restart();
        }
        server.command("CONFIG", "SET", "maxmemory-policy", "noeviction");
        server.command("CONFIG", "SET", "maxmemory", "0");
    }

    @Override
    public void close() {
        networks.close();
        server.close();
    }
}
